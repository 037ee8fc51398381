"""What a project does with a function besides calling it: what TorchScript adds to it, and what it takes away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import field

from torchlift.finding import ReplaceExpression, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.expected_errors import caught_around, handler_around
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.rules.torchscript.facts.script_only import OF_FUNCTIONS
from torchlift.view import Binding, ModuleView

_NOT_TENSORS = (
    ast.Constant,
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.Lambda,
    ast.ListComp,
    ast.DictComp,
)
_BY_NAME = lazy_pattern(r"(?i)(?:^|_)(?:jit|torch_?script)(?:_|$)")
_TYPE_TESTS = frozenset({"isinstance", "issubclass"})
_EVERYTHING = frozenset({"Exception", "BaseException"})


@dataclass
class FunctionUses:
    """Uses of one function that tell a compiled one from a plain one.

    Attributes:
        refusals: clauses about uses that a plain function does not serve.
        doubts: clauses about uses that were not followed.
        calls: calls of the function, each with its file.
        rewrites: what keeps its place in class bodies of the same file from turning it into a method.
        unseen: whether another file names it, in which no use of it was found.
    """

    refusals: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    calls: list[tuple[ModuleView, ast.Call]] = field(default_factory=list)
    rewrites: list[ReplaceExpression] = field(default_factory=list)
    unseen: bool = False


def read_uses(view: ModuleView, binding: Binding, project: Project, *, drops: bool = False) -> FunctionUses:
    """Everything the project does with the function that `binding` binds in `view`.

    Args:
        view: the file.
        binding: what binds the function.
        project: the project.
        drops: whether TorchScript goes from the project: only uses that are known to notice are doubts.
    """
    uses = FunctionUses()
    found, unknown = uses_everywhere(view, binding, project)
    for home, node in found:
        _read_use(uses, home, node, drops, local=home is view)
    if not drops:
        uses.doubts += unknown
        return uses
    seen = {view.path, *(home.path for home, _ in found)}
    named = project.files_holding(binding.name) if binding.scope.kind == "module" else []
    uses.unseen = bool(unknown) or not seen.issuperset(named)
    if uses.unseen and (place := _noticed(project, binding.name)) is not None:
        uses.doubts.append(f"{place} may ask it for what a plain function does not have")
    return uses


def _read_use(uses: FunctionUses, view: ModuleView, node: ast.expr, drops: bool, *, local: bool) -> None:
    place = f"{view.path}:{node.lineno}"
    parent = view.parent(node)
    if isinstance(parent, ast.Attribute) and parent.value is node:
        dunder = parent.attr.startswith("__") and parent.attr.endswith("__")
        if drops and dunder:
            return
        reason = f"{place} asks it for `.{parent.attr}`"
        (uses.refusals if parent.attr in OF_FUNCTIONS else uses.doubts).append(reason)
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        uses.calls.append((view, parent))
        if (doubt := call_doubt(view, parent, drops=drops)) is not None:
            uses.doubts.append(f"{place} calls it {doubt}")
        return
    if isinstance(parent, ast.Call):
        name = view.certain_name(parent.func)
        if name == "torch.jit.script" and len(parent.args) == 1:
            return
        if isinstance(parent.func, ast.Name) and parent.func.id in _TYPE_TESTS:
            (uses.doubts if drops else uses.refusals).append(f"{place} tests its type")
            return
        if (taker := takes_by_name(view, parent)) is not None:
            uses.refusals.append(f"{place} passes it to `{taker}`, which by its name takes a scripted function")
            return
        if name.startswith("torch.jit.") and not name.startswith("torch.jit.trace"):
            uses.refusals.append(f"{place} passes it to `{name}`")
            return
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and isinstance(view.parent(parent), ast.ClassDef):
        if drops and local and parent.value is node:
            uses.rewrites.append(static(view, node, node))
            return
        uses.refusals.append(
            f"{place} keeps it on a class, where a plain function becomes a method (`staticmethod(...)` around it helps)"
        )
        return
    if isinstance(parent, ast.Expr) or drops:
        return
    uses.doubts.append(f"{place} hands it on, and what happens to it there was not followed")


def takes_by_name(view: ModuleView, call: ast.Call) -> str | None:
    """What is called, if it speaks of TorchScript in its name and is no function of torch's own or of this file."""
    name = view.possible_name(call.func) or ast.unparse(call.func)
    known = name.startswith("torch.") or (view.definition(call.func) is not None and "." not in name)
    return name if not known and _BY_NAME.search(name.rpartition(".")[2]) is not None else None


def static(view: ModuleView, node: ast.expr, value: ast.expr) -> ReplaceExpression:
    """`staticmethod(value)` in the place of `node`: a plain function that is called as a scripted one is on a class."""
    if value is node:
        return ReplaceExpression(view.span(node), Template(f"staticmethod({view.text(node)})"))
    return ReplaceExpression(view.span(node), Template("staticmethod($value)", (("value", view.span(value)),)))


def _noticed(project: Project, name: str) -> str | None:
    """`path:line` of a place that asks what may be the function for what only a scripted one has, as far as text tells."""
    pattern = re.compile(
        rf"\b{name}\.(?:{'|'.join(sorted(OF_FUNCTIONS))})\b|\bjit\.(?!script\b|trace)\w+\((?:\w+\.)*{name}\b".encode()
    )
    for path in project.files_holding(name):
        data = project.data(path)
        if (found := pattern.search(data)) is not None:
            return f"{path}:{data.count(bytes([10]), 0, found.start()) + 1}"
    return None


def call_doubt(view: ModuleView, call: ast.Call, *, drops: bool = False) -> str | None:
    """Why a call may notice that what it calls is compiled no more: end of the sentence "... calls it".

    Args:
        view: the file.
        call: the call.
        drops: whether TorchScript goes from the project: what scripting rejected was not passed then, and a handler that
            takes everything takes other errors too.
    """
    if not drops and any(isinstance(argument, _NOT_TENSORS) for argument in _values(call)):
        return "with something that is no tensor, whose type scripting checked"
    around = handler_around(view, call)
    if drops and around is not None and caught_around(view, call) <= _EVERYTHING:
        return None
    return f"inside `{around}`, and its errors change their class" if around is not None else None


def _values(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)
