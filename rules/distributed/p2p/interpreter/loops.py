"""Loops and comprehensions, run round by round, or skipped where nothing that matters happens in them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Literal

from torchlift.rules.distributed.p2p.interpreter.ends import End, Flow
from torchlift.rules.distributed.p2p.interpreter.keys import condition_key, node_text
from torchlift.rules.distributed.p2p.interpreter.operators import Once, Unworkable, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    CodeRaises,
    CommonChoice,
    Doubt,
    Ended,
    Frame,
    Jump,
    Level,
    Open,
    Unknown,
    Value,
    candidates_in,
    holds_handle,
    is_plain,
    join,
    level_of,
    unknown_in,
)
from torchlift.view.walk import walk

_MOST_ROUNDS = 600
_IN_DOUBT = 8
"""Rounds of a `while` that may have been left before which are run one by one."""
_TRIED = 4
"""How often the body of a loop of unknown length is run at most until it changes nothing more."""
_WORTH_RUNNING = 64
"""Rounds of a loop that does not communicate which are run one by one."""


class Loops(RankState):
    """Loops and comprehensions, run round by round, or skipped where nothing that matters happens in them."""

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Flow:
        iterable = self._eval(node.iter, frame)
        if isinstance(iterable, list) and not isinstance(iterable, Once):
            rounds: Iterator[Value] | None = _live(iterable)
            count = len(iterable)
        elif isinstance(iterable, Once):
            rounds, count = _draining(iterable), len(iterable)
        elif isinstance(iterable, (tuple, range, str, dict, set, frozenset)):
            rounds, count = iter(list(iterable) if len(iterable) <= _MOST_ROUNDS else iterable), len(iterable)
        elif iterable is None or isinstance(iterable, (int, float)):
            raise CodeRaises(f"line {node.lineno}: not iterable")
        else:
            rounds, count = None, 0
        if rounds is not None and (count <= _WORTH_RUNNING or self._matters(node.body, frame)):
            return self._rounds(node, rounds, frame)
        if rounds is None and self._matters(node.body, frame):
            return self._unknown_rounds(node, iterable, frame)
        item = self._element(iterable, "i")
        self._may_fail()
        why = f"the loop in line {node.lineno} is not followed"
        doubt = Doubt(item if rounds is None else Unknown(Level.GIVEN, f"loop:{node.lineno}", why), node.lineno)
        return self._skipped_loop(doubt, item, node, frame)

    @contextmanager
    def _loop(self, node: ast.stmt, frame: Frame) -> Iterator[None]:
        depth = len(frame.loops)
        frame.loops.append([])
        try:
            yield
        except CodeRaises as error:
            if frame.loops[depth:] and frame.loops[depth]:
                raise Open(f"the loop in line {node.lineno} may be left before it fails: {error}") from None
            raise
        finally:
            del frame.loops[depth:]

    def _rounds(self, node: ast.For | ast.AsyncFor, rounds: Iterator[Value], frame: Frame) -> Flow:
        with self._loop(node, frame):
            for done, item in enumerate(rounds):
                if done == _MOST_ROUNDS:
                    raise Open(f"the loop in line {node.lineno} is too long")
                self._store(node.target, item, frame)
                flow = self._round(node.body, frame)
                if flow is not Flow.NEXT:
                    return self._left_loop(flow, node, frame)
            return self._left_loop(Flow.NEXT, node, frame)

    def _round(self, body: Sequence[ast.stmt], frame: Frame) -> Flow | None:
        """Run one round; NEXT where another one may follow, None where this one raises, but may have been left before."""
        jumps = frame.loops[-1]
        depth = len(jumps)
        ends: list[End] = []
        flow: Flow | None
        try:
            flow = self._block(body, frame)
        except CodeRaises:
            if not jumps:
                raise
            self._may_fail()
            flow = None
        except Ended:
            if not jumps:
                raise
            flow = Flow.END
        skipped = [jump for jump in jumps[depth:] if not jump.leaves]
        jumps[depth:] = [jump for jump in jumps[depth:] if jump.leaves]
        flow = Flow.NEXT if flow is Flow.CONTINUE else flow
        if not skipped:
            return flow
        if flow is not None:
            ends.append((skipped[0].doubt, flow, frame.values, frame.result))
        ends += ((jump.doubt, Flow.NEXT, jump.values, None) for jump in skipped)
        return self._merge(ends, frame)

    def _left_loop(self, flow: Flow | None, node: ast.For | ast.AsyncFor | ast.While, frame: Frame) -> Flow:
        """How it goes on behind a loop that ended with `flow`, if it was not left before; None stands for an error."""
        jumps = frame.loops.pop()
        ends: list[End] = []
        if flow is not None:
            with ExitStack() as stack:
                for jump in jumps:
                    stack.enter_context(self._doubting(jump.doubt))
                try:
                    if flow is Flow.NEXT:
                        flow = self._block(node.orelse, frame)
                    elif flow is Flow.BREAK:
                        flow = Flow.NEXT
                except CodeRaises:
                    if not jumps:
                        raise
                    self._may_fail()
                    flow = None
        if not jumps:
            assert flow is not None
            return flow
        if flow is not None:
            ends.append((jumps[0].doubt, flow, frame.values, frame.result))
        ends += ((jump.doubt, Flow.NEXT, jump.values, None) for jump in jumps)
        return self._merge(ends, frame)

    def _unknown_rounds(self, node: ast.For | ast.AsyncFor, iterable: Value, frame: Frame) -> Flow:
        """A loop of unknown length that communicates: two rounds stand for all, if all ranks make equally many."""
        item = self._element(iterable, "i")
        if item.level is Level.RANK:
            with self._doubting(Doubt(item, node.lineno)):
                return self._skipped_loop(Doubt(item, node.lineno), item, node, frame)
        self._settle(item, node.lineno)
        if self.layout is not None and not self._has_rounds(iterable, node.lineno):
            return self._rounds(node, iter(()), frame)
        events = self.communication.events
        flow = self._rounds(node, iter([self._element(iterable, 0), self._element(iterable, 1)]), frame)
        if self._assume_equal_rounds(node, events):
            self._forget_stored(node.body, frame, item)
        else:
            self._forget_names(node, frame, item)
        return flow

    def _has_rounds(self, iterable: Value, line: int) -> bool:
        """Whether what is gone through is taken to hold something."""
        key = iterable.key if isinstance(iterable, Unknown) else ""
        if not key.isidentifier():
            return True  # the number of microbatches, the layers of a model
        something = Unknown(Level.UNIFORM, key, f"whether `{key}` is empty is not known")
        known = self._truth(something)
        if known is None:
            raise CommonChoice(something, line)
        return known

    def _assume_equal_rounds(self, node: ast.stmt | ast.expr, events: int) -> bool:
        """Whether two rounds of a loop communicated, so that all ranks have to make equally many."""
        if self.communication.events == events:
            return False
        self.assumed[f"the loop in line {node.lineno} is run equally often, at least twice, on every rank"] = None
        return True

    def _forget_stored(self, body: Sequence[ast.stmt], frame: Frame, why: Unknown, *, numbers: bool = True) -> None:
        """Numbers that a loop of unknown length changes are not known after it, or while it runs; nor is anything else."""
        for statement in body:
            for inner in walk(statement):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and inner.id in frame.values:
                    value = frame.values[inner.id]
                    if is_plain(value) or not (numbers or isinstance(value, Unknown)):
                        frame.values[inner.id] = Unknown(
                            why.level,
                            f"{inner.id} after {why.key}",
                            why.why,
                            handles=holds_handle(value),
                            candidates=candidates_in(value),
                        )

    def _skipped_loop(self, doubt: Doubt, item: Value, node: ast.For | ast.AsyncFor, frame: Frame) -> Flow:
        """Run the body as something that may happen any number of times."""
        with self._loop(node, frame):
            return self._any_rounds(doubt, node, frame, lambda: self._store(node.target, item, frame))

    def _any_rounds(
        self, doubt: Doubt, node: ast.For | ast.AsyncFor | ast.While, frame: Frame, begin: Callable[[], object]
    ) -> Flow:
        """Run the body in doubt, from names that earlier rounds may have set, until it sets nothing new."""
        before = frame.values
        frame.values = dict(before)
        self._forget_stored(node.body, frame, doubt.condition, numbers=False)
        ends: list[End] = [(doubt, Flow.NEXT, before, None)]
        for _ in range(_TRIED):
            changes = self._changes
            start = frame.values
            frame.values = dict(start)
            with self._doubting(doubt):
                try:
                    begin()
                    flow = self._round(node.body, frame)
                except CodeRaises:
                    self._may_fail()
                    break
                except Ended:
                    flow = Flow.END
            if flow is Flow.BREAK:
                frame.loops[-1].append(Jump(doubt, True, frame.values))
            elif flow is not None:
                ends.append((doubt, flow, frame.values, frame.result))
            frame.values = self._joined(start, frame.values, doubt.condition)
            if changes == self._changes and not _grown(start, frame.values):
                break
        flow = self._merge(ends, frame)
        return self._left_loop(flow, node, frame)

    def _while(self, node: ast.While, frame: Frame) -> Flow:
        tried = 0
        with self._loop(node, frame):
            for _ in range(_MOST_ROUNDS):
                self._tick()
                test = self._tested(node.test, frame)
                known = self._truth(test)
                if known is False:
                    return self._left_loop(Flow.NEXT, node, frame)
                tried += bool(frame.loops[-1])
                if known is None or tried > _IN_DOUBT:
                    unsure = test if known is None else frame.loops[-1][0].doubt.condition
                    return self._undecided_while(node, unsure, frame)
                flow = self._round(node.body, frame)
                if flow is not Flow.NEXT:
                    return self._left_loop(flow, node, frame)
            raise Open(f"the loop in line {node.lineno} is too long")

    def _undecided_while(self, node: ast.While, test: Unknown, frame: Frame) -> Flow:
        if self._matters([node.test, *node.body], frame):
            self._choose(test, node.lineno)
            if test.level is not Level.RANK:
                events = self.communication.events
                for _ in range(2):
                    flow = self._round(node.body, frame)
                    if flow is not Flow.NEXT:
                        return self._left_loop(flow, node, frame)
                if self._assume_equal_rounds(node, events):
                    self._forget_stored(node.body, frame, test)
                else:
                    self._forget_names(node, frame, test)
                return self._left_loop(Flow.NEXT, node, frame)
        return self._any_rounds(Doubt(test, node.lineno), node, frame, lambda: self._tested(node.test, frame))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame) -> Value:
        inner = Frame(frame.view, frame.view.scopes.scope_of[node], frame, frame.function)
        found: list[Value] = []
        self._stack.append(inner)
        # Nobody knows when a generator is run, and how far; what it posts is posted in order.
        late = isinstance(node, ast.GeneratorExp) and any(isinstance(part, ast.NamedExpr) for part in walk(node))
        condition = Unknown(Level.GIVEN, f"generator:{node.lineno}", "a generator may not be run to its end")
        try:
            with self._perhaps(condition, node.lineno, inner) if late else nullcontext():
                unknown = self._generate(node, 0, inner, frame, found)
        finally:
            self._stack.pop()
        if unknown is not None:
            return unknown
        if isinstance(node, ast.ListComp):
            return found
        if isinstance(node, ast.GeneratorExp):
            return Once(found)
        keys = [item[0] for item in found] if isinstance(node, ast.DictComp) else found
        if unknown_in(keys) is not None or not all(isinstance(k, (int, str, tuple, float)) or k is None for k in keys):
            return Unknown(
                level_of(found, False), condition_key(node, ()), f"`{node_text(node)}`", handles=holds_handle(found)
            )
        return dict(found) if isinstance(node, ast.DictComp) else set(found)

    def _generate(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        depth: int,
        inner: Frame,
        outer: Frame,
        found: list[Value],
    ) -> Unknown | None:
        """Fill `found` with what the comprehension gives; returns an unknown value instead where that is not known."""
        if depth == len(node.generators):
            if isinstance(node, ast.DictComp):
                key = self._eval(node.key, inner)
                found.append((key, self._eval(node.value, inner)))
            else:
                found.append(self._eval(node.elt, inner))
            return None
        generator = node.generators[depth]
        iterable = self._eval(generator.iter, outer if depth == 0 else inner)
        try:
            items = elements(iterable)
        except Unworkable:
            return self._generate_unknown(node, depth, inner, iterable, found)
        unsure: Unknown | None = None
        for item in items:
            self._store(generator.target, item, inner)
            open_test = self._filtered(generator.ifs, inner)
            if open_test is None:
                unknown = self._generate(node, depth + 1, inner, outer, found)
                if unknown is not None:
                    return unknown
            elif open_test is not True:
                with self._perhaps(open_test, node.lineno, inner):
                    self._generate(node, depth + 1, inner, outer, found)
                unsure = unsure or open_test
        return join(found, None, unsure) if unsure is not None else None

    def _filtered(self, tests: Sequence[ast.expr], frame: Frame) -> Unknown | Literal[True] | None:
        """Whether the conditions of a comprehension leave an item out; the first that nobody knows where that is not sure."""
        unsure: Unknown | None = None
        for test in tests:
            with self._perhaps(unsure, test.lineno, frame) if unsure is not None else nullcontext():
                value = self._tested(test, frame)
                known = self._truth(value)
                if known is False:
                    return True
                if known is None and unsure is None:
                    unsure = value
        return unsure

    def _generate_unknown(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        depth: int,
        inner: Frame,
        iterable: Value,
        found: list[Value],
    ) -> Unknown | None:
        item = self._element(iterable, "i")
        generator = node.generators[depth]
        matters = self._matters([node], inner) and not generator.ifs and depth == len(node.generators) - 1
        if matters and item.level is not Level.RANK:
            self._settle(item, node.lineno)
            events = self.communication.events
            for index in range(2):
                self._store(generator.target, self._element(iterable, index), inner)
                self._generate(node, depth + 1, inner, inner, found)
            if self._assume_equal_rounds(node, events):
                return None
        ignored: list[Value] = []
        self._may_fail()
        with self._perhaps(item, node.lineno, inner):
            self._store(generator.target, item, inner)
            unsure = self._filtered(generator.ifs, inner)
            if unsure is not True:
                with self._perhaps(unsure, node.lineno, inner) if unsure is not None else nullcontext():
                    self._generate(node, depth + 1, inner, inner, ignored)
        return Unknown(
            max(item.level, Level.GIVEN),
            condition_key(node, ()),
            item.why,
            never_none=True,
            handles=holds_handle(ignored) or item.handles,
            choice=item.choice,
            candidates=candidates_in(ignored, item),
        )


def _grown(before: dict[str, Value], after: dict[str, Value]) -> bool:
    """Whether a name may stand for a list or object that it did not stand for before."""
    return any(
        not {id(part) for part in candidates_in(value)} <= {id(part) for part in candidates_in(before.get(name))}
        for name, value in after.items()
        if isinstance(value, Unknown) and value is not before.get(name)
    )


def _live(items: list[Value]) -> Iterator[Value]:
    """Elements of a list that may grow while it is gone through."""
    index = 0
    while index < len(items):
        yield items[index]
        index += 1


def _draining(items: Once) -> Iterator[Value]:
    while items:
        yield items.pop(0)
