"""`torch.jit.interface`: a type that only the TorchScript compiler knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DropDecorator, Finding, Fix, Rewrite, Safety
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.rules.torchscript.compilers.scripting_uses import COLLECTORS
from torchlift.rules.torchscript.facts.deprecation import SOURCES
from torchlift.rules.torchscript.hints.decorator_uses import handed_back
from torchlift.rules.torchscript.hints.hint_removal import removal
from torchlift.rules.torchscript.hints.stray_uses import DECORATED, HelpAndFix, Hint
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_MARK = "__torch_script_interface__"

RULE = Rule(
    code="TL120",
    name="torchscript-interface",
    summary="`torch.jit.interface`, a type that only TorchScript knows",
    why=(
        "The decorator compiles the signatures of a class so that scripted code may hold any module with the same methods. "
        "Python, `torch.compile` and `torch.export` call methods by name and need no such type. It warns when the file is "
        "imported: `DeprecationWarning` since torch 2.11, `FutureWarning` since 2.14."
    ),
    fix=(
        "Removing the decorator is safe when nothing in the project compiles TorchScript and the code is not installable: it "
        "only leaves a mark on the class. `typing.Protocol` says the same to type checkers; that is left to you, because a "
        "class that is also made or subclassed would change its meaning."
    ),
    targets=("torch.jit.interface",),
    triggers=("jit", "_jit_internal"),
    deprecated=TorchVersion(2, 11),
    collectors=COLLECTORS,
    sources=(*SOURCES, f"`interface` in torch/jit/_script.py of torch 2.13.0 sets `{_MARK}` and returns the class"),
)

_HINT = Hint(
    "TL120",
    "`torch.jit.interface` compiles a type for TorchScript when the file is imported: `DeprecationWarning` since torch 2.11, "
    "`FutureWarning` since 2.14.",
    "Not used as a decorator here: a function that returns its argument does the same outside TorchScript.",
    places=DECORATED,
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    return _HINT.findings(use, context, _judged)


def _judged(use: Use, context: Context) -> HelpAndFix:
    answer = removal(context, use.node)
    rewrite, name = _rewrite(context.view, use)
    protocol = f"write `class {name}(typing.Protocol):`" if name else "use `typing.Protocol`"
    advice = f"For type checkers {protocol}; Python itself never looks at the type."
    if answer.safety is Safety.MANUAL or rewrite is None:
        return f"{answer.reason} {advice}" if answer.reason is not None else advice, None, answer.root
    return answer.reason, Fix("Remove the interface declaration", answer.safety, (rewrite,))


def _rewrite(view: ModuleView, use: Use) -> tuple[Rewrite | None, str | None]:
    """What takes the declaration away, and the name of the class."""
    node = use.node
    if use.kind == "decorator" and isinstance(node, ast.expr):
        definition = view.parent(node)
        name = definition.name if isinstance(definition, ast.ClassDef) else None
        return DropDecorator(view.span(node)), name
    call = use.call
    if call is not None and len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
        return handed_back(view, call, call.args[0]), None
    return None, None


_CODE = """\
import torch


{}class Step(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * x


def run(step: Step, x: torch.Tensor):
    return step(x)
"""
_RUN = "result = run(Double(), torch.ones(2)), Step()(1)"

EXAMPLES = (
    Bad(_CODE.format("@torch.jit.interface\n"), _CODE.format(""), why="a module type", run=_RUN),
    Bad(
        "import torch\nfrom torch.jit import interface\n\n\n@interface  # for run\nclass Step:\n"
        "    def run(self, x: torch.Tensor) -> torch.Tensor:\n        pass\n",
        "import torch\n\n\n# for run\nclass Step:\n    def run(self, x: torch.Tensor) -> torch.Tensor:\n        pass\n",
        why="from-import, a plain class",
        run="result = Step().run(1), Step.__name__",
    ),
    Bad(
        "import torch\nimport torch.jit as tj\n\n\nclass Step:\n    def run(self, x: int) -> int:\n        pass\n\n\n"
        "Step = tj.interface(Step)\n",
        "import torch\n\n\nclass Step:\n    def run(self, x: int) -> int:\n        pass\n",
        why="called with the class",
        run="result = Step().run(1), Step.__name__",
    ),
    Bad(
        _CODE.format("@torch.jit.interface\n"),
        _CODE.format(""),
        safety="unsafe",
        why="an installable project",
        run=_RUN,
        files=(("pyproject.toml", "[build-system]\nrequires = []\n"),),
    ),
    Bad(
        _CODE.format("@torch.jit.interface\n") + "\n\ntorch.jit.script(run).save('x.pt')\n",
        why="the project still scripts",
    ),
    Bad(
        _CODE.format("@torch.jit.interface\n") + "\n\nmark = getattr(Step, '__torch_script_interface__', None)\n",
        _CODE.format("") + "\n\nmark = getattr(Step, '__torch_script_interface__', None)\n",
        safety="unsafe",
        why="the mark is read",
    ),
    Ok("from zope import interface\n\n\n@interface.implementer\nclass jit:\n    pass\n", "zope.interface"),
    Ok("def interface(kind):\n    return kind\n\n\n@interface\nclass jit:\n    pass\n", "an own decorator"),
    Ok("import typing\n\n\nclass jit(typing.Protocol):\n    def run(self) -> int: ...\n", "a protocol"),
    Ok('"""torch.jit.interface is for TorchScript."""\n', "a docstring"),
)
