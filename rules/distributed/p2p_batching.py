"""The rewrite of unbatched point-to-point operations into one `batch_isend_irecv`.

`h = dist.isend(t, dst=p)` becomes `h = dist.P2POp(dist.isend, t, peer=p)` where it stands, so everything is evaluated in the
old order; the operations are posted together where the last one was (or where the first wait is, if nothing happens in
between), and one loop takes the place of the first wait. All other waits go: waiting twice for a request of gloo hangs
(measured, torch 2.13 and 2.15).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torchlift.finding import (
    DeleteStatement,
    EditCall,
    Fix,
    InsertStatements,
    ReplaceExpression,
    Rewrite,
    Safety,
    Template,
)
from torchlift.rules.distributed.p2p_calls import (
    POINT_TO_POINT,
    RECV_PARAMETERS,
    SEND_PARAMETERS,
    Function,
    function_of_call,
    group_key,
    is_given,
    named_arguments,
)
from torchlift.rules.distributed.quiet_code import effects
from torchlift.view import Binding, ModuleView, Use

_RENAMED = {"dst": "peer", "src": "peer", "group_dst": "group_peer", "group_src": "group_peer"}
_DIRECTIVES = re.compile(r"#\s*(?:noqa|type:|pylint:|fmt:|pragma|mypy:|pyright:)", re.IGNORECASE)
CLOSED = (
    "every rank of the group has to run this exchange, with at least one operation, and every send in it has to be received "
    "in it"
)
"""What `batch_fix` assumes unless the caller has checked it."""


@dataclass(frozen=True)
class BatchPlan:
    """How an exchange is batched.

    Attributes:
        fix: the rewrites; safe if nothing is assumed.
        assumptions: clauses for "Needs review: ...".
    """

    fix: Fix
    assumptions: tuple[str, ...]


class _Refused(Exception):
    """The sentence why an exchange is not rewritten."""


def batch_fix(view: ModuleView, calls: Sequence[ast.Call], *, safe: bool = False, gloo: bool = False) -> Fix | str:
    """The fix of `plan_batch`, or the sentence why there is none."""
    plan = plan_batch(view, calls, safe=safe, gloo=gloo)
    return plan if isinstance(plan, str) else plan.fix


def plan_batch(
    view: ModuleView, calls: Sequence[ast.Call], *, safe: bool = False, gloo: bool = False
) -> BatchPlan | str:
    """How the operations of one exchange are batched, or the sentence why they are not.

    Args:
        view: the file.
        calls: every `isend`, `irecv` and blocking `recv` of the exchange, all in one function.
        safe: whether the caller knows, from running the exchange for several numbers of ranks, that every send among
            `calls` meets a receive among `calls` and the other way round, and that every rank of the group that gets there
            posts at least one of them. Otherwise it is assumed, and the fix needs review.
        gloo: whether the group surely is on gloo, which is the only backend that keeps tags apart.
    """
    try:
        return _Exchange(view, sorted(calls, key=lambda call: (call.lineno, call.col_offset)), gloo).plan(safe)
    except _Refused as refusal:
        return str(refusal)


@dataclass(frozen=True, eq=False)
class _Operation:
    """One call of the exchange.

    Attributes:
        handle: the local name its request is bound to, if any.
        listed: the list that the call is written into directly (an element, or the argument of `append`), if any.
    """

    call: ast.Call
    function: Function
    arguments: dict[str, ast.expr]
    statement: ast.stmt
    handle: Binding | None = None
    listed: ast.List | ast.Name | None = None

    @property
    def sends(self) -> bool:
        return self.function == "isend"


@dataclass
class _Waits:
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


class _Exchange:
    def __init__(self, view: ModuleView, calls: list[ast.Call], gloo: bool) -> None:
        self.view = view
        self.uses = {use.call: use for use in view.uses(POINT_TO_POINT) if use.call is not None}
        self.operations = [self._operation(call, gloo) for call in calls]
        self.calls = [operation.call for operation in self.operations]
        self.assumptions: list[str] = []
        self.rewrites: dict[Rewrite, None] = {}

    def plan(self, safe: bool) -> BatchPlan:
        if not safe:
            self.assumptions.append(CLOSED)
        self._check_operations()
        blocking = [operation for operation in self.operations if operation.function == "recv"]
        waits = self._find_waits(blocking)
        self._check_circumstances(waits.block)
        tops = [self._top(operation.statement, waits.block) for operation in self.operations]
        self._check_before_last(waits.block, tops, blocking)
        if waits.requests is not None or waits.looped is not None:
            self._write_loop(waits, tops)
        else:
            self._write_singles(waits, tops, blocking)
        safety = Safety.UNSAFE if self.assumptions else Safety.SAFE
        fix = Fix("Post the operations as one batch", safety, tuple(self.rewrites))
        return BatchPlan(fix, tuple(self.assumptions))

    # Reading

    def _operation(self, call: ast.Call, gloo: bool) -> _Operation:
        function = function_of_call(self.view, call)
        if function is None or call not in self.uses:
            raise _Refused("Not rewritten: an operation of the exchange is not surely a function of torch.distributed.")
        if function == "send":
            raise _Refused(f"Not rewritten: the blocking `send` on line {call.lineno} orders the exchange.")
        arguments = named_arguments(call, SEND_PARAMETERS if function == "isend" else RECV_PARAMETERS)
        if arguments is None or "tensor" not in arguments:
            raise _Refused(f"Not rewritten: the arguments on line {call.lineno} are not all visible.")
        if function == "isend" and not is_given(arguments, "dst", "group_dst"):
            raise _Refused(f"Not rewritten: the send on line {call.lineno} names no receiver.")
        if function != "isend" and not is_given(arguments, "src", "group_src"):
            raise _Refused(f"Not rewritten: line {call.lineno} receives from any rank, which a batch cannot.")
        tag = arguments.get("tag")
        if tag is not None and not gloo and not (isinstance(tag, ast.Constant) and tag.value == 0):
            raise _Refused(f"Not rewritten: line {call.lineno} has a tag, which NCCL does not look at.")
        return self._placed(call, function, arguments)

    def _placed(self, call: ast.Call, function: Function, arguments: dict[str, ast.expr]) -> _Operation:
        view, parent = self.view, self.view.parent(call)
        statement = view.statement(call)
        line = call.lineno
        if function == "recv":
            if not isinstance(parent, ast.Expr):
                raise _Refused(
                    f"Not rewritten: what `recv` returns on line {line} is used, and a batch does not return it."
                )
            return _Operation(call, function, arguments, statement)
        match parent:
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                return _Operation(call, function, arguments, statement, handle=self._local(target, line))
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name() as name), args=[_], keywords=[]):
                if isinstance(view.parent(parent), ast.Expr):
                    return _Operation(call, function, arguments, statement, listed=name)
            case ast.List():
                return _Operation(call, function, arguments, statement, listed=parent)
            case ast.Expr():
                raise _Refused(f"Not rewritten: the request of line {line} is dropped, so nothing ever waits for it.")
        raise _Refused(f"Not rewritten: the request of line {line} is neither bound to a local name nor put in a list.")

    def _local(self, name: ast.Name, line: int) -> Binding:
        scope = self.view.scope_at(name)
        owner = scope.lookup(name.id)
        if owner is None or owner is not scope or owner.kind != "function":
            raise _Refused(f"Not rewritten: `{name.id}` on line {line} is not a local name of a function.")
        return next(binding for binding in owner.bindings[name.id] if binding.node is name)

    def _check_operations(self) -> None:
        view, operations = self.view, self.operations
        functions = {view.function_of(call) for call in self.calls}
        if len(functions) != 1 or None in functions:
            raise _Refused("Not rewritten: the operations do not stand in one function.")
        if not any(one.sends for one in operations) or all(one.sends for one in operations):
            raise _Refused(
                "Not rewritten: the other side of these operations stands elsewhere, and both have to change."
            )
        if len({group_key(view, one.arguments.get("group")) for one in operations}) != 1:
            raise _Refused("Not rewritten: the operations are written with different groups.")
        tensors = {one.sends: set() for one in operations}  # type: dict[bool, set[str]]
        for one in operations:
            tensors[one.sends].add(ast.dump(one.arguments["tensor"]))
        if tensors[True] & tensors[False]:
            raise _Refused("Not rewritten: a tensor is sent and received into at the same time.")

    # Waits

    def _find_waits(self, blocking: list[_Operation]) -> _Waits:
        posted = [one for one in self.operations if one.function != "recv"]
        if not posted:
            raise _Refused("Not rewritten: every operation blocks.")
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
                    raise _Refused(
                        "Not rewritten: the operations do not stand in one block, so some ranks may run only some."
                    )
            for wait in singles:
                if self.view.block(wait) is not block:
                    raise _Refused(
                        f"Not rewritten: the wait on line {wait.lineno} stands in another block than the operations."
                    )
            return _Waits(block, singles=sorted(singles, key=lambda wait: (wait.lineno, wait.col_offset)))
        different = {id(sink) for sink in sinks.values()}
        if singles or blocking or len(sinks) != len(posted) or len(different) != 1:
            raise _Refused("Not rewritten: some requests are in a list and some are not.")
        sink = next(iter(sinks.values()))
        return self._drained_literal(sink) if isinstance(sink, (ast.List, ast.Tuple)) else self._drained_list(sink)

    def _uses_of_handle(self, one: _Operation) -> tuple[list[ast.stmt], ast.List | ast.Tuple | Binding | None]:
        """Statements that wait for a request, or the list or display that it is put in."""
        view = self.view
        assert one.handle is not None
        waits: list[ast.stmt] = []
        sink: ast.List | ast.Tuple | Binding | None = None
        for read, certain in view.reads_of(one.handle):
            place = f"`{read.id}` on line {read.lineno}"
            if not certain:
                raise _Refused(f"Not rewritten: {place} may be another request or none.")
            wait = self._wait_statement(read)
            if wait is not None:
                waits.append(wait)
                continue
            if sink is not None:
                raise _Refused(f"Not rewritten: {place} is used in more than one way.")
            parent = view.parent(read)
            match parent:
                case ast.Call(func=ast.Attribute(attr="append", value=ast.Name() as name), args=[_], keywords=[]):
                    sink = self._list_of(name, read.lineno)
                    if not isinstance(view.parent(parent), ast.Expr):
                        sink = None
                case ast.List() | ast.Tuple():
                    sink = self._list_of(parent, read.lineno)
            if sink is None:
                raise _Refused(f"Not rewritten: {place} is used for more than waiting.")
        if not waits and sink is None:
            raise _Refused(f"Not rewritten: nothing waits for the request of line {one.call.lineno}.")
        if waits and sink is not None:
            raise _Refused(f"Not rewritten: the request of line {one.call.lineno} is waited for in more than one way.")
        return waits, sink

    def _wait_statement(self, read: ast.Name) -> ast.stmt | None:
        """The statement `read.wait()`, if that is where the name stands."""
        view = self.view
        attribute = view.parent(read)
        call = view.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == "wait" else None
        if isinstance(call, ast.Call) and call.func is attribute:
            if call.args or call.keywords:
                raise _Refused(f"Not rewritten: the wait on line {call.lineno} has a time limit.")
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
                raise _Refused(f"Not rewritten: `{node.id}` on line {line} is not a list made in this function.")
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
        raise _Refused(f"Not rewritten: the request of line {line} is put somewhere else.")

    def _drained_literal(self, display: ast.List | ast.Tuple) -> _Waits:
        view = self.view
        loop = self._waiting_loop(display)
        if loop is None:
            raise _Refused(f"Not rewritten: line {display.lineno} does more with the requests than waiting.")
        handles = {one.handle.name for one in self.operations if one.handle is not None}
        names = [element.id for element in display.elts if isinstance(element, ast.Name)]
        if len(names) != len(display.elts) or set(names) != handles or len(names) != len(self.operations):
            raise _Refused(f"Not rewritten: line {display.lineno} waits for something else too.")
        block = view.block(loop)
        if any(view.block(one.statement) is not block for one in self.operations):
            raise _Refused("Not rewritten: the operations do not stand in one block, so some ranks may run only some.")
        return _Waits(block, loop=loop, looped=display)

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

    def _drained_list(self, requests: Binding) -> _Waits:
        view = self.view
        made, name = requests.statement, requests.name
        empty = isinstance(requests.value, ast.Call) and isinstance(requests.value.func, ast.Name)
        if empty:
            assert isinstance(requests.value, ast.Call) and isinstance(requests.value.func, ast.Name)
            call = requests.value
            if requests.value.func.id != "list" or call.args or call.keywords:
                raise _Refused(f"Not rewritten: `{name}` is not a list made in this function.")
        elif not isinstance(requests.value, ast.List):
            raise _Refused(f"Not rewritten: `{name}` is not a list made in this function.")
        assert made is not None
        allowed = {id(one.call) for one in self.operations}
        handles = {one.handle for one in self.operations if one.handle is not None}
        order = list(requests.value.elts) if isinstance(requests.value, ast.List) else []
        loop: ast.stmt | None = None
        looped: ast.expr | None = None
        tests: list[ast.Name] = []
        for read, certain in view.reads_of(requests):
            parent = view.parent(read)
            if not certain:
                raise _Refused(f"Not rewritten: `{name}` on line {read.lineno} may be another list.")
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
                raise _Refused(f"Not rewritten: `{name}` on line {read.lineno} is used for more than waiting.")
        if loop is None or looped is None:
            raise _Refused(f"Not rewritten: no loop waits for `{name}`.")
        for element in order:
            known = id(element) in allowed or view.definition(element) in handles
            if not known:
                raise _Refused(f"Not rewritten: `{name}` holds something else too (line {element.lineno}).")
        self._check_order(order)
        block = view.block(made)
        outer = self._top(loop, block)
        holders = [ancestor for ancestor in view.ancestors(loop) if isinstance(ancestor, ast.stmt)]
        holders = holders[: next((i for i, a in enumerate(holders) if a is view.parent(made)), len(holders))]
        for holder in holders:
            inside = isinstance(holder, ast.If) and any(node in tests for node in ast.walk(holder.test))
            if (
                not inside
                or not isinstance(holder, ast.If)
                or not any(loop is item for item in ast.walk(ast.Module(holder.body, [])))
            ):
                raise _Refused(f"Not rewritten: the loop on line {loop.lineno} may wait more than once or not at all.")
        for test in tests:
            if not any(isinstance(holder, ast.If) and test in list(ast.walk(holder.test)) for holder in holders):
                raise _Refused(f"Not rewritten: `{name}` on line {test.lineno} is used for more than waiting.")
        if any(isinstance(holder, ast.If) and (holder.orelse or len(holder.body) != 1) for holder in holders):
            raise _Refused(f"Not rewritten: more than the waiting depends on `{name}`.")
        for one in self.operations:
            self._check_path(one.statement, block)
        return _Waits(block, loop=outer, looped=looped, guarded=bool(tests), requests=requests)

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
                raise _Refused(
                    "Not rewritten: the requests are put in the list in another order than they are posted in."
                )

    def _index(self, element: ast.expr, posted: list[_Operation]) -> int | None:
        for index, one in enumerate(posted):
            if one.call is element or (one.handle is not None and self.view.definition(element) is one.handle):
                return index
        return None

    def _check_path(self, statement: ast.stmt, block: list[ast.stmt]) -> None:
        current = statement
        while not any(item is current for item in block):
            parent = self.view.parent(current)
            if not isinstance(parent, (ast.If, ast.For)):
                raise _Refused(f"Not rewritten: line {statement.lineno} stands in more than conditions and loops.")
            current = parent

    def _top(self, statement: ast.stmt, block: list[ast.stmt]) -> ast.stmt:
        """The statement of `block` that holds `statement`."""
        current: ast.AST = statement
        while not any(item is current for item in block):
            parent = self.view.parent(current)
            if parent is None or isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                raise _Refused(f"Not rewritten: line {statement.lineno} stands outside the block of the exchange.")
            current = parent
        assert isinstance(current, ast.stmt)
        return current

    # What stands around and in between

    def _check_circumstances(self, block: list[ast.stmt]) -> None:
        """The branch that holds the exchange has to be one that no rank takes alone."""
        view = self.view
        for ancestor in view.ancestors(block[0]):
            match ancestor:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return
                case ast.If(test=test) | ast.While(test=test):
                    decides: ast.expr | None = None if _is_membership(test) else test
                case ast.For(iter=decides) | ast.Match(subject=decides):
                    pass
                case ast.With(items=items):
                    decides = None
                    for item in items:
                        function = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
                        resolution = view.resolve(function) if function is not None else None
                        if resolution is not None and resolution.name.startswith("torch.distributed."):
                            raise _Refused(
                                f"Not rewritten: line {ancestor.lineno} puts the operations together already."
                            )
                case _:
                    decides = None
            if decides is not None and isinstance(ancestor, ast.stmt) and self._depends_on_rank(decides):
                raise _Refused(
                    f"Not rewritten: the ranks part ways on line {ancestor.lineno}, and both sides of an exchange have to "
                    "change together."
                )

    def _depends_on_rank(self, test: ast.expr, depth: int = 4) -> bool:
        view = self.view
        for node in ast.walk(test):
            if isinstance(node, (ast.Name, ast.Attribute)):
                word = node.id if isinstance(node, ast.Name) else node.attr
                if re.search(r"(?:^|_)(?:rank|stage|first|last)(?:_|$)", word.lower()):
                    return True
            if isinstance(node, ast.Constant) and node.value in ("RANK", "LOCAL_RANK"):
                return True
            binding = view.definition(node) if isinstance(node, ast.Name) and depth else None
            value = binding.value if binding is not None and binding.kind == "assign" else None
            if value is not None and self._depends_on_rank(value, depth - 1):
                return True
        return False

    def _check_before_last(self, block: list[ast.stmt], tops: list[ast.stmt], blocking: list[_Operation]) -> None:
        """What runs between the first and the last operation must not matter to any of them."""
        view = self.view
        places = [block.index(top) for top in tops]
        if places != sorted(places):
            raise _Refused("Not rewritten: the operations do not stand in the order they run in.")
        first, last = places[0], places[-1]
        between = block[first : last + 1]
        # What the first operation is made from is evaluated before it, then as now.
        parts: list[ast.AST] = [*between]
        if tops[0] is self.operations[0].statement and isinstance(tops[0], (ast.Assign, ast.AnnAssign, ast.Expr)):
            same = [one for one in self.operations if one.statement is tops[0]]
            parts = [*between[1:], *(argument for one in same[1:] for argument in one.arguments.values())]
        appends = [
            node
            for statement in between
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
            and isinstance(node.func.value, ast.Name)
        ]  # fmt: skip
        found = effects(view, parts, [*self.calls, *appends])
        if found.obstacle:
            raise _Refused(f"Not rewritten: {found.obstacle} between the operations (line {found.line}).")
        if found.leaves:
            raise _Refused("Not rewritten: the function may be left between the operations.")
        for text in dict.fromkeys(found.unknown):
            self.assumptions.append(f"`{text}` must not communicate or change a tensor of the exchange")
        key = self.operations[0].arguments.get("group")
        names = {node.id for node in ast.walk(key) if isinstance(node, ast.Name)} if key is not None else set()
        stored = {
            node.id
            for statement in between
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        if names & stored:
            raise _Refused("Not rewritten: the group is another one by the time of the last operation.")
        if blocking:
            self._check_blocking(block, tops, blocking)

    def _check_blocking(self, block: list[ast.stmt], tops: list[ast.stmt], blocking: list[_Operation]) -> None:
        """Blocking receives end the exchange, one right behind the other, and none needs what another has received."""
        if self.operations[-len(blocking) :] != blocking:
            raise _Refused(
                "Not rewritten: a blocking `recv` stands before another operation, which may need what it receives."
            )
        places = [block.index(top) for top in tops[-len(blocking) :]]
        if places != list(range(places[0], places[0] + len(places))):
            raise _Refused(
                "Not rewritten: something stands between two blocking `recv`, which may need what was received."
            )
        received: set[str] = set()
        for one in blocking:
            tensor = one.arguments["tensor"]
            base: ast.expr = tensor
            indexes: list[ast.expr] = []
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                if isinstance(base, ast.Subscript):
                    indexes.append(base.slice)
                base = base.value
            others = [value for name, value in one.arguments.items() if name != "tensor"]
            read = {node.id for part in (*indexes, *others) for node in ast.walk(part) if isinstance(node, ast.Name)}
            if received and (
                read & received
                or any(isinstance(node, ast.Call) for node in ast.walk(one.call) if node is not one.call)
            ):
                raise _Refused("Not rewritten: a blocking `recv` may need what the one before it has received.")
            received |= {node.id for node in ast.walk(tensor) if isinstance(node, ast.Name)}

    def _check_waiting(
        self, between: Sequence[ast.stmt], behind: Sequence[ast.stmt], waits: Sequence[ast.stmt]
    ) -> bool:
        """Whether nothing at all happens between the last operation and the first wait.

        `between` and `behind` are the statements before and after the first wait.
        """
        found = effects(self.view, between)
        after = effects(self.view, [statement for statement in behind if statement not in waits])
        for one in (found, after):
            if one.communicates:
                raise _Refused(f"Not rewritten: {one.obstacle} before all requests are waited for (line {one.line}).")
        may_leave = found.leaves or any(
            isinstance(node, ast.Try) for statement in between for node in ast.walk(statement)
        )
        group = self.operations[0].arguments.get("group")
        if may_leave and group_key(self.view, group):
            # Otherwise a rank outside the group would have failed at the wait: its request is None.
            self.assumptions.append(
                f"this rank has to be a member of `{self.view.text(group)}`" if group is not None else ""
            )
        return found.quiet

    # Writing

    def _spell(self, name: str, at: ast.AST, like: Use | None = None) -> str:
        spelling = self.view.spell(name, at, like or self.uses[self.calls[0]])
        if spelling is None:
            raise _Refused(f"Not rewritten: `{name}` cannot be written here with the names this file has.")
        self._add(*spelling.imports)
        return spelling.text

    def _add(self, *rewrites: Rewrite) -> None:
        self.rewrites.update(dict.fromkeys(rewrites))

    def _write_operation(self, one: _Operation, outer: str | None = None) -> None:
        view, call = self.view, one.call
        use = self.uses[call]
        op = self._spell("torch.distributed.irecv", call, use) if one.function == "recv" else view.text(call.func)
        written = {keyword.arg for keyword in call.keywords}
        self._add(
            EditCall(
                view.span(call),
                function=Template(self._spell("torch.distributed.P2POp", call, use)),
                callee=view.span(call.func),
                rename=tuple((old, new) for old, new in _RENAMED.items() if old in written),
                first=Template(op),
                outer=outer,
            )
        )

    def _write_singles(self, waits: _Waits, tops: list[ast.stmt], blocking: list[_Operation]) -> None:
        view, block, singles = self.view, waits.block, waits.singles
        last = block.index(tops[-1])
        places = [block.index(wait) for wait in singles]
        if min(places) < last:
            raise _Refused("Not rewritten: a request is waited for before the last operation is posted.")
        first = singles[places.index(min(places))]
        names: list[str] = []
        taken: set[str] = set()
        for one in self.operations:
            if one.handle is not None:
                names.append(one.handle.name)
                self._write_operation(one)
            else:
                name = self._fresh("received", taken)
                names.append(name)
                self._write_operation(one, outer=f"{name} = $call")
        if len(set(names)) != len(names):
            raise _Refused("Not rewritten: one name is bound to several requests.")
        self._annotations()
        here = tops[-1] if blocking else first
        batch = f"{self._spell('torch.distributed.batch_isend_irecv', here)}([{', '.join(names)}])"
        request = self._fresh("req", taken)
        if blocking:
            self._check_waiting((), block[last + 1 : max(places)], singles)
            self._own_lines(tops[-1])
            self._own_lines(blocking[0].statement)
            lines = (f"for {request} in {batch}:", f"{self._indent(here)}{request}.wait()")
            self._add(InsertStatements(view.span(tops[-1]), lines))
            self._delete(singles)
            return
        if self._check_waiting(block[last + 1 : min(places)], block[min(places) + 1 : max(places) + 1], singles):
            source = batch
        else:
            source = self._fresh("requests", taken)
            self._own_lines(tops[-1])
            self._add(InsertStatements(view.span(tops[-1]), (f"{source} = {batch}",)))
        self._own_lines(first, singles)
        lines = (f"for {request} in {source}:", f"{self._indent(here)}{request}.wait()")
        self._add(InsertStatements(view.span(first), lines))
        self._add(DeleteStatement(view.span(first)))
        self._delete([wait for wait in singles if wait is not first])

    def _write_loop(self, waits: _Waits, tops: list[ast.stmt]) -> None:
        view, block = self.view, waits.block
        assert waits.loop is not None and waits.looped is not None
        last, place = block.index(tops[-1]), block.index(waits.loop)
        if place <= last:
            raise _Refused("Not rewritten: the requests are waited for before the last operation is posted.")
        for one in self.operations:
            self._write_operation(one)
        self._annotations(waits.requests)
        batch = self._spell("torch.distributed.batch_isend_irecv", waits.looped)
        quiet = self._check_waiting(block[last + 1 : place], (), ())
        if waits.requests is None:
            names = [one.handle.name for one in self.operations if one.handle is not None]
            text = f"{batch}([{', '.join(names)}])"
        else:
            never_empty = any(one.statement is top for one, top in zip(self.operations, tops, strict=True))
            text = f"{batch}({waits.requests.name})"
            if not never_empty and not (waits.guarded and quiet):
                text += f" if {waits.requests.name} else []"
        if quiet:
            self._add(ReplaceExpression(view.span(waits.looped), Template(text), bare=True))
            return
        source = self._fresh("works", set())
        self._own_lines(tops[-1])
        self._add(InsertStatements(view.span(tops[-1]), (f"{source} = {text}",)))
        self._add(ReplaceExpression(view.span(waits.looped), Template(source)))

    def _annotations(self, requests: Binding | None = None) -> None:
        """`Work` in the annotations of names that now hold operations becomes `P2POp`."""
        bound = [one.handle for one in self.operations if one.handle is not None] + ([requests] if requests else [])
        for binding in bound:
            if isinstance(binding.statement, ast.AnnAssign):
                for node in self._works(binding.statement.annotation):
                    self._add(
                        ReplaceExpression(self.view.span(node), Template(self._spell("torch.distributed.P2POp", node)))
                    )

    def _works(self, annotation: ast.expr) -> Iterator[ast.expr]:
        for node in ast.walk(annotation):
            if isinstance(node, (ast.Name, ast.Attribute)):
                resolution = self.view.resolve(node)
                if resolution is not None and resolution.name == "torch.distributed.Work":
                    yield node

    def _fresh(self, base: str, taken: set[str]) -> str:
        """A name that the function does not use for anything yet."""
        function = self.view.function_of(self.calls[0])
        assert function is not None
        for node in ast.walk(function):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                    taken.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    taken.add(name)
                case ast.alias():
                    taken.add((node.asname or node.name).partition(".")[0])
                case _:
                    pass
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        return name

    def _indent(self, at: ast.AST) -> str:
        """One step of indentation, as the block around `at` has it."""
        view = self.view
        statement = view.statement(at)
        inner = view.source.indentation(view.span(statement).start)
        parent = view.parent(statement)
        outer = view.source.indentation(view.span(parent).start) if isinstance(parent, ast.stmt) else ""
        step = inner.removeprefix(outer)
        return step or "    "

    def _own_lines(self, statement: ast.stmt, others: Sequence[ast.stmt] = ()) -> None:
        """Refuse a statement that shares its lines with other code than `others`."""
        view, source = self.view, self.view.source
        span = view.span(statement)
        start = source.line_starts[source.location(span.start)[0] - 1]
        end_line = source.location(span.end)[0]
        end = source.line_starts[end_line] if end_line < len(source.line_starts) else len(source.text)
        before, after = source.text[start : span.start], source.text[span.end : end]
        for other in others:
            if other is not statement and span.end <= view.span(other).start < end:
                after = after.replace(view.text(other), "")
        after = after.strip("; \t\f\r\n")
        if before.strip() or (after and not after.startswith("#")):
            raise _Refused(f"Not rewritten: line {statement.lineno} holds other code too.")

    def _delete(self, statements: Sequence[ast.stmt]) -> None:
        """Remove waits; what a comment behind one of them says stays."""
        source = self.view.source
        for statement in statements:
            span = self.view.span(statement)
            line = source.location(span.end)[0]
            end = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
            behind = source.text[span.end : end].strip()
            alone = not source.text[source.line_starts[line - 1] : span.start].strip()
            if alone and behind.startswith("#") and not _DIRECTIVES.match(behind):
                self._add(InsertStatements(span, (behind,), "before"))
            self._add(DeleteStatement(span))


def _is_membership(test: ast.expr) -> bool:
    """Whether a test is `x in members`: what only the members of a group run."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)
