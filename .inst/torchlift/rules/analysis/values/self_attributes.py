"""What a class keeps on `self`."""

from __future__ import annotations

import ast

from torchlift.view import ModuleView
from torchlift.view.walk import walk


def self_attribute(node: ast.AST | None) -> str | None:
    """The name of an attribute of `self`, if the expression is one."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def stored_on_self(view: ModuleView, node: ast.Attribute) -> list[ast.expr]:
    """Values that the class around stores under the same attribute, without those made from it."""
    owner = view.class_of(node)
    written = ast.unparse(node)

    def is_same(other: ast.AST) -> bool:
        return isinstance(other, ast.Attribute) and other.attr == node.attr and ast.unparse(other) == written

    return [
        statement.value
        for statement in (walk(owner) if owner is not None else ())
        if isinstance(statement, ast.Assign)
        and any(is_same(target) for target in statement.targets)
        and not any(is_same(child) for child in walk(statement.value))
    ]


def only_value_on_self(view: ModuleView, node: ast.Attribute) -> ast.expr | None:
    """What an attribute of `self` holds, where the class around stores it once and has no base that may store it too."""
    owner = view.class_of(node) if self_attribute(node) is not None else None
    if owner is None or owner.bases:
        return None
    stores = [
        other
        for other in walk(owner)
        if isinstance(other, ast.Attribute) and other.attr == node.attr and not isinstance(other.ctx, ast.Load)
    ]
    parent = view.parent(stores[0]) if len(stores) == 1 else None
    return parent.value if isinstance(parent, ast.Assign) and parent.targets == stores else None


def self_class(view: ModuleView, attribute: ast.Attribute) -> ast.ClassDef | None:
    """The class whose instance `attribute` is read from, if its base is the first parameter of a method."""
    if not isinstance(attribute.value, ast.Name):
        return None
    scope = view.scope_at(attribute)
    owner = scope.lookup(attribute.value.id)
    if owner is None or not isinstance(owner.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    method = owner.node
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters or parameters[0].arg != attribute.value.id or len(owner.bindings[attribute.value.id]) != 1:
        return None
    parent = view.parent(method)
    if not isinstance(parent, ast.ClassDef) or any(
        isinstance(decorator, ast.Name) and decorator.id in {"staticmethod", "classmethod"}
        for decorator in method.decorator_list
    ):
        return None
    return parent


def self_members(view: ModuleView, owner: ast.ClassDef, name: str) -> list[ast.Attribute]:
    """Every `self.name` in the methods of a class, in source order."""
    return [node for node in view.attributes_named(name) if self_class(view, node) is owner]


def method_of(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The method of a class with this name, if it defines exactly one."""
    found = [item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == name]
    return found[0] if len(found) == 1 else None
