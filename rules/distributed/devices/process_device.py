"""The device that a process makes its own with `torch.cuda.set_device`, seen from its `init_process_group` call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.repeatable import (
    is_harmless_call,
    is_repeatable,
    is_unchanged,
    nodes_between,
    stores_item,
)
from torchlift.rules.distributed.devices.init_call import InitCall
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

SETTERS = frozenset({"torch.cuda.set_device", "torch.accelerator.set_device_index"})

_IS_AVAILABLE = ("torch.cuda.is_available()", True)
_Fact = tuple[str, bool]


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


def branch_taken(view: ModuleView, init: InitCall, statement: ast.If) -> list[ast.stmt]:
    """The branch of an `if` in front of `init` that was surely taken where it makes an NCCL group; empty if unknown."""
    facts = _facts(view, init)
    for branch, holds in ((statement.body, True), (statement.orelse, False)):
        if _implied(view, statement.test, holds, facts) and is_unchanged(view, statement.test, statement, init.call):
            return branch
    return []


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
    facts = _facts(view, init)
    before = _before(view, init.call, facts)
    found = before or _after(view, init.call)
    if found is None:
        return None
    assumptions: list[str] = []
    device = argument_of(found.call)
    if found.test is not None and not _tests_only(view, found.test) and not _same_test(view, found, init.call, before):
        assumptions.append(f"`{view.text(found.test)}` has to be the same in both places")
    if found.test is not None and not _implied(view, found.test, found.holds, facts):
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
    asked = next(_calls_of_distributed(view, device), None)
    if asked is not None and before is None:
        obstacle = f"`{view.text(asked)}` asks the group itself"
        return ProcessDevice(device, found.call, after=True, obstacle=obstacle)
    if not is_repeatable(view, device):
        return ProcessDevice(device, found.call, obstacle=f"`{view.text(device)}` may do more than give a value")
    if before is not None:
        if not is_unchanged(view, device, found.statement, init.call):
            return ProcessDevice(device, found.call, obstacle=f"`{view.text(device)}` may be another one by then")
        return ProcessDevice(device, found.call, assumptions=tuple(assumptions))
    moving = _Moving(view, init.call, found)
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
    for node in walk(root):
        if isinstance(node, ast.Call) and view.certain_name(node.func) in SETTERS and _has_one_argument(node):
            yield node


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


def _before(view: ModuleView, call: ast.Call, facts: set[_Fact]) -> _Found | None:
    statement: ast.stmt = view.statement(call)
    function = view.function_of(call)
    while True:
        block = view.block(statement)
        for earlier in reversed(block[: block.index(statement)]):
            setting = _setting(view, earlier)
            if setting is not None:
                return _Found(setting, earlier)
            found = _in_branch(view, earlier)
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
        if _leaves(statement, call):
            return None
        for later in block[block.index(statement) + 1 :]:
            setting = _setting(view, later)
            if setting is not None:
                return _Found(setting, later)
            found = _in_branch(view, later)
            if found is not None:
                return found
            if any(True for _ in set_device_calls(view, later)) or _leaves(later):
                return None
        parent = view.parent(statement)
        if not isinstance(parent, (ast.If, ast.Try, ast.With)):
            return None
        statement = parent


def _leaves(statement: ast.stmt, around: ast.AST | None = None) -> bool:
    """Whether a statement may end the function or a loop before what follows it."""
    return any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in walk(statement))


# `select_gpu(...)`, `setup_device(...)`: functions of other files that may well set a device.
_SETS_BY_NAME = re.compile(
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
        if ast.dump(argument_of(other)) != text and not _exclusive(view, init, other):
            yield other


def _device_context(view: ModuleView, item: ast.withitem, text: str) -> ast.Call | None:
    """A `torch.cuda.device(...)` of a `with` statement that is another device than the one whose dump is `text`."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return None
    resolution = view.resolve(call.func)
    if resolution is None or resolution.name not in {"torch.cuda.device", "torch.accelerator.device_index"}:
        return None
    return None if len(call.args) == 1 and ast.dump(call.args[0]) == text else call


def _sets_inside(view: ModuleView, call: ast.Call, text: str) -> bool:
    """Whether a call may set another device: a function of this file that does, or one with a name that says so."""
    resolution = view.resolve(call.func)
    if resolution is not None and resolution.name.partition(".")[0] in {"torch", "os", "logging", "warnings"}:
        return False
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
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
            node
            for node in walk(view.tree)
            if isinstance(node, ast.Call)
            and (node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")) == function.name
        ]
    for place in places:
        child: ast.AST = place
        for ancestor in view.ancestors(place):
            if isinstance(ancestor, ast.Try) and any(child is statement for statement in ancestor.body):
                handler = ancestor.handlers[0] if ancestor.handlers else None
                if handler is not None and not _catches_both(handler):
                    return handler
            child = ancestor
    return None


def _catches_both(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {node.id for node in types if isinstance(node, ast.Name)}
    return None in types or bool({"Exception", "BaseException"} & names) or {"RuntimeError", "ValueError"} <= names


def _exclusive(view: ModuleView, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand in different branches of one `if`."""
    above = {id(node): node for node in view.ancestors(one)}
    child: ast.AST = other
    for ancestor in view.ancestors(other):
        if id(ancestor) in above and isinstance(ancestor, ast.If):
            inside = [one, *view.ancestors(one)]
            mine = next(node for node in inside if view.parent(node) is ancestor)
            return any(mine is node for node in ancestor.body) != any(child is node for node in ancestor.body)
        child = ancestor
    return False


# Conditions


def _facts(view: ModuleView, init: InitCall) -> set[_Fact]:
    """What surely holds where `init` makes an NCCL group, as tests and their truth."""
    facts: set[_Fact] = {_IS_AVAILABLE}
    if init.when is not None:
        facts |= _conjuncts(view, init.when.test, init.when.holds)
        if init.when.variable is not None:
            facts.add((f"{init.when.variable} == {init.when.nccl!s}".replace('"', "'"), True))
    child: ast.AST = init.call
    for ancestor in view.ancestors(init.call):
        if isinstance(ancestor, ast.If) and child is not ancestor.test:
            facts |= _conjuncts(view, ancestor.test, any(child is node for node in ancestor.body))
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        child = ancestor
    return facts


def _conjuncts(view: ModuleView, test: ast.expr, holds: bool) -> set[_Fact]:
    """Simple tests that all have a known truth when `test` has the truth `holds`."""
    facts = {(_normal(view, test), holds)}
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return facts | _conjuncts(view, test.operand, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for value in test.values:
            facts |= _conjuncts(view, value, holds)
    if isinstance(test, ast.Name):
        facts.add((test.id, holds))
    return facts


def _implied(view: ModuleView, test: ast.expr, holds: bool, facts: set[_Fact]) -> bool:
    if (_normal(view, test), holds) in facts or (ast.unparse(test), holds) in facts:
        return True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _implied(view, test.operand, not holds, facts)
    if isinstance(test, ast.BoolOp):
        parts = [_implied(view, value, holds, facts) for value in test.values]
        return all(parts) if isinstance(test.op, ast.And) is holds else any(parts)
    return False


def _normal(view: ModuleView, test: ast.expr) -> str:
    """Text of a test: names of torch by their public name, a local name by the one expression it stands for."""
    if isinstance(test, ast.Name):
        binding = view.definition(test)
        value = binding.value if binding is not None and binding.kind == "assign" else None
        if value is not None and not isinstance(value, (ast.Name, ast.Constant)) and is_repeatable(view, value):
            return _normal(view, value)
    if isinstance(test, ast.Call) and not test.args and not test.keywords:
        resolution = view.resolve(test.func)
        if resolution is not None and resolution.certain:
            return f"{resolution.name}()"
    return ast.unparse(test)


def _tests_only(view: ModuleView, test: ast.expr) -> bool:
    """Whether a test only asks torch what the machine has, which no code changes."""
    return (_normal(view, test), True) == _IS_AVAILABLE


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


# What has to move


class _Moving:
    """Decides which definitions between an initialisation and the `set_device` behind it have to stand in front."""

    def __init__(self, view: ModuleView, init: ast.Call, found: _Found) -> None:
        self.view = view
        self.init = init
        self.found = found
        self.moved: list[ast.Assign] = []
        self.assumptions: list[str] = []
        self.obstacle = ""
        block = view.block(found.statement)
        inside = [init, *view.ancestors(init)]
        self.front = next(item for item in block if any(item is node for node in inside))
        self.between = list(nodes_between(view.function_of(init) or view.tree, init, found.statement))

    def settle(self, device: ast.expr) -> bool:
        """Whether `device` can be evaluated in front of the initialisation, with `moved` moved there."""
        if not self._settle(device):
            return False
        values = [device, *(statement.value for statement in self.moved)]
        if any(isinstance(node, (ast.Subscript, ast.Call)) for value in values for node in walk(value)):
            variables: set[object] = {
                node.value for value in values for node in walk(value) if isinstance(node, ast.Constant)
            }
            if any(stores_item(self.view, node, variables) for node in self.between):
                self.obstacle = f"what `{self.view.text(device)}` looks up may be stored between the two"
                return False
        calls = [node for node in self.between if isinstance(node, ast.Call) and not self._moves(node)]
        doubtful = next((call for call in calls if not is_harmless_call(self.view, call)), None)
        if doubtful is not None and not _is_fixed(self.view, device):
            self.assumptions.append(
                f"`{self.view.text(doubtful.func)}` on line {doubtful.lineno} must not decide what "
                f"`{self.view.text(device)}` is"
            )
        return True

    def _moves(self, node: ast.AST) -> bool:
        above = [node, *self.view.ancestors(node)]
        return any(statement is item for statement in self.moved for item in above)

    def _settle(self, device: ast.expr) -> bool:
        for node in walk(device):
            if isinstance(node, ast.Attribute) and self._is_stored(node):
                self.obstacle = f"`{self.view.text(node)}` is set between the two"
                return False
            if not isinstance(node, ast.Name):
                continue
            binding = self.view.definition(node)
            if self._is_brought_late(node):
                self.obstacle = f"`{node.id}` is only known behind it"
                return False
            if binding is None or binding.kind != "assign":
                if any(self._binds(child, node.id) for child in self.between):
                    self.obstacle = f"`{node.id}` is set between the two"
                    return False
                continue
            if binding.node not in self.between:
                if any(self._binds(child, node.id) for child in self.between):
                    self.obstacle = f"`{node.id}` is set between the two"
                    return False
            elif not self._move(binding):
                return False
        return True

    def _is_brought_late(self, name: ast.Name) -> bool:
        """Whether an import or a definition between the two gives a name its meaning."""
        owner = self.view.scope_at(name).lookup(name.id)
        bindings = owner.bindings.get(name.id, ()) if owner is not None else ()
        return any(
            binding.kind != "assign" and any(binding.statement is node or binding.node is node for node in self.between)
            for binding in bindings
        )

    def _move(self, binding: Binding) -> bool:
        statement = binding.statement
        if any(statement is item for item in self.moved):
            return True
        simple = (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and statement.lineno == statement.end_lineno
            and any(statement is item for item in self.view.block(self.found.statement))
            and len([child for child in self.between if self._binds(child, binding.name)]) == 1
        )
        if not simple or not isinstance(statement, ast.Assign):
            self.obstacle = f"`{binding.name}` is only known behind it"
            return False
        asked = next((call for call in _calls_of_distributed(self.view, statement.value)), None)
        if asked is not None:
            self.obstacle = f"`{binding.name}` comes from the group itself (`{self.view.text(asked)}`)"
            return False
        read = any(
            isinstance(node, ast.Name) and node.id == binding.name
            for node in [*walk(self.front), *nodes_between(self.view.tree, self.front, statement)]
        )
        bound = binding.scope.bindings[binding.name]
        read = read or (
            len(bound) > 1
            and any(chain.scope is not binding.scope for chain in self.view.scopes.chains.get(binding.name, ()))
        )
        if read or not is_repeatable(self.view, statement.value):
            self.obstacle = f"`{binding.name}` cannot move in front of it"
            return False
        if not self._settle(statement.value):
            return False
        self.moved.append(statement)
        return True

    @staticmethod
    def _binds(node: ast.AST, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)

    def _is_stored(self, attribute: ast.Attribute) -> bool:
        return any(
            isinstance(node, ast.Attribute) and node.attr == attribute.attr and not isinstance(node.ctx, ast.Load)
            for node in self.between
        )


def _is_fixed(view: ModuleView, device: ast.expr) -> bool:
    """Whether no call can change what `device` is: constants and names of the function itself."""
    for node in walk(device):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            owner = view.scope_at(node).lookup(node.id)
            resolution = view.resolve(node)
            if resolution is not None and resolution.name.partition(".")[0] in {"torch", "os"}:
                continue
            if owner is not None and owner.kind != "function":
                return False
        elif isinstance(node, ast.Attribute) and not _is_library(view, node):
            return False
    return True


def _is_library(view: ModuleView, node: ast.Attribute) -> bool:
    resolution = view.resolve(node)
    return resolution is not None and resolution.name.partition(".")[0] in {"torch", "os"}


def _calls_of_distributed(view: ModuleView, node: ast.expr) -> Iterator[ast.Call]:
    for child in walk(node):
        if isinstance(child, ast.Call):
            resolution = view.resolve(child.func)
            name = resolution.name if resolution is not None else ""
            if name.startswith("torch.distributed.") and not name.endswith(".get_node_local_rank"):
                yield child


def barrier_between(view: ModuleView, init: ast.Call, setting: ast.Call) -> ast.Call | None:
    """A `barrier` without `device_ids` between an initialisation and the `set_device` behind it."""
    for node in nodes_between(view.function_of(init) or view.tree, init, setting):
        if isinstance(node, ast.Call):
            resolution = view.resolve(node.func)
            is_barrier = resolution is not None and resolution.name == "torch.distributed.barrier"
            if is_barrier and not any(keyword.arg == "device_ids" for keyword in node.keywords):
                return node
    return None
