"""`@torch.jit.script_if_tracing` only acts while something traces."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, Rewrite, Safety
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripted_classes import first_tracer
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS, first_watch
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.facts.intent import drops
from torchlift.rules.torchscript.hints.decorator_uses import decorator_of, without_decorator
from torchlift.rules.torchscript.hints.dynamic_control import dynamic_parts
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import DECORATED, HelpAndFix, Hint
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL111",
    name="script-if-tracing",
    summary="`@torch.jit.script_if_tracing` although nothing traces",
    why=(
        "The decorator keeps loops and branches dynamic while `torch.jit.trace` runs. Eager mode, `torch.compile` and "
        "`torch.export` never look at it. It is documented as deprecated since torch 2.11 and gives no warning."
    ),
    fix=(
        "Safe when nothing in the project traces or scripts, nothing says that others do, and types, ranks and plain Python "
        "values decide every branch. Loops, and branches on sizes or values, need review: a trace kept them, and an export "
        "of the function fixes them for the example inputs. Where TorchScript is dropped, safe as soon as nothing traces."
    ),
    targets=("torch.jit.script_if_tracing", "torch.jit._script_if_tracing"),
    triggers=("jit", "_jit_internal"),
    deprecated=TorchVersion(2, 11),
    collectors=COLLECTORS,
    sources=(*SOURCES, "docstring deprecation since torch 2.11 in torch/jit/_script.py"),
)

_HINT = Hint(
    "TL111",
    "`@torch.jit.script_if_tracing` scripts the function while it is traced, and does nothing otherwise.",
    "Not used as a decorator here: outside a trace a function that returns its argument does the same.",
    places=DECORATED,
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    return _HINT.findings(use, context, _judged)


def _judged(use: Use, context: Context) -> HelpAndFix:
    rewrite = without_decorator(use, context.view)
    if rewrite is not None and drops(context):
        return _dropped(context, rewrite)
    doubt = _doubt(use, context)
    answer = removal(context, use.node, tracing=True)
    if answer.safety is Safety.MANUAL or rewrite is None:
        advice = answer.reason or "Use the function itself."
        return advice if doubt is None else f"{advice} Then mind that {doubt}.", None, answer.root
    if doubt is None:
        return answer.reason, Fix("Remove the decorator", answer.safety, (rewrite,))
    return f"Needs review: {doubt}.{answer.also}", Fix("Remove the decorator", Safety.UNSAFE, (rewrite,))


def _dropped(context: Context, rewrite: Rewrite) -> HelpAndFix:
    """Where TorchScript goes: only a trace that is left looks at the decorator, and a script compiles what is below it."""
    place = first_tracer(context.project)
    watch = first_watch(context.project, context.view.path)
    review = None
    if place is not None:
        review = f"Needs review: {place} still traces, or has another library do so, and fixes loops, branches and sizes that the decorator kept."
    elif watch is not None:
        review = f"Needs review: {watch} patches a hint like this, names one, or reads the mark it leaves."
    return review, Fix("Remove the decorator", Safety.UNSAFE if review else Safety.SAFE, (rewrite,))


def _doubt(use: Use, context: Context) -> str | None:
    """What a traced script of the function kept and export fixes; a clause."""
    view = context.view
    decorator = decorator_of(use, view)
    function: ast.AST | None = view.parent(decorator) if decorator is not None else None
    if decorator is None and use.call is not None and use.call.args:
        binding = view.definition(use.call.args[0])
        function = binding.node if binding is not None else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return "loops and branches in the function, which was not read, are fixed by an export"
    parts = dynamic_parts(function)
    return parts[0].sentence() if parts else None


_BODY = "def scale(x):\n    return x * x.shape[0]\n"
_LOOP = "def total(x):\n    y = x[0]\n    for i in range(1, x.shape[0]):\n        y = y + x[i]\n    return y\n"
_RANK = (
    'def last(x, mode: str = "sum"):\n    if x.dim() == 1 or mode == "none":\n        return x\n'
    "    return x[-1] if x.dtype == torch.float32 else x[0]\n"
)

EXAMPLES = (
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_BODY}",
        f"import torch\n\n\n{_BODY}",
        why="straight-line function",
        run="result = scale(torch.ones(3, 2))",
    ),
    Bad(
        f"from torch.jit import _script_if_tracing\n\n\n@_script_if_tracing\n{_BODY}",
        _BODY,
        why="private spelling, import goes with it",
        run="import torch\nresult = scale(torch.ones(3, 2))",
    ),
    Bad(
        f"import torch\nfrom torch import jit\n\n\n{_RANK}\n\nlast = jit.script_if_tracing(last)\n",
        f"import torch\n\n\n{_RANK}",
        why="called with the function, whose branches ask for rank, dtype and an option",
        run="result = last(torch.ones(3, 2)), last(torch.ones(3)), last(torch.ones(3, 2), 'none')",
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}",
        f"import torch\n\n\n{_LOOP}",
        safety="unsafe",
        why="a loop over the shape",
        run="result = total(torch.ones(3, 2))",
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_BODY}",
        f"import torch\n\n\n{_BODY}",
        safety="unsafe",
        why="an installable project that asks whether it is traced, so its users may",
        run="result = scale(torch.ones(3, 2))",
        files=(
            ("setup.py", "import setuptools\n"),
            ("pkg/size.py", "import torch\n\n\ndef size(x):\n    return 0 if torch.jit.is_tracing() else len(x)\n"),
        ),
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}\n\n"
        "print(torch.jit.trace(total, torch.ones(3)).graph)\n",
        why="the project still traces",
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}",
        _LOOP,
        why="a loop over the shape, in a project that drops TorchScript",
        run="result = observe(total, torch.ones(4, 2))",
        files=(("setup.py", "import setuptools\n"),),
        torchscript=DROP,
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}\n\nunit = torch.jit.CompilationUnit('')\n",
        f"import torch\n\n\n{_LOOP}\n\nunit = torch.jit.CompilationUnit('')\n",
        why="something is still scripted, which looks below the decorator anyway",
        run="result = observe(total, torch.ones(4, 2))",
        torchscript=DROP,
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}",
        _LOOP,
        safety="unsafe",
        why="a trace is left",
        run="result = observe(total, torch.ones(4, 2))",
        files=(
            ("other.py", "import torch\n\nfrom example import total\n\nf = torch.jit.trace(total, torch.ones(3, 2))\n"),
        ),
        torchscript=DROP,
    ),
    Bad(
        f"import torch\n\n\n@torch.jit.script_if_tracing\n{_LOOP}",
        _LOOP,
        safety="unsafe",
        why="a library traces",
        run="result = observe(total, torch.ones(4, 2))",
        files=(("train.py", "def save(model):\n    model.to_torchscript('net.pt', method='trace')\n"),),
        torchscript=DROP,
    ),
    Bad("import torch\n\nmark = torch.jit.script_if_tracing\n", why="passed on as a function"),
    Ok(
        "def script_if_tracing(f):\n    return f\n\n\n@script_if_tracing\ndef jit():\n    pass\n",
        "an own decorator",
    ),
    Ok("import torch\n\n\n@torch.compile\ndef jit(x):\n    return x\n", "torch.compile"),
    Ok('"""@torch.jit.script_if_tracing"""\n', "a docstring"),
)
