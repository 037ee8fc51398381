"""Scripting that an option switches on: the code runs without it, so what stands beside it takes its place."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.finding import DeleteStatement, KeepBranch, ReplaceExpression, Rewrite, Template
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.torchscript.values.value_life import ValueLife
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_CAPTURES = frozenset({"torch.jit.script", "torch.jit.trace"})
_OPTION = lazy_pattern(r"jit|script|trac(?:e|ing)|compil|fus(?:e|ion)|(?:\b|_)ts(?:\b|_)", re.IGNORECASE)
_READS = frozenset({"get", "getattr", "hasattr", "isinstance", "getenv", "is_available", "bool", "int"})
_SHOWS = frozenset({"print", "info", "debug", "warning", "warn", "log"})


@dataclass(frozen=True)
class Without:
    """How the code around a capture does without it.

    Attributes:
        rewrites: what leaves the module as the other way leaves it.
        optional: whether the condition asks for scripting and nothing else, so that the code is known to run without.
    """

    rewrites: tuple[Rewrite, ...]
    optional: bool


def without_capture(view: ModuleView, life: ValueLife, node: ast.expr) -> Without | None:
    """What becomes of the condition around a capture of `node`; None if there is none, or none that only captures.

    The value is an arm of a conditional expression whose other arm is the module itself, or all that an `if` does is to
    put it in the module's place.
    """
    parent = view.parent(life.outer)
    same = ast.dump(node)
    if isinstance(parent, ast.IfExp) and life.outer in (parent.body, parent.orelse) and only_asks(parent.test):
        other = parent.orelse if life.outer is parent.body else parent.body
        if ast.dump(other) != same:
            return None
        statement = view.parent(parent)
        if isinstance(statement, ast.Assign) and [_read(target) for target in statement.targets] == [same]:
            return Without((DeleteStatement(view.span(statement)),), is_option(view, parent.test))
        kept = ReplaceExpression(view.span(parent), Template("$other", (("other", view.span(other)),)))
        return Without((kept,), is_option(view, parent.test))
    statement = life.statement
    around = view.parent(statement)
    if isinstance(statement, ast.Return) and statement.value is life.outer and isinstance(around, ast.If):
        return _returned(view, around, statement, same)
    if (
        not isinstance(around, ast.If)
        or statement not in around.body
        or not _captures_itself(view, statement, life.origin)
    ):
        return None
    if not only_asks(around.test):
        return None
    optional = is_option(view, around.test)
    if all(_captures_itself(view, other, life.origin) or speaks(other) for other in around.body):
        if not around.orelse:
            return Without((KeepBranch(view.span(around), None),), optional)
        if len(around.orelse) == 1 and isinstance(around.orelse[0], ast.If) and _compiles(view, around.orelse[0]):
            return Without((KeepBranch(view.span(around), "orelse"),), optional)
    return Without((DeleteStatement(view.span(statement)),), optional and not around.orelse)


def _returned(view: ModuleView, around: ast.If, statement: ast.Return, same: str) -> Without | None:
    """An `if` that returns the capture of what is returned otherwise, too."""
    if not only_asks(around.test) or any(not (other is statement or speaks(other)) for other in around.body):
        return None
    block = view.block(around)
    behind = block[block.index(around) + 1 :]
    branch: Literal["orelse"] | None = "orelse" if around.orelse else None
    other = next(iter(around.orelse or behind), None)
    if not isinstance(other, ast.Return) or other.value is None or ast.dump(other.value) != same:
        return None
    return Without((KeepBranch(view.span(around), branch),), is_option(view, around.test))


def _captures_itself(view: ModuleView, statement: ast.stmt, own: ast.Call) -> bool:
    """Whether a statement puts the capture of a module in its place, be it `own`: `net = torch.jit.script(net)`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    value = statement.value
    if isinstance(value, ast.Call) and view.possible_name(value.func) == "typing.cast" and len(value.args) == 2:
        value = value.args[1]
    if not isinstance(value, ast.Call) or not value.args:
        return False
    if value is not own and view.possible_name(value.func) not in _CAPTURES:
        return False
    return ast.dump(value.args[0]) == _read(statement.targets[0])


def is_option(view: ModuleView, test: ast.expr) -> bool:
    """Whether a condition is about scripting alone, and what it asks steers nothing else in the function."""
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    return all(_OPTION.search(ast.unparse(part)) is not None for part in parts) and not _steers_more(view, test)


def idle_options(view: ModuleView, node: ast.AST) -> list[str]:
    """What the condition around a capture asks and nothing else in the file does, with the places that set it."""
    around = next((item for item in view.ancestors(node) if isinstance(item, (ast.If, ast.IfExp))), None)
    if around is None:
        return []
    body = around.body if isinstance(around.body, list) else [around.body]
    inside = {one for part in (around.test, *body) for one in walk(part)}
    found = []
    for asked in walk(around.test):
        match asked:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                named = view.attributes_named(name)
                places = [one.lineno for one in named if isinstance(one.ctx, ast.Store)]
                idle = bool(places) and all(one in inside for one in named if isinstance(one.ctx, ast.Load))
            case ast.Name():
                binding = view.definition(asked)
                idle = binding is not None and binding.kind == "param"
                idle = idle and binding is not None and all(read in inside for read, _ in view.reads_of(binding))
                places = [getattr(binding.node, "lineno", 0)] if binding is not None else []
            case _:
                continue
        if idle:
            found.append(f"`{ast.unparse(asked)}` (line {places[0]})")
    return list(dict.fromkeys(found))


def _steers_more(view: ModuleView, test: ast.expr) -> bool:
    """Whether a name that a condition asks is read elsewhere, but for other conditions."""
    for name in walk(test):
        binding = view.definition(name) if isinstance(name, ast.Name) else None
        if (
            binding is None
            or binding.kind == "import"
            or not isinstance(view.parent(name), (ast.If, ast.IfExp, ast.BoolOp, ast.UnaryOp))
        ):
            continue
        for read, _ in view.reads_of(binding):
            conditions = [a for a in view.ancestors(read) if isinstance(a, (ast.If, ast.IfExp, ast.Assert, ast.While))]
            if not any(read in set(walk(condition.test)) for condition in conditions):
                return True
    return False


def _read(target: ast.expr) -> str:
    return ast.dump(target).replace("Store()", "Load()")


def only_asks(test: ast.expr) -> bool:
    """Whether evaluating a condition does nothing else."""
    for child in walk(test):
        if isinstance(child, (ast.Await, ast.NamedExpr)):
            return False
        if isinstance(child, ast.Call):
            name = last_name(child.func)
            if name not in _READS and not name.startswith(("get_", "is_", "has_", "can_")):
                return False
    return True


def speaks(statement: ast.stmt) -> bool:
    """Whether a statement only tells about scripting, or only asserts something of the option."""
    match statement:
        case ast.Pass():
            return True
        case ast.Expr(value=ast.Call(func=function)):
            name = last_name(function)
            text = ast.unparse(statement).lower()
            return name in _SHOWS and ("jit" in text or "script" in text or "trac" in text)
        case ast.Assert(test=test):
            return only_asks(test)
    return False


def _compiles(view: ModuleView, other: ast.If) -> bool:
    """Whether the other way is `torch.compile`."""
    return any(
        isinstance(child, ast.Call)
        and (view.possible_name(child.func) == "torch.compile" or getattr(child.func, "attr", "") == "compile")
        for child in walk(other)
    )
