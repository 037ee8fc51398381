"""Comprehensions and generators."""

from __future__ import annotations

import ast
from contextlib import suppress

from torchlift.rules.distributed.p2p.interpreter.operators import Once, Unworkable, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState, condition_key, node_text
from torchlift.rules.distributed.p2p.interpreter.values import (
    Doubt,
    Frame,
    Level,
    Raised,
    Unknown,
    Value,
    holds_handle,
    join,
    level_of,
    unknown_in,
)


class Comprehensions(RankState):
    """Comprehensions and generators."""

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
                with self._doubting(Doubt(open_test, node.lineno)), suppress(Raised):
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
            if item.choice is not None:
                self._choose(item.choice, node.lineno)
            events = self.communication.events
            for index in range(2):
                self._store(generator.target, self._element(iterable, index), inner)
                self._generate(node, depth + 1, inner, inner, found)
            if self.communication.events != events:
                text = f"the loop in line {node.lineno} is run equally often, at least twice, on every rank"
                self.assumed[text] = None
                return None
        ignored: list[Value] = []
        with self._doubting(Doubt(item, node.lineno)), suppress(Raised):
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
