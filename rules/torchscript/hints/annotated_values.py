"""How to write a value that a TorchScript hint gave a type: `x: T = value` where that fits, else `value`."""

from __future__ import annotations

import ast

from torchlift.finding import DeleteStatement, InsertStatements, ReplaceExpression, Rewrite, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.whole_statements import assigns_itself
from torchlift.rules.analysis.values.repeatable import is_repeatable
from torchlift.rules.analysis.values.self_attributes import self_attribute
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_TYPE_NODES = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.Constant,
    ast.BinOp,
    ast.BitOr,
    ast.Load,
    ast.UnaryOp,
)
_TAKING_ANY = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Return,
    ast.Expr,
    ast.If,
    ast.While,
    ast.Assert,
    ast.keyword,
    ast.List,
    ast.Set,
)
_ATOMS = (ast.Name, ast.Constant, ast.List, ast.Dict, ast.Set, ast.Attribute, ast.Subscript, ast.Tuple)


@dataclass(frozen=True)
class Written:
    """The rewrites and what the new code looks like, for titles."""

    title: str
    rewrites: tuple[Rewrite, ...]


def is_plain_type(node: ast.expr) -> bool:
    """Whether evaluating a type expression has no effect but its result."""
    return all(isinstance(child, _TYPE_NODES) for child in walk(node))


def without_hint(view: ModuleView, call: ast.Call, kind: ast.expr, value: ast.expr) -> Written:
    """Rewrites that put `value` in the place of `call`, keeping the type `kind` as an annotation where one may stand.

    An annotation inside a function is never evaluated, so only there it is written.
    """
    statement = view.statement(call)
    parent = view.parent(call)
    if isinstance(statement, ast.Assign) and parent is statement and len(statement.targets) == 1:
        target = statement.targets[0]
        same = isinstance(target, (ast.Attribute, ast.Subscript)) and view.text(target) == view.text(value)
        if assigns_itself(view, statement, value) or (same and is_repeatable(view, target)):
            return Written("Remove the assignment", (DeleteStatement(view.span(statement)),))
        text = _one_line(view, statement)
        if text is not None and _may_be_annotated(view, target) and _is_quiet(view, value) and _is_lasting(view, kind):
            line = f"{view.text(target)}: {view.text(kind)} = {view.text(value)}"
            span = view.span(statement)
            return Written("Annotate the variable instead", (DeleteStatement(span), InsertStatements(span, (line,))))
    template = Template("$value", (("value", view.span(value)),))
    rewrite = ReplaceExpression(view.span(call), template, bare=takes_any(view, call, value))
    return Written("Use the value itself", (rewrite,))


def read_as_pair(view: ModuleView, name: str) -> int | None:
    """Line of a read of the attribute that only works on the pair."""
    for node in view.parents:
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
            match view.parent(node):
                case ast.Attribute(attr="value" | "type"):
                    return node.lineno
                case ast.Subscript(slice=ast.Constant(value=0 | 1)) | ast.Starred():
                    return node.lineno
                case ast.Assign(targets=[ast.Tuple() | ast.List()]):
                    return node.lineno
                case _:
                    pass
    return None


def takes_any(view: ModuleView, node: ast.expr, new: ast.expr | None = None) -> bool:
    """Whether `new` (any common expression, if not given) may stand in the place of `node` without brackets."""
    if isinstance(new, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)):
        return False
    parent = view.parent(node)
    if isinstance(parent, ast.Call):
        return parent.func is not node
    return isinstance(parent, _TAKING_ANY)


def _one_line(view: ModuleView, statement: ast.stmt) -> str | None:
    text = view.text(statement)
    return None if "\n" in text or "\r" in text or "#" in text else text


def _may_be_annotated(view: ModuleView, target: ast.expr) -> bool:
    scope = view.scope_at(target)
    if scope.kind != "function":
        return False
    if isinstance(target, ast.Name):
        bindings = scope.bindings.get(target.id, [])
        declared = (scope.globals or set()) | (scope.nonlocals or set())
        return bool(bindings) and bindings[0].node is target and target.id not in declared
    if (attribute := self_attribute(target)) is not None:
        function = view.function_of(target)
        owner = view.parent(function) if function is not None else None
        return (
            function is not None
            and function.name == "__init__"
            and isinstance(owner, ast.ClassDef)
            and not any(
                isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == attribute
                for item in owner.body
            )
        )
    return False


def _is_quiet(view: ModuleView, value: ast.expr) -> bool:
    """Whether a value surely holds nothing that another rule rewrites in the same run."""
    for child in walk(value):
        if isinstance(child, ast.Call):
            return False
        if isinstance(child, (ast.Name, ast.Attribute)):
            resolution = view.resolve(child)
            if resolution is not None and resolution.name.partition(".")[0] == "torch":
                return False
    return isinstance(value, _ATOMS)


def _is_lasting(view: ModuleView, kind: ast.expr) -> bool:
    """Whether a type is written without names that go with TorchScript."""
    for child in walk(kind):
        if isinstance(child, (ast.Name, ast.Attribute)):
            resolution = view.resolve(child)
            if resolution is not None and resolution.name.startswith("torch.jit"):
                return False
    return is_plain_type(kind)
