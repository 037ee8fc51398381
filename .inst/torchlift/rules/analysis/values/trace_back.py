"""Where the value of an expression comes from: the walk back through names, parameters, attributes and small functions.

What the values are worth is for the asker to say: a subclass of `TraceBack` is a lattice, with a value for every expression
that tells something by itself, and one for all that cannot be known.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from torchlift.project import Project
from torchlift.rules.analysis.places.order import run_before
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.parameter_values import arguments_of
from torchlift.rules.analysis.values.repeatable import returned_value
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

Value = TypeVar("Value")

DEEPEST = 6
"""How many steps are followed."""


class TraceBack(ABC, Generic[Value]):
    """Follows an expression to what it is computed from.

    Attributes:
        unknown: the value of what cannot be followed, or is one thing here and another there.
        view: the file.
        project: where callers in other files are looked for; None follows no parameter.
        at: where the expression is evaluated.
    """

    unknown: Value

    def __init__(self, view: ModuleView, project: Project | None, at: ast.AST) -> None:
        self.view = view
        self.project = project
        self.at = at

    @abstractmethod
    def says(self, node: ast.expr, depth: int) -> Value | None:
        """What an expression is worth by itself; None if it has to be followed."""

    def of(self, node: ast.expr, depth: int = 0) -> Value:
        """What `node`, which is evaluated at `at`, is worth; `depth` counts the steps so far."""
        if depth > DEEPEST:
            return self.unknown
        said = self.says(node, depth)
        if said is not None:
            return said
        match node:
            case ast.Name():
                return self.of_name(node, depth)
            case ast.Attribute():
                value = assigned_before(self.view, node, self.at)
                return self.elsewhere(value, depth) if value is not None else self.of_stored(node, depth)
            case ast.Call():
                return self.of_call(node, depth)
            case ast.NamedExpr(value=value):
                return self.of(value, depth + 1)
        return self.unknown

    def elsewhere(self, node: ast.expr, depth: int) -> Value:
        """What an expression is worth that is evaluated where it stands."""
        return type(self)(self.view, self.project, node).of(node, depth + 1)

    def merged(self, values: Iterable[Value]) -> Value:
        """What something is worth that is one of `values`."""
        different = set(values)
        return different.pop() if len(different) == 1 else self.unknown

    def of_name(self, node: ast.Name, depth: int) -> Value:
        """What a name is worth by everything that it may be bound to here; `None` as a placeholder does not count."""
        bindings = [binding for binding in self.bindings(node) if not is_none(binding.value)]
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.arg):
            return self.of_parameter(bindings[0].node, depth)
        values = [b.value for b in bindings if b.kind in {"assign", "walrus"} and b.value is not None]
        if len(values) != len(bindings):
            return self.unknown
        return self.merged([self.elsewhere(value, depth) for value in values])

    def bindings(self, node: ast.Name) -> tuple[Binding, ...]:
        """Everything that a name may be bound to where it is read."""
        single = self.view.definition(node)
        return (single,) if single is not None else self.view.bindings_of(node, self.view.scope_at(node))

    def of_parameter(self, parameter: ast.arg, depth: int) -> Value:
        """What a parameter is worth by everything that its function is called with."""
        return self.merged([self.elsewhere(argument, depth) for argument in self.arguments(parameter) or ()])

    def arguments(self, parameter: ast.arg) -> list[ast.expr] | None:
        """Everything a parameter is passed; None where some callers may be unknown."""
        return arguments_of(self.view, self.project, parameter) if self.project is not None else None

    def of_stored(self, node: ast.Attribute, depth: int) -> Value:
        """What an attribute is worth that the same function does not assign before."""
        return self.unknown

    def of_call(self, node: ast.Call, depth: int) -> Value:
        """What a call is worth by what its function of this file returns."""
        value = returned_value(self.view, node)
        return self.of(value, depth + 1) if value is not None else self.unknown


def assigned_before(view: ModuleView, attribute: ast.Attribute, at: ast.AST) -> ast.expr | None:
    """The value of the last plain assignment to `attribute` that surely ran before `at` in the same function."""
    text = ast.unparse(attribute)
    for earlier in run_before(view, at):
        if isinstance(earlier, ast.Assign) and any(ast.unparse(target) == text for target in earlier.targets):
            return earlier.value
        if any(isinstance(node, ast.Attribute) and _is_store_of(node, text) for node in walk(earlier)):
            return None
    return None


def constant_items(view: ModuleView, name: ast.Name) -> list[ast.expr] | None:
    """Items of the list that a name stands for, if nothing but looking them up is ever done with it."""
    binding = view.definition(name)
    if binding is None or binding.kind != "assign" or not isinstance(binding.value, (ast.List, ast.Tuple)):
        return None
    for read, _ in view.reads_of(binding):
        parent = view.parent(read)
        looked_up = isinstance(parent, ast.Subscript) and parent.value is read and isinstance(parent.ctx, ast.Load)
        measured = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len"
        if not looked_up and not measured:
            return None
    return binding.value.elts


def _is_store_of(node: ast.Attribute, text: str) -> bool:
    return not isinstance(node.ctx, ast.Load) and ast.unparse(node) == text
