"""`torch.jit.is_scripting()`: False wherever torch.export looks, so another branch is captured than TorchScript ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, Rewrite, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.hint_branches import FlagDifference, difference, runs_in_python
from torchlift.rules.torchscript.hints.hint_conditions import asks_export, condition_of, world
from torchlift.rules.torchscript.hints.hint_folding import unasked
from torchlift.rules.torchscript.hints.hint_questions import asking_too
from torchlift.rules.torchscript.hints.hint_removal import IS_SCRIPTING, dead_questions, removal
from torchlift.rules.torchscript.hints.stray_uses import Hint
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL117",
    name="torchscript-is-scripting",
    summary="`torch.jit.is_scripting()`, which is False under export",
    why=(
        "Code under `if torch.jit.is_scripting():` was run by TorchScript alone. `torch.export` captures what Python runs, "
        "so a program moved from `torch.jit.script` to `torch.export` takes the other branch, and nothing says so. The "
        "function gives no warning and goes with TorchScript."
    ),
    fix=(
        "The question is taken out of its condition, and the branch that Python runs takes the place of the `if`. Safe "
        "when nothing in the project compiles TorchScript, the code is not installable, and the branches only check or "
        "report. Needs review where they differ in more than that, or where users of an installed package may script it. "
        "Where the user says that TorchScript is dropped, what eager mode runs stays. While the project still scripts, the finding says which branch export takes and which one TorchScript ran."
    ),
    targets=("torch.jit.is_scripting",),
    triggers=("jit", "_jit_internal"),
    collectors=COLLECTORS,
    sources=(
        *SOURCES,
        "called in eager mode, under export (strict and not), compile and script: torch 2.13.0 and 2.15.0",
    ),
)

_MESSAGE = "`torch.jit.is_scripting()` goes with TorchScript: under `torch.export` it is False, as in eager mode."
_WANTED = "If results differ, TorchScript's are wanted, and Python can run that side, write"
_IS_EXPORTING = TorchVersion(2, 7)
_ASKED = frozenset({IS_SCRIPTING})


def check(use: Use, context: Context) -> Iterator[Finding]:
    otherwise = "Not called here: a function that returns False does the same everywhere but in TorchScript."
    stray = Hint("TL117", _MESSAGE, otherwise, plain="lambda: False").stray(use, context)
    if stray is not None or use.call is None:
        yield from stray or ()
        return
    view = context.view
    span = view.span(use.node)
    test, owner = condition_of(view, use.call)
    what = context.once(_difference, test, owner)
    severity = Severity.INFO if what.harmless else Severity.WARNING
    answer = removal(context, use.node)
    rewrites: tuple[Rewrite, ...] = ()
    refusal = answer.reason
    if answer.safety is not Safety.MANUAL:
        rewrites, why_not = context.once(unasked, test, owner, _ASKED | dead_questions(context, use.node))
        refusal = refusal if why_not is None else f"Not rewritten because {why_not}."
    function = view.function_of(use.call)
    if not rewrites and function is not None and runs_in_python(view, function):
        advice = f"{what.why_harmless} The question can go."
        yield Finding("TL117", view.path, span, _MESSAGE, severity, advice)
        return
    if not rewrites:
        advice = " ".join(filter(None, (what.sentence, _remedy(context, use.call, what, asks_export(test)), refusal)))
        yield Finding("TL117", view.path, span, _MESSAGE, severity, advice, waits_for=answer.root)
        return
    safe = answer.safety is Safety.SAFE and (what.harmless or drops(context))
    review = None
    if not safe:
        reasons = [] if answer.reason is None else [answer.reason.removeprefix("Needs review: ").rstrip(".")]
        if not what.harmless:
            reasons.append("the fix keeps what eager mode runs, and a scripted run may have given something else")
        review = f"Needs review: {'; '.join(reasons)}. {what.sentence}".rstrip()
    fix = Fix("Take the question out", Safety.SAFE if safe else Safety.UNSAFE, rewrites)
    yield Finding("TL117", view.path, span, _MESSAGE, severity, review, fix)


def _difference(context: Context, test: ast.expr, owner: ast.AST | None) -> FlagDifference:
    """What follows from a condition, the same for all that ask in it."""
    return difference(context.view, test, owner, world(compiling=True), world(scripting=True), "TorchScript")


def _remedy(context: Context, call: ast.Call, what: FlagDifference, asks: bool) -> str:
    if what.harmless:
        return what.why_harmless
    if asks:
        return "The condition already asks whether it is compiled, which holds under export."
    compiling = asking_too(context.view, call, "torch.compiler.is_compiling")
    if context.settings.min_torch < _IS_EXPORTING:
        return f"{_WANTED} `{compiling}`."
    exporting = asking_too(context.view, call, "torch.compiler.is_exporting")
    return (
        f"{_WANTED} `{exporting}` (torch>=2.7; in code that is still scripted "
        "`torch.compiler.is_compiling()`, which TorchScript can compile)."
    )


def _function(body: str) -> str:
    return f"import torch\n\n\ndef double(x):\n{body}    return 2 * x\n"


_CHECK = _function(
    "    if not torch.jit.is_scripting():\n        # Python only\n        assert x.dim() == 1\n        if len(x) > 9:\n"
    '            raise ValueError("too long")\n'
)
_RUN = "result = double(torch.ones(2))"
_FAST = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        if torch.jit.is_scripting():
            y = x + x
        else:
            y = 2 * x  # one operation
        return y
"""

EXAMPLES = (
    Bad(
        _CHECK,
        _function(
            '    # Python only\n    assert x.dim() == 1\n    if len(x) > 9:\n        raise ValueError("too long")\n'
        ),
        why="checks for Python only",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch._jit_internal import is_scripting\n\n\ndef double(x):\n"
        '    if is_scripting():\n        raise RuntimeError("not supported")\n    assert not is_scripting()\n'
        "    return 2 * x\n",
        "import torch\n\n\ndef double(x):\n    return 2 * x\n",
        why="the private module, a guard against scripting",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch import jit\n\n\ndef double(x, strict=True):\n"
        "    if strict and not jit.is_scripting():\n        assert x.dim() == 1\n    return 2 * x\n",
        "import torch\n\n\ndef double(x, strict=True):\n"
        "    if strict:\n        assert x.dim() == 1\n    return 2 * x\n",
        why="a part of a condition",
        run=_RUN,
    ),
    Bad(
        _FAST,
        _FAST.replace("        if torch.jit.is_scripting():\n            y = x + x\n        else:\n    ", ""),
        safety="unsafe",
        why="branches that compute",
        run="result = Net()(torch.ones(2))",
    ),
    Bad(
        _FAST,
        _FAST.replace("        if torch.jit.is_scripting():\n            y = x + x\n        else:\n    ", ""),
        why="branches that compute, and the user says that nobody scripts any more",
        run="result = Net()(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        "import torch\n\n\ndef weigh(x):\n    if not torch.jit.is_scripting():\n        return x * 3\n"
        "    # Only TorchScript gets here.\n    y = x + 1\n    return y\n",
        "def weigh(x):\n    return x * 3\n",
        why="what nothing reaches behind the branch that stays",
        run="import torch\nresult = weigh(torch.ones(2))",
        torchscript=DROP,
    ),
    Bad(
        _function("    if not torch.jit.is_scripting() and not torch.jit.is_tracing():\n        x = x.clone()\n"),
        _function("    x = x.clone()\n").removeprefix("import torch\n\n\n"),
        why="both compilers in one condition",
        run=_RUN,
        torchscript=DROP,
    ),
    Bad(
        _function(
            "    if len(x) > 1 and not torch.jit.is_scripting() and not torch.jit.is_tracing():\n        x = x.clone()\n"
        ),
        _function("    if len(x) > 1:\n        x = x.clone()\n").removeprefix("import torch\n\n\n"),
        why="both compilers in a longer condition",
        run=_RUN,
        torchscript=DROP,
    ),
    Bad(
        _function(
            "    if not (\n        torch.jit.is_scripting() or torch.jit.is_tracing() or len(x) > 1\n    ):\n        x = x.clone()\n"
        ),
        _function("    if not (len(x) > 1):\n        x = x.clone()\n").removeprefix("import torch\n\n\n"),
        why="both compilers before another question",
        run=_RUN,
        torchscript=DROP,
    ),
    Bad(
        "import torch\nimport torch.jit as tj\n\n\ndef pick(a, b):\n    return a + 1 if tj.is_scripting() else b\n",
        "import torch\n\n\ndef pick(a, b):\n    return b\n",
        safety="unsafe",
        why="a conditional expression",
        run="result = pick(1, 2)",
    ),
    Bad(
        "import torch\n\n\ndef run(block, x, checkpoint):\n"
        "    use = checkpoint is not None and not torch.jit.is_scripting()\n"
        "    return checkpoint(block, x) if use else block(x)\n",
        "import torch\n\n\ndef run(block, x, checkpoint):\n"
        "    use = checkpoint is not None\n"
        "    return checkpoint(block, x) if use else block(x)\n",
        safety="unsafe",
        why="the answer is stored",
        run="result = run(torch.relu, torch.ones(2), None)",
    ),
    Bad(
        _CHECK,
        _function(
            '    # Python only\n    assert x.dim() == 1\n    if len(x) > 9:\n        raise ValueError("too long")\n'
        ),
        safety="unsafe",
        why="an installable project",
        run=_RUN,
        files=(("setup.cfg", "[metadata]\nname = double\n"),),
    ),
    Bad(_FAST + "\n\ntorch.jit.script(Net()).save('x.pt')\n", why="the module is still scripted"),
    Bad(
        "import torch\n\n\ndef values(x):\n    if torch.jit.is_scripting():\n        yield x\n    return x\n",
        why="a branch that makes the function a generator",
    ),
    Bad("from unittest import mock\n\nmock.patch('torch.jit.is_scripting')\n", why="patch target"),
    Bad(
        "import torch\n\nbackend = {}\nbackend['scripting'] = torch.jit.is_scripting\n",
        "backend = {}\nbackend['scripting'] = lambda: False\n",
        safety="unsafe",
        why="the question itself is kept for others",
        run="result = backend['scripting']()",
        torchscript=DROP,
    ),
    Ok("def is_scripting():\n    return False\n\n\njit = is_scripting()\n", "an own function"),
    Ok("import torch\n\njit = torch.compiler.is_compiling()\n", "the question about torch.compile"),
    Ok("from tinygrad import jit\n\njit.is_scripting()\n", "another package's jit"),
    Ok("import torch\n\nif hasattr(torch.jit, 'is_scripting'):\n    pass\n", "a question whether it exists"),
)
