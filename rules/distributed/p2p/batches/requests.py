"""Requests of unbatched point-to-point operations: where each is kept, and where it is waited for."""

from __future__ import annotations

import ast
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.distributed.p2p.batches.batch_operations import list_made
from torchlift.rules.distributed.p2p.calls import FunctionName, arguments_of, function_of_call, is_given
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk


class Refused(Exception):
    """Why an exchange is not rewritten, as the rest of a sentence."""


@dataclass(frozen=True, eq=False)
class PlacedOperation:
    """One call of the exchange.

    Attributes:
        handle: the local name its request is bound to, if any.
        listed: the list that the call is written into directly (an element, or the argument of `append`), if any.
    """

    call: ast.Call
    function: FunctionName
    arguments: dict[str, ast.expr]
    statement: ast.stmt
    handle: Binding | None = None
    listed: ast.List | ast.Name | None = None

    @property
    def sends(self) -> bool:
        """Whether it sends; otherwise it receives."""
        return self.function == "isend"


@dataclass
class Waits:
    """Where the requests of an exchange are waited for.

    Attributes:
        block: the statements among which the operations and waits stand.
        singles: statements `handle.wait()` of the block.
        loop: the statement of the block with the loop that waits for all of them.
        looped: what that loop goes over.
        guarded: whether the loop stands in a test that the list is not empty.
        requests: the list that holds the requests, if one does.
    """

    block: list[ast.stmt]
    singles: list[ast.stmt] = field(default_factory=list)
    loop: ast.stmt | None = None
    looped: ast.expr | None = None
    guarded: bool = False
    requests: Binding | None = None


class RequestReader:
    """Reads the operations of one exchange and follows their requests to the waits.

    Every method raises `Refused` where a request may be used for anything else than waiting for it once.
    """

    def __init__(self, view: ModuleView) -> None:
        self.view = view
        self.operations: list[PlacedOperation] = []

    def read(self, calls: list[ast.Call], gloo: bool) -> list[PlacedOperation]:
        """The operations of an exchange, in source order; `gloo` says that tags count."""
        self.operations = [self._operation(call, gloo) for call in calls]
        return self.operations

    def waits(self) -> Waits:
        """Where the requests of the operations are waited for."""
        return self._find_waits([one for one in self.operations if one.function == "recv"])

    def _operation(self, call: ast.Call, gloo: bool) -> PlacedOperation:
        function = function_of_call(self.view, call)
        if function is None:
            raise Refused("an operation of the exchange is not surely a function of torch.distributed.")
        if function == "send":
            raise Refused(f"the blocking `send` on line {call.lineno} orders the exchange.")
        arguments = arguments_of(call, function)
        if arguments is None or "tensor" not in arguments:
            raise Refused(f"the arguments on line {call.lineno} were not all read.")
        if function == "isend" and not is_given(arguments, "dst", "group_dst"):
            raise Refused(f"the send on line {call.lineno} names no receiver.")
        if function != "isend" and not is_given(arguments, "src", "group_src"):
            raise Refused(f"line {call.lineno} receives from any rank, which a batch cannot.")
        tag = arguments.get("tag")
        if tag is not None and not gloo and not (isinstance(tag, ast.Constant) and tag.value == 0):
            raise Refused(f"line {call.lineno} has a tag, which NCCL does not look at.")
        return self._placed(call, function, arguments)

    def _placed(self, call: ast.Call, function: FunctionName, arguments: dict[str, ast.expr]) -> PlacedOperation:
        view, parent = self.view, self.view.parent(call)
        statement = view.statement(call)
        line = call.lineno
        if function == "recv":
            if not isinstance(parent, ast.Expr):
                raise Refused(f"what `recv` returns on line {line} is used, and a batch does not return it.")
            return PlacedOperation(call, function, arguments, statement)
        match parent:
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                return PlacedOperation(call, function, arguments, statement, handle=self._local(target, line))
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name() as name), args=[_], keywords=[]):
                if isinstance(view.parent(parent), ast.Expr):
                    return PlacedOperation(call, function, arguments, statement, listed=name)
            case ast.List():
                return PlacedOperation(call, function, arguments, statement, listed=parent)
            case ast.Expr():
                raise Refused(f"the request of line {line} is dropped, so nothing ever waits for it.")
        raise Refused(f"the request of line {line} is neither bound to a local name nor put in a list.")

    def _local(self, name: ast.Name, line: int) -> Binding:
        binding = self.view.bound_by(name)
        if binding is None or binding.scope is not self.view.scope_at(name) or binding.scope.kind != "function":
            raise Refused(f"`{name.id}` on line {line} is not a local name of a function.")
        return binding

    def _find_waits(self, blocking: list[PlacedOperation]) -> Waits:
        posted = [one for one in self.operations if one.function != "recv"]
        if not posted:
            raise Refused("every operation blocks.")
        sinks: dict[int, ast.List | ast.Tuple | Binding] = {}
        singles: list[ast.stmt] = []
        for one in posted:
            if one.listed is not None:
                sinks[id(one)] = self._list_of(one.listed, one.call.lineno)
            else:
                found, sink = self._uses_of_handle(one)
                singles += found
                if sink is not None:
                    sinks[id(one)] = sink
        if not sinks:
            block = self.view.block(posted[0].statement)
            for one in self.operations:
                if self.view.block(one.statement) is not block:
                    raise Refused("the operations do not stand in one block, so some ranks may run only some.")
            for wait in singles:
                if self.view.block(wait) is not block:
                    raise Refused(f"the wait on line {wait.lineno} stands in another block than the operations.")
            return Waits(block, singles=sorted(singles, key=lambda wait: (wait.lineno, wait.col_offset)))
        different = {id(sink) for sink in sinks.values()}
        if singles or blocking or len(sinks) != len(posted) or len(different) != 1:
            raise Refused("some requests are in a list and some are not.")
        sink = next(iter(sinks.values()))
        return self._drained_literal(sink) if isinstance(sink, (ast.List, ast.Tuple)) else self._drained_list(sink)

    def _uses_of_handle(self, one: PlacedOperation) -> tuple[list[ast.stmt], ast.List | ast.Tuple | Binding | None]:
        """Statements that wait for a request, or the list or display that it is put in."""
        view = self.view
        assert one.handle is not None
        waits: list[ast.stmt] = []
        sink: ast.List | ast.Tuple | Binding | None = None
        for read, certain in view.reads_of(one.handle):
            place = f"`{read.id}` on line {read.lineno}"
            if not certain:
                raise Refused(f"{place} may be another request or none.")
            wait = self._wait_statement(read)
            if wait is not None:
                waits.append(wait)
                continue
            if sink is not None:
                raise Refused(f"{place} is used in more than one way.")
            parent = view.parent(read)
            match parent:
                case ast.Call(func=ast.Attribute(attr="append", value=ast.Name() as name), args=[_], keywords=[]):
                    sink = self._list_of(name, read.lineno)
                    if not isinstance(view.parent(parent), ast.Expr):
                        sink = None
                case ast.List() | ast.Tuple():
                    sink = self._list_of(parent, read.lineno)
            if sink is None:
                raise Refused(f"{place} is used for more than waiting.")
        if not waits and sink is None:
            raise Refused(f"nothing waits for the request of line {one.call.lineno}.")
        if waits and sink is not None:
            raise Refused(f"the request of line {one.call.lineno} is waited for in more than one way.")
        return waits, sink

    def _wait_statement(self, read: ast.Name) -> ast.stmt | None:
        """The statement `read.wait()`, if that is where the name stands."""
        view = self.view
        attribute = view.parent(read)
        call = view.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == "wait" else None
        if isinstance(call, ast.Call) and call.func is attribute:
            if call.args or call.keywords:
                raise Refused(f"the wait on line {call.lineno} has a time limit.")
            statement = view.parent(call)
            if isinstance(statement, ast.Expr):
                return statement
        return None

    def _list_of(self, node: ast.List | ast.Tuple | ast.Name, line: int) -> ast.List | ast.Tuple | Binding:
        """The local list that `node` is, or is assigned to; a display that a loop goes over stands for itself."""
        view = self.view
        if isinstance(node, ast.Name):
            binding = view.definition(node)
            if binding is None or binding.kind != "assign" or binding.scope.kind != "function":
                raise Refused(f"`{node.id}` on line {line} is not a list made in this function.")
            return binding
        parent = view.parent(node)
        match parent:
            case ast.For(iter=iterable) if iterable is node:
                return node
            case ast.comprehension(iter=iterable) if iterable is node:
                return node
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                if isinstance(node, ast.List):
                    return self._local(target, line)
        raise Refused(f"the request of line {line} is put somewhere else.")

    def _drained_literal(self, display: ast.List | ast.Tuple) -> Waits:
        view = self.view
        loop = self._waiting_loop(display)
        if loop is None:
            raise Refused(f"line {display.lineno} does more with the requests than waiting.")
        handles = {one.handle.name for one in self.operations if one.handle is not None}
        names = [element.id for element in display.elts if isinstance(element, ast.Name)]
        if len(names) != len(display.elts) or set(names) != handles or len(names) != len(self.operations):
            raise Refused(f"line {display.lineno} waits for something else too.")
        block = view.block(loop)
        if any(view.block(one.statement) is not block for one in self.operations):
            raise Refused("the operations do not stand in one block, so some ranks may run only some.")
        return Waits(block, loop=loop, looped=display)

    def _waiting_loop(self, iterable: ast.expr) -> ast.stmt | None:
        """The statement `for r in iterable: r.wait()`, or the same as a comprehension."""
        view, parent = self.view, self.view.parent(iterable)
        match parent:
            case ast.For(target=ast.Name(id=name), body=[ast.Expr(value=call)], orelse=[]) if parent.iter is iterable:
                statement: ast.stmt = parent
            case ast.comprehension(target=ast.Name(id=name), ifs=[], is_async=0):
                whole = view.parent(parent)
                outer = view.parent(whole) if isinstance(whole, ast.ListComp) and len(whole.generators) == 1 else None
                if not isinstance(whole, ast.ListComp) or not isinstance(outer, ast.Expr):
                    return None
                call, statement = whole.elt, outer
            case _:
                return None
        match call:
            case ast.Call(func=ast.Attribute(attr="wait", value=ast.Name(id=waited)), args=[], keywords=[]) if (
                waited == name
            ):
                return statement
        return None

    def _drained_list(self, requests: Binding) -> Waits:
        view = self.view
        made, name = requests.statement, requests.name
        order = list_made(requests.value)
        if order is None or made is None:
            raise Refused(f"`{name}` is not a list made in this function.")
        allowed = {id(one.call) for one in self.operations}
        handles = {one.handle for one in self.operations if one.handle is not None}
        loop: ast.stmt | None = None
        looped: ast.expr | None = None
        tests: list[ast.Name] = []
        for read, certain in view.reads_of(requests):
            parent = view.parent(read)
            if not certain:
                raise Refused(f"`{name}` on line {read.lineno} may be another list.")
            call_of = view.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr == "append" else None
            if isinstance(call_of, ast.Call) and call_of.func is parent and len(call_of.args) == 1:
                order.append(call_of.args[0])
                continue
            found = self._waiting_loop(read)
            if found is not None and loop is None:
                loop, looped = found, read
            elif self._tests_emptiness(read):
                tests.append(read)
            else:
                raise Refused(f"`{name}` on line {read.lineno} is used for more than waiting.")
        if loop is None or looped is None:
            raise Refused(f"no loop waits for `{name}`.")
        for element in order:
            known = id(element) in allowed or view.definition(element) in handles
            if not known:
                raise Refused(f"`{name}` holds something else too (line {element.lineno}).")
        self._check_order(order)
        block = view.block(made)
        outer = statement_of(view, loop, block)
        holders = [ancestor for ancestor in view.ancestors(loop) if isinstance(ancestor, ast.stmt)]
        holders = holders[: next((i for i, a in enumerate(holders) if a is view.parent(made)), len(holders))]
        for holder in holders:
            asks = isinstance(holder, ast.If) and any(node in tests for node in walk(holder.test))
            if not asks or not isinstance(holder, ast.If) or not any(loop in walk(item) for item in holder.body):
                raise Refused(f"the loop on line {loop.lineno} may wait more than once or not at all.")
        for test in tests:
            if not any(isinstance(holder, ast.If) and test in list(walk(holder.test)) for holder in holders):
                raise Refused(f"`{name}` on line {test.lineno} is used for more than waiting.")
        if any(isinstance(holder, ast.If) and (holder.orelse or len(holder.body) != 1) for holder in holders):
            raise Refused(f"more than the waiting depends on `{name}`.")
        for one in self.operations:
            self._check_path(one.statement, block)
        return Waits(block, loop=outer, looped=looped, guarded=bool(tests), requests=requests)

    def _tests_emptiness(self, read: ast.Name) -> bool:
        """Whether `if read`, `if len(read)` or `if len(read) > 0` is where the name stands."""
        node: ast.AST = read
        parent = self.view.parent(node)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
            node, parent = parent, self.view.parent(parent)
            match parent:
                case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]) if (
                    left is node
                ):
                    node, parent = parent, self.view.parent(parent)
        return isinstance(parent, ast.If) and parent.test is node

    def _check_order(self, order: list[ast.expr]) -> None:
        """Requests of one direction have to be in the list in the order in which they were posted."""
        for sends in (True, False):
            posted = [one for one in self.operations if one.sends is sends]
            listed = [self._index(element, posted) for element in sorted(order, key=lambda e: (e.lineno, e.col_offset))]
            known = [index for index in listed if index is not None]
            if known != sorted(known) or len(set(known)) != len(known):
                raise Refused("the requests are put in the list in another order than they are posted in.")

    def _index(self, element: ast.expr, posted: list[PlacedOperation]) -> int | None:
        for index, one in enumerate(posted):
            if one.call is element or (one.handle is not None and self.view.definition(element) is one.handle):
                return index
        return None

    def _check_path(self, statement: ast.stmt, block: list[ast.stmt]) -> None:
        current = statement
        while not any(item is current for item in block):
            parent = self.view.parent(current)
            if not isinstance(parent, (ast.If, ast.For)):
                raise Refused(f"line {statement.lineno} stands in more than conditions and loops.")
            current = parent


def statement_of(view: ModuleView, statement: ast.stmt, block: list[ast.stmt]) -> ast.stmt:
    """The statement of `block` that holds `statement`.

    Raises:
        Refused: there is none.
    """
    current: ast.AST = statement
    while not any(item is current for item in block):
        parent = view.parent(current)
        if parent is None or isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise Refused(f"line {statement.lineno} stands outside the block of the exchange.")
        current = parent
    assert isinstance(current, ast.stmt)
    return current
