"""Code that returns one thing when it is scripted and another one when it is not: a test of the scripted value knows the first."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.torchscript.modules.reached_classes import reached_classes
from torchlift.rules.torchscript.modules.scripted_module import read_scripted_module
from torchlift.rules.torchscript.scripting_tests.scripted_values import ScriptedValues
from torchlift.view import ModuleView

_ASKS = frozenset({"torch.jit.is_scripting"})
_TRACES = frozenset({"torch.jit.trace", "torch.jit.trace_module"})


@dataclass(frozen=True)
class _Place:
    """An `if` that asks for scripting and nothing else, and returns something else on each way.

    Attributes:
        path, line: where it stands.
        owner: name of the class around it, empty if there is none.
    """

    path: str
    line: int
    owner: str


def returns_otherwise(values: ScriptedValues) -> str | None:
    """A clause about the first such place that what a test scripts may reach; None if there is none."""
    project = values.project
    places = project.once(_places)
    scripted = [value for call, value in values.makers.items() if values.target(call) not in _TRACES]
    for captured in scripted if places else ():
        owner = read_scripted_module(values.view, captured, project).owner
        classes, unread = reached_classes(*owner, project) if owner is not None else ([], "nothing of it was read")
        known = {(home.path, node.name) for home, node in classes}
        for place in places:
            reached = (place.path, place.owner) in known
            if reached or (unread is not None and in_one_program(project, values.view.path, place.path)):
                return (
                    f"{place.path}:{place.line} returns something else when it is scripted, which the test may expect"
                )
    return None


def _places(project: Project) -> tuple[_Place, ...]:
    found: list[_Place] = []
    for path in project.files_holding("is_scripting"):
        view = project.view(path) if project.is_python(path) else None
        if view is None:
            continue
        for use in view.uses(_ASKS, project.translate):
            if use.call is not None and (choice := _choice(view, use.call)) is not None:
                owner = view.class_of(choice)
                found.append(_Place(path, choice.lineno, owner.name if owner is not None else ""))
    return tuple(sorted(found, key=lambda place: (place.path, place.line)))


def _choice(view: ModuleView, call: ast.Call) -> ast.If | None:
    """The `if` that only asks whether something is scripted, where both ways return and not the same."""
    asked: ast.AST = call
    parent = view.parent(call)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        asked, parent = parent, view.parent(parent)
    if not isinstance(parent, ast.If) or parent.test is not asked:
        return None
    block = view.block(parent)
    other = parent.orelse or block[block.index(parent) + 1 :]
    one, two = _returned(parent.body), _returned(other)
    return parent if one is not None and two is not None and one != two else None


def _returned(statements: list[ast.stmt]) -> str | None:
    last = statements[-1] if statements else None
    if isinstance(last, ast.Return) and last.value is not None:
        return ast.dump(last.value)
    return None
