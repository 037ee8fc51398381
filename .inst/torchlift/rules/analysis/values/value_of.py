"""What stands behind an expression: the value a name was given, the function or class it names, here or elsewhere."""

from __future__ import annotations

import ast
from typing import TypeVar

from torchlift.project import Project
from torchlift.rules.analysis.values.self_attributes import only_value_on_self
from torchlift.view import ModuleView

MOST_STEPS = 12
"""How many names and calls are followed from an expression back to what made it.

Code written by hand takes up to four. Definitions can form a circle (`x = x.half()` in a loop without another), so there
has to be an end; a dozen is never reached otherwise.
"""

_Definition = TypeVar("_Definition", bound=ast.stmt)


def assigned_value(view: ModuleView, node: ast.expr | None) -> ast.expr | None:
    """The value of the one assignment that a read of a plain name can see, if there is exactly one."""
    binding = view.definition(node) if node is not None else None
    return binding.value if binding is not None and binding.kind == "assign" else None


def value_of(view: ModuleView, node: ast.expr) -> ast.expr:
    """`node`, or what it stands for where it is a plain name: the value it was assigned, through further names."""
    for _ in range(MOST_STEPS):
        value = assigned_value(view, node)
        if value is None:
            break
        node = value
    return node


def stored_value(view: ModuleView, node: ast.expr | None) -> ast.expr | None:
    """What a name, or an attribute of `self`, is bound to if that happens in one place."""
    if isinstance(node, ast.Attribute):
        return only_value_on_self(view, node)
    return assigned_value(view, node)


def definition_of(
    view: ModuleView, node: ast.expr, project: Project | None, kind: type[_Definition]
) -> tuple[ModuleView, _Definition] | None:
    """The function or class that `node` names, with its file: this one or, where `project` is given, another one of it."""
    binding = view.definition(node)
    if binding is not None and isinstance(binding.node, kind):
        return view, binding.node
    name = view.certain_name(node) if project is not None else ""
    found = project.binding(name, view.path) if project is not None and name else None
    return (found[0], found[1].node) if found is not None and isinstance(found[1].node, kind) else None
