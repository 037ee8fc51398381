"""`torch.jit.annotate(T, v)`: returns `v` everywhere but in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Fix, Safety, Severity
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.hints.annotated_values import is_plain_type, without_hint
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import HelpAndFix, Hint
from torchlift.torchscript_intent import DROP
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL113",
    name="torchscript-annotate",
    summary="`torch.jit.annotate` although nothing compiles the code",
    why=(
        "The call gives an empty list or an Optional its type for the TorchScript compiler; in eager mode, "
        "`torch.compile` and `torch.export` it returns its second argument. It is documented as deprecated since torch "
        "2.11, gives no warning, and goes with TorchScript."
    ),
    fix=(
        "Safe when nothing in the project compiles TorchScript and the code is not installable: the value takes the "
        "place of the call, with the type as an annotation where a local variable or an attribute is made. Needs review "
        "in installable code, because its users may script it. Reported only while the project itself still compiles."
    ),
    targets=("torch.jit.annotate",),
    triggers=("jit", "_jit_internal"),
    severity=Severity.INFO,
    deprecated=TorchVersion(2, 11),
    collectors=COLLECTORS,
    sources=(*SOURCES, "torch/jit/__init__.py of torch 2.13.0: `annotate` returns its second argument"),
)

_HINT = Hint(
    "TL113",
    "`torch.jit.annotate` only tells the TorchScript compiler a type, and goes with it; everywhere else it returns its "
    "second argument.",
    "Not called here: a function that returns its second argument does the same.",
    Severity.INFO,
    plain="lambda the_type, the_value: the_value",
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    return _HINT.findings(use, context, _judged)


def _judged(use: Use, context: Context) -> HelpAndFix:
    assert use.call is not None
    given = named_arguments(use.call, ("the_type", "the_value")) or {}
    kind, value = given.get("the_type"), given.get("the_value")
    if kind is None or value is None or not is_plain_type(kind):
        return "Write the value alone, or `name: Type = value`; the type here is computed, so it was left alone.", None
    answer = removal(context, use.node)
    if answer.safety is Safety.MANUAL:
        return answer.reason, None, answer.root
    written = without_hint(context.view, use.call, kind, value)
    return answer.reason, Fix(written.title, answer.safety, written.rewrites)


_LIST = """\
import torch
from typing import List


def squares(x: torch.Tensor) -> List[torch.Tensor]:
    {first}
    for row in x:
        found.append(row * row)
    return found
"""
_RUN = "result = squares(torch.ones(2, 3))"

EXAMPLES = (
    Bad(
        _LIST.format(first="found = torch.jit.annotate(List[torch.Tensor], [])  # grows below"),
        _LIST.format(first="found: List[torch.Tensor] = []  # grows below"),
        why="an empty list",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.jit import annotate as note\nfrom typing import Optional\n\n\n"
        "def f(x, y=None):\n    y = note(Optional[torch.Tensor], y)\n    return note(torch.Tensor, x * 2)\n",
        "import torch\n\n\ndef f(x, y=None):\n    return x * 2\n",
        why="from-import under another name, a variable annotated again and a returned value",
        run="result = f(torch.ones(2))",
    ),
    Bad(
        "import torch\nimport torch.jit as tj\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.names = tj.annotate(dict[str, int], {})\n\n"
        "    def size(self):\n        return tj.annotate(int, len(self.names) + 1) * 2\n",
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.names: dict[str, int] = {}\n\n"
        "    def size(self):\n        return (len(self.names) + 1) * 2\n",
        why="an attribute, and brackets where the value needs them",
        run="result = Net().size()",
    ),
    Bad(
        "import torch\n\nlimits = torch.jit.annotate(the_type=int, the_value=3)\n",
        "import torch\n\nlimits = 3\n",
        why="keywords, at the top of a module where an annotation would be evaluated",
        run="result = limits",
    ),
    Bad(
        _LIST.format(first="found = torch.jit.annotate(List[torch.Tensor], [])"),
        _LIST.format(first="found: List[torch.Tensor] = []"),
        safety="unsafe",
        why="an installable project, whose users may script it",
        run=_RUN,
        files=(("pyproject.toml", "[project]\nname = 'squares'\n"),),
    ),
    Bad(
        _LIST.format(first="found = torch.jit.annotate(List[torch.Tensor], [])")
        + "\n\ntorch.jit.script(squares).save('x.pt')\n",
        why="the function is still scripted",
    ),
    Bad("import torch\n\nnote = torch.jit.annotate\n", why="passed on as a function"),
    Bad(
        "import torch\n\nbackend = {'note': torch.jit.annotate}\n",
        "backend = {'note': lambda the_type, the_value: the_value}\n",
        safety="unsafe",
        why="the function itself is kept for others",
        run="result = backend['note'](int, 3)",
        torchscript=DROP,
    ),
    Bad("import torch\n\nx = torch.jit.annotate(type(torch.ones(1)), 3)\n", why="the type is computed"),
    Ok("from matplotlib import pyplot\n\npyplot.annotate('jit', (0, 0))\n", "another library's annotate"),
    Ok("def annotate(kind, value):\n    return value\n\n\njit = annotate(int, 3)\n", "an own function"),
    Ok("import jit\n\njit.annotate(int, 3)\n", "a module named jit"),
    Ok('"""torch.jit.annotate(T, v) returns v."""\n', "a docstring"),
    Ok("import torch\n\nif hasattr(torch.jit, 'annotate'):\n    pass\n", "a question whether it exists"),
)
