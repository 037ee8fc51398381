"""The device that a process makes its own with `torch.cuda.set_device`, seen from its `init_process_group` call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.places.order import excludes
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.repeatable import (
    is_repeatable,
    is_unchanged,
    nodes_between,
)
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.devices.init_call import InitCall
from torchlift.rules.distributed.devices.known_conditions import Fact, asks_the_machine, is_implied, known_facts
from torchlift.rules.distributed.devices.moved_definitions import Moving, calls_of_distributed
from torchlift.view import ModuleView
from torchlift.view.handlers import catches_anything, caught, tried_around
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

SETTERS = frozenset({"torch.cuda.set_device", "torch.accelerator.set_device_index"})


@dataclass(frozen=True)
class ProcessDevice:
    """The argument of the `set_device` that belongs to an `init_process_group`.

    Attributes:
        device: the argument.
        call: the `set_device` call.
        after: whether it stands behind the initialisation.
        moved: definitions behind the initialisation that have to move in front of it, in order.
        front: the statement they move in front of.
        assumptions: what has to hold for `device` to be this process's device already at the initialisation.
        obstacle: why `device` cannot be written into the initialisation at all; empty if it can.
    """

    device: ast.expr
    call: ast.Call
    after: bool = False
    moved: tuple[ast.Assign, ...] = ()
    front: ast.stmt | None = None
    assumptions: tuple[str, ...] = ()
    obstacle: str = ""


@dataclass(frozen=True)
class _Found:
    call: ast.Call
    statement: ast.stmt
    test: ast.expr | None = None
    holds: bool = True


def process_device(view: ModuleView, init: InitCall) -> ProcessDevice | None:
    """The device set next to `init` in the same function; None where there is no `set_device` that belongs to it."""
    if is_deferred(view, init.call):
        return None
    if next(set_device_calls(view, view.function_of(init.call) or view.tree), None) is None:
        return None
    facts = known_facts(view, init)
    before = _before(view, init.call, facts)
    found = before or _after(view, init.call)
    if found is None:
        return None
    assumptions: list[str] = []
    device = argument_of(found.call)
    if (
        found.test is not None
        and not asks_the_machine(view, found.test)
        and not _same_test(view, found, init.call, before)
    ):
        assumptions.append(f"`{view.text(found.test)}` has to be the same in both places")
    if found.test is not None and not is_implied(view, found.test, found.holds, facts):
        condition = view.text(found.test) if found.holds else f"not ({view.text(found.test)})"
        assumptions.append(f"`{condition}` has to hold wherever NCCL is used")
        assert isinstance(found.statement, ast.If)
        if _bound_inside(view, device, found.statement):
            return ProcessDevice(device, found.call, obstacle=f"`{view.text(device)}` is only known under a condition")
    for other in _other_settings(view, init.call, found.call):
        assumptions.append(
            f"`{view.text(other)}` on line {other.lineno} must not be the device that collectives of this group use"
        )
    if before is None or found.test is not None:
        handler = _handler_that_tells(view, init.call)
        if handler is not None:
            assumptions.append(
                f"the `except` on line {handler.lineno} must not wait for the RuntimeError of a machine without GPUs, where a "
                "device raises ValueError instead"
            )
    asked = next(calls_of_distributed(view, device), None)
    if asked is not None and before is None:
        obstacle = f"`{view.text(asked)}` asks the group itself"
        return ProcessDevice(device, found.call, after=True, obstacle=obstacle)
    if not is_repeatable(view, device):
        return ProcessDevice(device, found.call, obstacle=f"`{view.text(device)}` may do more than give a value")
    if before is not None:
        if not is_unchanged(view, device, found.statement, init.call):
            return ProcessDevice(device, found.call, obstacle=f"`{view.text(device)}` may be another one by then")
        return ProcessDevice(device, found.call, assumptions=tuple(assumptions))
    moving = Moving(view, init.call, found.statement)
    if not moving.settle(device):
        return ProcessDevice(device, found.call, after=True, obstacle=moving.obstacle)
    return ProcessDevice(
        device, found.call, True, tuple(moving.moved), moving.front, (*assumptions, *moving.assumptions)
    )


def is_deferred(view: ModuleView, call: ast.Call) -> bool:
    """Whether a call stands in a lambda or a comprehension: it runs later, and names mean something else in it."""
    scopes = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for ancestor in view.ancestors(call):
        if isinstance(ancestor, ast.stmt):
            return False
        if isinstance(ancestor, scopes):
            return True
    return False


def argument_of(call: ast.Call) -> ast.expr:
    """The device of one of `set_device_calls`."""
    return call.args[0] if call.args else call.keywords[0].value


def set_device_calls(view: ModuleView, root: ast.AST) -> Iterator[ast.Call]:
    """Calls below `root` that set the current device, of which the argument is known."""
    for use in view.uses(SETTERS):
        call = use.call
        if call is None or view.certain_name(call.func) not in SETTERS or not _has_one_argument(call):
            continue
        if root is view.tree or root is call or root in view.ancestors(call):
            yield call


def _has_one_argument(call: ast.Call) -> bool:
    return len(named_arguments(call, ("device",)) or ()) == 1


def _setting(view: ModuleView, statement: ast.stmt) -> ast.Call | None:
    if isinstance(statement, ast.Expr):
        return next((call for call in set_device_calls(view, statement) if call is statement.value), None)
    return None


def _in_branch(view: ModuleView, statement: ast.stmt) -> _Found | None:
    """A `set_device` that stands directly in one branch of an `if` and nowhere else in it."""
    if not isinstance(statement, ast.If) or len(list(set_device_calls(view, statement))) != 1:
        return None
    for branch, holds in ((statement.body, True), (statement.orelse, False)):
        for inner in branch:
            call = _setting(view, inner)
            if call is not None:
                return _Found(call, statement, statement.test, holds)
    return None


def _found_in(view: ModuleView, statement: ast.stmt) -> _Found | None:
    setting = _setting(view, statement)
    return _Found(setting, statement) if setting is not None else _in_branch(view, statement)


def _before(view: ModuleView, call: ast.Call, facts: set[Fact]) -> _Found | None:
    statement: ast.stmt = view.statement(call)
    function = view.function_of(call)
    while True:
        block = view.block(statement)
        for earlier in reversed(block[: block.index(statement)]):
            found = _found_in(view, earlier)
            if found is not None:
                return found
            if any(True for _ in set_device_calls(view, earlier)):
                return None
        parent = view.parent(statement)
        if isinstance(parent, ast.ExceptHandler):
            parent = view.parent(parent)
        if not isinstance(parent, ast.stmt) or parent is function:
            return None
        statement = parent


def _after(view: ModuleView, call: ast.Call) -> _Found | None:
    statement: ast.stmt = view.statement(call)
    while True:
        block = view.block(statement)
        if _leaves(statement):
            return None
        for later in block[block.index(statement) + 1 :]:
            found = _found_in(view, later)
            if found is not None:
                return found
            if any(True for _ in set_device_calls(view, later)) or _leaves(later):
                return None
        parent = view.parent(statement)
        if not isinstance(parent, (ast.If, ast.Try, ast.With)):
            return None
        statement = parent


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may end the function or a loop before what follows it."""
    return any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in walk(statement))


# `select_gpu(...)`, `setup_device(...)`: functions of other files that may well set a device.
_SETS_BY_NAME = lazy_pattern(
    r"(?:set|select|init|choose|pick|assign|bind|use|config)\w*(?:device|gpu|cuda)", re.IGNORECASE
)


def _other_settings(view: ModuleView, init: ast.Call, chosen: ast.Call) -> Iterator[ast.Call]:
    """Calls in the same function that set another device, unless they exclude the initialisation."""
    text = ast.dump(argument_of(chosen))
    for ancestor in view.ancestors(init):
        if isinstance(ancestor, (ast.With, ast.AsyncWith)):
            yield from (c for item in ancestor.items if (c := _device_context(view, item, text)) is not None)
        elif isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
    arguments = [node for part in (*init.args, *init.keywords) for node in walk(part)]
    for node in [*nodes_between(view.function_of(init) or view.tree, chosen, init), *arguments]:
        if isinstance(node, ast.Call) and _sets_inside(view, node, text):
            yield node
    for other in set_device_calls(view, view.function_of(init) or view.tree):
        if other is chosen or view.function_of(other) is not view.function_of(init):
            continue
        if not _is_same_device(view, chosen, other) and not excludes(view, init, other):
            yield other


def _is_same_device(view: ModuleView, one: ast.Call, other: ast.Call) -> bool:
    first, last = sorted((one, other), key=lambda call: (call.lineno, call.col_offset))
    index, again = (_index(view, argument_of(call)) for call in (first, last))
    # What a name stands for was worked out where it was bound.
    start = view.statement(index) if index.lineno < first.lineno else first
    return ast.dump(index) == ast.dump(again) and is_unchanged(view, index, start, last)


def _index(view: ModuleView, device: ast.expr) -> ast.expr:
    """The index of a device that is written out, `torch.device(f"cuda:{rank}")` or `"cuda", rank`; else the device itself."""
    value = assigned_value(view, device) if isinstance(device, ast.Name) else None
    match value or device:
        case ast.JoinedStr(values=[ast.Constant(value="cuda:"), ast.FormattedValue(value=index)]):
            return index
        case ast.Call(args=[ast.Constant(value="cuda"), index], keywords=[]) as call if _is_device(view, call):
            return index
        case ast.Call(args=[ast.JoinedStr() as name], keywords=[]) as call if _is_device(view, call):
            return _index(view, name)
    return device


def _is_device(view: ModuleView, call: ast.Call) -> bool:
    return view.possible_name(call.func) == "torch.device"


def _device_context(view: ModuleView, item: ast.withitem, text: str) -> ast.Call | None:
    """A `torch.cuda.device(...)` of a `with` statement that is another device than the one whose dump is `text`."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return None
    if view.possible_name(call.func) not in {"torch.cuda.device", "torch.accelerator.device_index"}:
        return None
    return None if len(call.args) == 1 and ast.dump(call.args[0]) == text else call


def _sets_inside(view: ModuleView, call: ast.Call, text: str) -> bool:
    """Whether a call may set another device: a function of this file that does, or one with a name that says so."""
    if view.possible_name(call.func).partition(".")[0] in {"torch", "os", "logging", "warnings"}:
        return False
    name = last_name(call.func)
    functions = [
        node
        for node in walk(view.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]
    if not functions:
        return _SETS_BY_NAME.search(name) is not None
    return any(ast.dump(argument_of(c)) != text for f in functions for c in set_device_calls(view, f))


def _handler_that_tells(view: ModuleView, call: ast.Call) -> ast.ExceptHandler | None:
    """A handler around a call, or around calls of its function in this file, that tells a RuntimeError from a ValueError."""
    function = view.function_of(call)
    places: list[ast.AST] = [call]
    if function is not None:
        places += [
            node for node in walk(view.tree) if isinstance(node, ast.Call) and last_name(node.func) == function.name
        ]
    for place in places:
        for around in tried_around(view, place):
            handler = around.handlers[0] if around.handlers else None
            if handler is not None and not _catches_both(handler):
                return handler
    return None


def _catches_both(handler: ast.ExceptHandler) -> bool:
    return catches_anything(handler) or {"RuntimeError", "ValueError"} <= caught(handler)


def barrier_between(view: ModuleView, init: ast.Call, setting: ast.Call) -> ast.Call | None:
    """A `barrier` without `device_ids` between an initialisation and the `set_device` behind it."""
    between = nodes_between(view.function_of(init) or view.tree, init, setting)
    calls = (node for node in between if isinstance(node, ast.Call) and _is_barrier(view, node))
    return next((call for call in calls if not any(keyword.arg == "device_ids" for keyword in call.keywords)), None)


def _is_barrier(view: ModuleView, call: ast.Call) -> bool:
    return view.possible_name(call.func) == "torch.distributed.barrier"


def _same_test(view: ModuleView, found: _Found, call: ast.Call, before: _Found | None) -> bool:
    """Whether the test around a `set_device` surely has the same truth at the initialisation."""
    assert found.test is not None
    start, end = (found.statement, call) if before is not None else (call, found.statement)
    return is_repeatable(view, found.test) and is_unchanged(view, found.test, start, end)


def _bound_inside(view: ModuleView, device: ast.expr, statement: ast.If) -> bool:
    """Whether a name of `device` is bound inside `statement`."""
    names = {node.id for node in walk(device) if isinstance(node, ast.Name)}
    return any(
        isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load)
        for node in walk(statement)
    )
