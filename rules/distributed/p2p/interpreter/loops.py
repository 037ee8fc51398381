"""Loops and comprehensions, run round by round, or skipped where nothing that matters happens in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from torchlift.rules.distributed.p2p.interpreter.operators import Once, Unworkable, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import Flow, RankState, condition_key, node_text
from torchlift.rules.distributed.p2p.interpreter.values import (
    CodeRaises,
    Doubt,
    Frame,
    Level,
    Open,
    Unknown,
    Value,
    holds_handle,
    join,
    level_of,
    unknown_in,
)
from torchlift.view.walk import walk

_MOST_ROUNDS = 600
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
        why = f"the loop in line {node.lineno} is not followed"
        doubt = Doubt(item if rounds is None else Unknown(Level.GIVEN, f"loop:{node.lineno}", why), node.lineno)
        return self._skipped_loop(doubt, item, node, frame)

    def _rounds(self, node: ast.For | ast.AsyncFor, rounds: Iterator[Value], frame: Frame) -> Flow:
        frame.loops.append([])
        before = dict(frame.values)
        done = 0
        broken = False
        try:
            for item in rounds:
                done += 1
                if done > _MOST_ROUNDS:
                    raise Open(f"the loop in line {node.lineno} is too long")
                self._store(node.target, item, frame)
                flow = self._block(node.body, frame)
                if flow is Flow.BREAK:
                    broken = True
                    break
                if flow not in {Flow.NEXT, Flow.CONTINUE}:
                    return flow
                self._forget_if_doubtful(before, frame)
        finally:
            doubts = frame.loops.pop()
        if doubts:
            frame.loops.append(doubts)
            self._forget_if_doubtful(before, frame)
            frame.loops.pop()
        return Flow.NEXT if broken else self._block(node.orelse, frame)

    def _forget_if_doubtful(self, before: dict[str, Value], frame: Frame) -> None:
        """After a round that may have been cut short, forget what it did."""
        if frame.loops[-1]:
            frame.values = self._joined(frame.values, before, frame.loops[-1][0].condition)

    def _unknown_rounds(self, node: ast.For | ast.AsyncFor, iterable: Value, frame: Frame) -> Flow:
        """A loop of unknown length that communicates: two rounds stand for all, if all ranks make equally many."""
        item = self._element(iterable, "i")
        if item.level is Level.RANK:
            with self._doubting(Doubt(item, node.lineno)):
                return self._skipped_loop(Doubt(item, node.lineno), item, node, frame)
        self._settle(item, node.lineno)
        events = self.communication.events
        flow = self._rounds(node, iter([self._element(iterable, 0), self._element(iterable, 1)]), frame)
        self._assume_equal_rounds(node, events)
        self._forget_stored(node.body, frame, item)
        return flow

    def _assume_equal_rounds(self, node: ast.stmt | ast.expr, events: int) -> bool:
        """Whether two rounds of a loop communicated, so that all ranks have to make equally many."""
        if self.communication.events == events:
            return False
        self.assumed[f"the loop in line {node.lineno} is run equally often, at least twice, on every rank"] = None
        return True

    def _forget_stored(self, body: Sequence[ast.stmt], frame: Frame, why: Unknown) -> None:
        """Numbers that a loop of unknown length has changed are not known after it."""
        for statement in body:
            for inner in walk(statement):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    value = frame.values.get(inner.id)
                    if isinstance(value, (int, float, str)):
                        frame.values[inner.id] = Unknown(why.level, f"{inner.id} after {why.key}", why.why)

    def _skipped_loop(self, doubt: Doubt, item: Value, node: ast.For | ast.AsyncFor, frame: Frame) -> Flow:
        """Run the body once, as something that may happen any number of times."""
        before = dict(frame.values)
        self._store(node.target, item, frame)
        frame.loops.append([])
        flow = self._either(doubt, [node.body, []], frame)
        frame.loops.pop()
        if flow in {Flow.BREAK, Flow.CONTINUE}:
            flow = Flow.NEXT
        frame.values = self._joined(frame.values, before, doubt.condition)
        return flow if flow is not Flow.NEXT else self._block(node.orelse, frame)

    def _while(self, node: ast.While, frame: Frame) -> Flow:
        frame.loops.append([])
        before = dict(frame.values)
        tried = 0
        try:
            for _ in range(_MOST_ROUNDS):
                self._tick()
                test = self._eval(node.test, frame)
                known = self._truth(test)
                if frame.loops[-1]:
                    tried += 1
                    if tried > 1:
                        break
                if known is False:
                    self._forget_if_doubtful(before, frame)
                    return self._block(node.orelse, frame) if not tried else Flow.NEXT
                if known is None:
                    assert isinstance(test, Unknown)
                    return self._undecided_while(node, test, before, frame)
                flow = self._block(node.body, frame)
                if flow is Flow.BREAK:
                    break
                if flow not in {Flow.NEXT, Flow.CONTINUE}:
                    return flow
            else:
                raise Open(f"the loop in line {node.lineno} is too long")
            self._forget_if_doubtful(before, frame)
            return Flow.NEXT
        finally:
            frame.loops.pop()

    def _undecided_while(self, node: ast.While, test: Unknown, before: dict[str, Value], frame: Frame) -> Flow:
        if self._matters([node.test, *node.body], frame):
            self._choose(test, node.lineno)
            if test.level is not Level.RANK:
                events = self.communication.events
                for _ in range(2):
                    flow = self._block(node.body, frame)
                    if flow is Flow.BREAK:
                        break
                    if flow not in {Flow.NEXT, Flow.CONTINUE}:
                        return flow
                self._assume_equal_rounds(node, events)
                self._forget_stored(node.body, frame, test)
                return Flow.NEXT
        flow = self._either(Doubt(test, node.lineno), [node.body, []], frame)
        frame.values = self._joined(frame.values, before, test)
        return flow if flow in {Flow.RETURN, Flow.END} else Flow.NEXT

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame) -> Value:
        inner = Frame(frame.view, frame.view.scopes.scope_of[node], frame, frame.function)
        found: list[Value] = []
        self._stack.append(inner)
        try:
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
        for item in items:
            self._store(generator.target, item, inner)
            tests: list[Value] = []
            for test in generator.ifs:
                value = self._eval(test, inner)
                if self._truth(value) is False:
                    break
                tests.append(value)
            if len(tests) < len(generator.ifs):
                continue
            open_test = next((test for test in tests if self._truth(test) is None), None)
            if open_test is not None:
                ignored: list[Value] = []
                with self._doubting(Doubt(open_test, node.lineno)), suppress(CodeRaises):
                    self._generate(node, depth + 1, inner, outer, ignored)
                return join(ignored, None, open_test)  # type: ignore[no-any-return]
            unknown = self._generate(node, depth + 1, inner, outer, found)
            if unknown is not None:
                return unknown
        return None

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
        with self._doubting(Doubt(item, node.lineno)), suppress(CodeRaises):
            self._store(generator.target, item, inner)
            for test in generator.ifs:
                self._eval(test, inner)
            self._generate(node, depth + 1, inner, inner, ignored)
        return Unknown(
            max(item.level, Level.GIVEN),
            condition_key(node, ()),
            item.why,
            never_none=True,
            handles=holds_handle(ignored) or item.handles,
            choice=item.choice,
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
