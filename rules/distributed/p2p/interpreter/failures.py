"""`try` and `with`: what is bound where an error in the middle is caught.

A block is read as if nothing in it failed, for that is what code is written for: what it posts is posted. What it binds
is another thing: any call, item or operator of an unknown value may raise an exception, so behind the block each name may be
what it was at any of these places, and lists and objects that were changed in between may not have been. A
`rank_state.Landing` collects that.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from torchlift.rules.analysis.places.order import running
from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.ends import End, Flow, Landing
from torchlift.rules.distributed.p2p.interpreter.keys import node_text
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    Class,
    Coalescing,
    CodeRaises,
    Doubt,
    Ended,
    External,
    Frame,
    Function,
    Instance,
    Level,
    Open,
    Unknown,
    Value,
    holds_handle,
    is_plain,
    join,
)
from torchlift.view.walk import walk

_LET_PASS = (
    "torch.", "builtins.open", "threading.", "tempfile.", "warnings.", "contextlib.nullcontext", "contextlib.closing",
    "contextlib.redirect_std", "multiprocessing.", "time.", "os.", "pathlib.", "decimal.", "socket.",
)  # fmt: skip
"""Context managers that let every exception pass."""
_CATCH = ("contextlib.suppress", "pytest.raises")


class Failures(RankState):
    """`try` and `with`: what is bound where an error in the middle is caught."""

    def _try(self, node: Any, frame: Frame) -> Flow:
        error = None
        flow: Flow | None
        with self._landing(frame) as landing:
            try:
                flow = self._block(node.body, frame)
            except CodeRaises as caught:
                flow, error = Flow.NEXT, caught
            if error is not None and node.handlers:
                raise Open(f"an error in the `try` in line {node.lineno} is handled: {error}")
            ends = _Ends(self, landing, node.lineno)
            flags = self._flags(node, frame)
            if error is None and flow is Flow.NEXT:
                try:
                    flow = self._block(node.orelse, frame)
                except CodeRaises:
                    if landing.values is None or not node.handlers:
                        raise
                    flow = None
        if flow is None:
            self._may_fail()
        if error is None and landing.values is not None and node.handlers:
            flow = ends.joined(flow, node.handlers, frame)
        for owner, name in flags:
            owner.values[name] = Unknown(Level.UNIFORM, name, f"`{name}` is set in a `try`")
        assert flow is not None
        return self._finally(node, frame, flow, error, landing)

    def _finally(self, node: Any, frame: Frame, flow: Flow, error: CodeRaises | None, landing: Landing) -> Flow:
        if not node.finalbody:
            if error is not None:
                raise error
            return flow
        result, values = frame.result, frame.values
        thrown: list[End] = []
        leaves = any(isinstance(inner, (ast.Return, ast.Break, ast.Continue)) for inner in running(node.finalbody))
        if landing.values is not None and (self._landings or leaves) and not self._matters(node.finalbody, frame):
            doubt = Doubt(_condition(landing, node.lineno), node.lineno, is_error=True)
            frame.values = dict(landing.values)
            with self._doubting(doubt), suppress(CodeRaises, Ended):
                last = self._block(node.finalbody, frame)
                if last is not Flow.NEXT:
                    thrown.append((doubt, last, frame.values, frame.result))
            self._may_fail()
            frame.values, frame.result = values, result
        last = self._block(node.finalbody, frame)
        if last is Flow.NEXT and error is not None:
            raise error
        if last is Flow.NEXT:
            last, frame.result = flow, result
        if thrown:
            last = self._merge([(thrown[0][0], last, frame.values, frame.result), *thrown], frame)
        return last

    def _flags(self, node: Any, frame: Frame) -> list[tuple[Frame, str]]:
        """`HAS_X = True` in a `try` and False in its handler is unknown, and the same on every rank."""
        found = []
        for handler in node.handlers:
            for statement in handler.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool(value))):
                        owner = frame.owner(name) or frame
                        if isinstance(owner.values.get(name), bool) and owner.values[name] is not value:
                            found.append((owner, name))
        return found

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> Flow:
        managers: list[Value] = []
        catches = 0
        for item in node.items:
            value = self._eval(item.context_expr, frame)
            managers.append(value)
            if isinstance(value, Unknown):
                self._may_fail()
            catches = max(catches, self._catches(item.context_expr, value, frame))
            entered = self._entered(value)
            if item.optional_vars is not None:
                self._store(item.optional_vars, entered, frame)
        if not catches:
            flow = self._block(node.body, frame)
            self._left(managers, node)
            return flow
        with self._landing(frame) as landing:
            try:
                flow = self._block(node.body, frame)
            except CodeRaises as error:
                if catches == _SURELY:
                    raise Open(f"an error in the `with` in line {node.lineno} is handled: {error}") from None
                raise
        ends = _Ends(self, landing, node.lineno, surely=catches == _SURELY)
        if landing.values is not None:
            flow = ends.joined(flow, None, frame)
        self._left(managers, node)
        return flow

    def _left(self, managers: Sequence[Value], node: ast.With | ast.AsyncWith) -> None:
        for value in reversed(managers):
            if isinstance(value, Coalescing):
                self.communication.close_manager(node.lineno)
            elif isinstance(value, Instance) and value.of is not None:
                method = self._find_method(value.of, "__exit__")
                if method is not None:
                    self._call_function(method, [value, None, None, None], {}, method.node)

    def _entered(self, value: Value) -> Value:
        if isinstance(value, Instance) and value.of is not None:
            method = self._find_method(value.of, "__enter__")
            if method is not None and isinstance(method.node, FunctionNode):
                return self._call_function(method, [value], {}, method.node)
        if isinstance(value, Unknown) and any(isinstance(part, Function) for part in value.candidates):
            return self._element(value, "entered")
        return value

    def _catches(self, node: ast.expr, value: Value, frame: Frame) -> int:
        """Whether a context manager may catch errors: `_SURELY` where that is what it is for."""
        if isinstance(value, Instance) and value.of is not None:
            method = self._find_method(value.of, "__exit__")
            if method is None:
                return _SURELY
            given = [inner.value for inner in walk(method.node) if isinstance(inner, ast.Return)]
            passes = all(v is None or (isinstance(v, ast.Constant) and not v.value) for v in given)
            return 0 if passes else _SURELY
        if not isinstance(value, Unknown):
            return 0
        for part in value.candidates:
            if isinstance(part, (Function, Class, Instance)):
                return _SURELY if isinstance(part, Function) and _catches_around_yield(part) else 0
        name = value.key
        if isinstance(node, ast.Call):
            function = self._eval(node.func, frame)
            name = function.name if isinstance(function, External) else node_text(node.func)
        if name.startswith(_CATCH):
            return _SURELY
        return 0 if name.startswith(_LET_PASS) else _PERHAPS


_PERHAPS, _SURELY = 1, 2


def _catches_around_yield(function: Function) -> bool:
    """Whether the function behind a context manager may catch what is raised where it yields."""
    catching = (ast.With, ast.AsyncWith, ast.ExceptHandler)
    blocks = [node for node in walk(function.node) if isinstance(node, (*catching, ast.Try))]
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for block in blocks for inner in walk(block))


def _condition(landing: Landing, line: int) -> Unknown:
    if landing.level is Level.UNIFORM:
        return Unknown(Level.UNIFORM, f"failure of the import behind line {line}", "a module may not be there")
    return Unknown(landing.level, f"error:{line}", f"an error may be handled in line {line}")


class _Ends:
    """The ends of a block whose errors are caught.

    Args:
        surely: whether lists and objects that hold handles count as changed by half, too.
    """

    def __init__(self, run: Failures, landing: Landing, line: int, *, surely: bool = True) -> None:
        self.run = run
        self.landing = landing
        self.line = line
        self.surely = surely

    def joined(self, flow: Flow | None, handlers: Sequence[ast.ExceptHandler] | None, frame: Frame) -> Flow:
        """How it goes on behind the block, which ended with `flow` unless it failed.

        Args:
            flow: how the block ends when nothing in it fails; None where what follows it in the `else` does.
            handlers: what runs when it does; None where errors are forgotten.
            frame: the frame of the block.
        """
        run, landing = self.run, self.landing
        assert landing.values is not None
        condition = _condition(landing, self.line)
        failed = run._truth(condition)
        raises = handlers is not None and not run._landings and all(map(_only_raises, handlers))
        if flow is not None and (failed is False or raises):
            return flow
        self._doubt_changes(condition)
        doubt = Doubt(condition, self.line, is_error=True)
        ends: list[End] = [] if failed or flow is None else [(doubt, flow, frame.values, frame.result)]
        if handlers is None:
            if not self.surely and flow is not None:
                frame.values = self._numbers_joined(frame.values, landing.values, condition)
                return flow
            ends.append((doubt, Flow.NEXT, landing.values, None))
        for handler in handlers or ():
            end = self._handled(handler, doubt, frame)
            if end is not None:
                ends.append((doubt, *end))
        if not ends:
            raise CodeRaises(f"what handles an error in line {self.line} raises another")
        return run._merge(ends, frame)

    @staticmethod
    def _numbers_joined(left: dict[str, Value], right: dict[str, Value], condition: Unknown) -> dict[str, Value]:
        """As `left`, with what are numbers in it or in `right` in doubt."""
        both = dict(left)
        for name in left.keys() & right.keys():
            if (
                left[name] is not right[name]
                and (is_plain(left[name]) or is_plain(right[name]))
                and not holds_handle(left[name])
            ):
                both[name] = join(left[name], right[name], condition)
        return both

    def _handled(
        self, handler: ast.ExceptHandler, doubt: Doubt, frame: Frame
    ) -> tuple[Flow, dict[str, Value], Value] | None:
        """How a handler ends; None where it raises or ends the process."""
        run = self.run
        assert self.landing.values is not None
        frame.values, frame.result = dict(self.landing.values), None
        if handler.name is not None:
            run._store_name(handler.name, Unknown(Level.GIVEN, handler.name, f"`{handler.name}` is an error"), frame)
        if run._matters(handler.body, frame):
            run.assumed[f"nothing fails in the block in line {self.line}"] = None
            for statement in handler.body:
                run._forget_names(statement, frame, doubt.condition)
            return Flow.NEXT, frame.values, None
        with run._doubting(doubt):
            try:
                flow = run._block(handler.body, frame)
            except (CodeRaises, Ended):
                run._may_fail()
                return None
        return None if flow is Flow.END else (flow, frame.values, frame.result)

    def _doubt_changes(self, condition: Unknown) -> None:
        """What was changed behind a place that may have failed may have been changed or not."""
        for holder, name, old in reversed(self.landing.overwritten):
            if name is None:
                if self.surely or not holds_handle(holder):
                    self.run._poison(holder)
                continue
            values = holder.values if isinstance(holder, Frame) else holder.attributes
            if name in values and values[name] is not old and (self.surely or not holds_handle(values[name])):
                values[name] = join(values[name], old, condition)
            elif name in values and is_plain(old):
                values[name] = join(values[name], Unknown(condition.level, name, condition.why), condition)


def _only_raises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler ends with an exception however it goes."""
    return isinstance(handler.body[-1], ast.Raise) and not any(
        isinstance(inner, (ast.Return, ast.Break, ast.Continue)) for inner in walk(handler)
    )
