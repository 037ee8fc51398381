"""What a project does with a function besides calling it: what TorchScript adds to it, and what it takes away."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.places.expected_errors import handler_around
from torchlift.rules.analysis.places.uses_everywhere import uses_everywhere
from torchlift.view import Binding, ModuleView

# What `torch.jit.ScriptFunction` offers and a Python function does not.
_SCRIPT_ONLY = frozenset(
    """graph inlined_graph code code_with_constants graph_for save save_to_buffer get_debug_state schema qualified_name
    name _c _debug_flush_compilation_cache""".split()
)
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


@dataclass
class FunctionUses:
    """Uses of one function that tell a compiled one from a plain one.

    Attributes:
        refusals: clauses about uses that a plain function does not serve.
        doubts: clauses about uses that were not followed.
    """

    refusals: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


def read_uses(view: ModuleView, binding: Binding, project: Project) -> FunctionUses:
    """Everything the project does with the function that `binding` binds in `view`."""
    uses = FunctionUses()
    found, unknown = uses_everywhere(view, binding, project)
    for home, node in found:
        _read_use(uses, home, node)
    uses.doubts += unknown
    return uses


def _read_use(uses: FunctionUses, view: ModuleView, node: ast.expr) -> None:
    place = f"{view.path}:{node.lineno}"
    parent = view.parent(node)
    if isinstance(parent, ast.Attribute) and parent.value is node:
        reason = f"{place} asks it for `.{parent.attr}`"
        (uses.refusals if parent.attr in _SCRIPT_ONLY else uses.doubts).append(reason)
        return
    if isinstance(parent, ast.Call) and parent.func is node:
        if (doubt := call_doubt(view, parent)) is not None:
            uses.doubts.append(f"{place} calls it {doubt}")
        return
    if isinstance(parent, ast.Call):
        name = view.certain_name(parent.func)
        if name == "torch.jit.script" and len(parent.args) == 1:
            return
        if isinstance(parent.func, ast.Name) and parent.func.id in {"isinstance", "issubclass"}:
            uses.refusals.append(f"{place} tests its type")
            return
        if name.startswith("torch.jit.") and not name.startswith("torch.jit.trace"):
            uses.refusals.append(f"{place} passes it to `{name}`")
            return
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and isinstance(view.parent(parent), ast.ClassDef):
        uses.refusals.append(
            f"{place} keeps it on a class, where a plain function becomes a method (`staticmethod(...)` around it helps)"
        )
        return
    if isinstance(parent, ast.Expr):
        return
    uses.doubts.append(f"{place} hands it on, and what happens to it there was not followed")


def call_doubt(view: ModuleView, call: ast.Call) -> str | None:
    """Why a call may notice that what it calls is compiled no more: end of the sentence "... calls it"."""
    if any(isinstance(argument, _NOT_TENSORS) for argument in _values(call)):
        return "with something that is no tensor, which scripting rejects"
    around = handler_around(view, call)
    return f"inside `{around}`, and its errors change their class" if around is not None else None


def _values(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)
