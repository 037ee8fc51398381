"""Where a TorchScript value goes: every read of the name it is bound to, and what is done with it there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from torchlift.finding import Safety
from torchlift.view import Binding, ModuleView

# What an ExportedProgram's module offers under the same name (torchscript.md section 2: measured on 2.13 and 2.15).
_SAME_ON_MODULE = frozenset({"parameters", "named_parameters", "buffers", "named_buffers", "load_state_dict"})
_MOVES = frozenset({"to", "cpu", "cuda", "half", "float", "double", "bfloat16"})


@dataclass(frozen=True)
class Obstacle:
    """A use of the value that the new value does not serve the same way.

    Attributes:
        node: where.
        reason: end of the sentence "the value ...".
        safety: `UNSAFE` if the rewrite is right under an assumption, `MANUAL` if it is surely wrong there.
    """

    node: ast.expr
    reason: str
    safety: Safety


@dataclass(frozen=True)
class Save:
    """One place that writes the value to a file.

    Attributes:
        call: `value.save(path)` or `torch.jit.save(value, path)`.
        value: the expression of the value in it.
        path: the path expression.
        method: whether it is the method form.
    """

    call: ast.Call
    value: ast.expr
    path: ast.expr
    method: bool


@dataclass
class ValueLife:
    """One TorchScript value from its creation on.

    Attributes:
        origin: the call that creates it.
        outer: `origin` with any `.eval()` behind it.
        form: what is done with the created value at once.
        statement: the statement that creates it.
        name: the variable it is bound to, if any.
        calls: calls of the value.
        saves: places that write it.
        evals: statements that only call `.eval()` on it.
        obstacles: everything else.
        bindings: variables that hold it.
        as_module: whether module methods other than a call are used on it.
    """

    origin: ast.Call
    outer: ast.expr
    form: Literal["bound", "called", "saved", "discarded", "escapes"]
    statement: ast.stmt
    name: ast.Name | None = None
    calls: list[ast.Call] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    evals: list[ast.stmt] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    as_module: bool = False


def follow(view: ModuleView, origin: ast.Call) -> ValueLife:
    """The life of the value that `origin` creates, as far as this file shows it."""
    outer: ast.expr = origin
    while (call := _method_call(view, outer, "eval")) is not None and not call.args and not call.keywords:
        outer = call
    statement = view.statement(outer)
    parent = view.parent(outer)
    life = ValueLife(origin, outer, "escapes", statement)
    if isinstance(parent, ast.Call) and parent.func is outer:
        life.form = "called"
        life.calls.append(parent)
    elif (save := _save_of(view, outer)) is not None:
        life.form = "saved"
        life.saves.append(save)
    elif isinstance(parent, ast.Expr):
        life.form = "discarded"
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        life.form = "bound"
        life.name = parent.targets[0]
        _follow_name(view, life, parent.targets[0], set())
    else:
        life.obstacles.append(Obstacle(outer, _escape(parent), Safety.UNSAFE))
    return life


def _escape(parent: ast.AST | None) -> str:
    match parent:
        case ast.Return() | ast.Yield():
            return "is returned, and its users are not looked at"
        case ast.Assign() | ast.AnnAssign():
            return "is stored where its uses are not followed"
        case ast.Call() | ast.keyword():
            return "is passed on to other code"
        case _:
            return "is used in an expression that is not followed"


def _method_call(view: ModuleView, value: ast.expr, *names: str) -> ast.Call | None:
    attribute = view.parent(value)
    if isinstance(attribute, ast.Attribute) and attribute.value is value and attribute.attr in names:
        call = view.parent(attribute)
        if isinstance(call, ast.Call) and call.func is attribute:
            return call
    return None


def _save_of(view: ModuleView, value: ast.expr) -> Save | None:
    call = _method_call(view, value, "save")
    if call is not None and len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
        return Save(call, value, call.args[0], True)
    parent = view.parent(value)
    if isinstance(parent, ast.Call) and len(parent.args) == 2 and not parent.keywords and parent.args[0] is value:
        resolution = view.resolve(parent.func)
        if resolution is not None and resolution.certain and resolution.name == "torch.jit.save":
            return Save(parent, value, parent.args[1], False)
    return None


def _follow_name(view: ModuleView, life: ValueLife, target: ast.Name, seen: set[Binding]) -> None:
    scope = view.scope_at(target)
    owner = scope.lookup(target.id)
    binding = next((b for b in owner.bindings[target.id] if b.node is target), None) if owner is not None else None
    if owner is None or binding is None or binding in seen:
        life.obstacles.append(Obstacle(target, "is bound in a way that is not followed", Safety.MANUAL))
        return
    seen.add(binding)
    life.bindings.append(binding)
    if owner.kind == "class" or (scope.frame is not owner and scope is not owner):
        life.obstacles.append(Obstacle(target, "is bound to a name of another scope", Safety.UNSAFE))
    for read, alone in view.reads_of(binding):
        if not alone:
            life.obstacles.append(Obstacle(read, "shares its name with another value here", Safety.UNSAFE))
        _classify(view, life, read, seen)


def _classify(view: ModuleView, life: ValueLife, read: ast.Name, seen: set[Binding]) -> None:
    parent = view.parent(read)
    if isinstance(parent, ast.Call) and parent.func is read:
        life.calls.append(parent)
        return
    save = _save_of(view, read)
    if save is not None:
        life.saves.append(save)
        return
    if isinstance(parent, ast.Attribute):
        _classify_attribute(view, life, read, parent, seen)
        return
    life.obstacles.append(Obstacle(read, _escape(parent), Safety.UNSAFE))


def _classify_attribute(
    view: ModuleView, life: ValueLife, read: ast.Name, attribute: ast.Attribute, seen: set[Binding]
) -> None:
    call = view.parent(attribute)
    called = isinstance(call, ast.Call) and call.func is attribute
    if called and attribute.attr == "eval":
        assert isinstance(call, ast.Call)
        statement = view.parent(call)
        if isinstance(statement, ast.Expr):
            life.evals.append(statement)
            return
        if (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(target := statement.targets[0], ast.Name)
            and target.id == read.id
        ):
            life.evals.append(statement)
            _follow_name(view, life, target, seen)
            return
        life.obstacles.append(Obstacle(read, "is put into eval mode inside an expression", Safety.MANUAL))
    elif called and attribute.attr == "forward":
        assert isinstance(call, ast.Call)
        life.calls.append(call)
    elif called and attribute.attr == "save":
        life.obstacles.append(Obstacle(read, "is saved with extra arguments (`_extra_files`)", Safety.MANUAL))
    elif called and attribute.attr in _SAME_ON_MODULE:
        life.as_module = True
    elif called and attribute.attr == "state_dict":
        life.obstacles.append(
            Obstacle(read, "gives its state_dict, which lacks non-persistent buffers after export", Safety.UNSAFE)
        )
    elif called and attribute.attr in _MOVES:
        life.obstacles.append(
            Obstacle(
                read, f"is moved with `.{attribute.attr}()`; devices and dtypes inside its graph stay", Safety.UNSAFE
            )
        )
    else:
        life.obstacles.append(
            Obstacle(read, f"is asked for `.{attribute.attr}`, which an exported module does not have", Safety.MANUAL)
        )
