"""Expressions that compute something."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from torchlift.rules.analysis.values.environment_reads import ENVIRONMENT
from torchlift.rules.distributed.facts.launchers import SET_BY_TORCHRUN
from torchlift.rules.distributed.p2p.interpreter.communication import is_no_member, may_be_group
from torchlift.rules.distributed.p2p.interpreter.keys import condition_key, node_text
from torchlift.rules.distributed.p2p.interpreter.operators import (
    Once,
    Unworkable,
    binary,
    compare,
    elements,
    subscript,
    unary,
)
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    MISSING,
    CodeRaises,
    External,
    Frame,
    Function,
    Level,
    Open,
    ProcessGroup,
    Unknown,
    Value,
    candidates_in,
    holds_handle,
    join,
    level_of,
    unknown_in,
)


class Expressions(RankState):
    """Expressions that compute something."""

    def _eval(self, node: ast.expr, frame: Frame) -> Value:
        self._tick()
        handler = self.expression_handlers.get(type(node))
        if handler is None:
            return Unknown(Level.GIVEN, f"{node.lineno}:{node.col_offset}", f"`{node_text(node)}` is not followed")
        value = handler(self, node, frame)
        if self.layout is not None and isinstance(value, (Unknown, External)):
            value = self._meant(node, value, frame)
        if self._landings and isinstance(value, Unknown) and isinstance(node, _MAY_FAIL):
            self._may_fail()
        if self._poisoned and isinstance(value, (list, dict, set)) and id(value) in self._poisoned:
            return self._poisoned[id(value)][1]
        kept = isinstance(value, Once) and not isinstance(node, (ast.Call, ast.GeneratorExp))
        if kept and next(self._active_doubts(), None) is not None:
            items = Once(value)
            self._poison(value)  # something may be taken out of it, or not
            return items
        return value

    def _computed(self, values: Sequence[Value], nodes: Sequence[ast.expr], node: ast.AST) -> Unknown:
        """The unknown result of computing something from `values`, which `nodes` stand for."""
        # Known operands that are not constants may have been computed from the rank.
        plain = all(
            unknown_in(value) is not None
            or isinstance(part, ast.Constant)
            or (self.layout is not None and isinstance(value, External))
            for value, part in zip(values, nodes, strict=False)
        )
        first = next((found for value in values if (found := unknown_in(value)) is not None), None)
        level = level_of(values, plain)
        key = condition_key(node, values)
        why = first.why if first is not None else f"`{node_text(node)}` is not followed"
        return Unknown(
            level,
            key,
            why,
            handles=_passes_on(node) and any(holds_handle(value) for value in values),
            choice=first.choice if first is not None else None,
            source=first if len(values) == 1 or isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)) else None,
            candidates=candidates_in(*values) if _passes_on(node) else (),
        )

    def _constant(self, node: ast.Constant, frame: Frame) -> Value:
        return node.value

    def _list(self, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Value:
        values: list[Value] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                value = self._eval(item.value, frame)
                try:
                    values += elements(value)
                except Unworkable:
                    return self._computed((value,), (item.value,), node)
            else:
                values.append(self._eval(item, frame))
        if isinstance(node, ast.Set):
            if unknown_in(values) is not None or not all(isinstance(v, (int, str, tuple)) or v is None for v in values):
                return self._computed(values, node.elts, node)
            return set(values)
        return tuple(values) if isinstance(node, ast.Tuple) else values

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        found: dict[Value, Value] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            key = self._eval(key_node, frame) if key_node is not None else None
            value = self._eval(value_node, frame)
            if key_node is None and isinstance(value, dict):
                found.update(value)
            elif key_node is not None and (key is None or isinstance(key, (int, str, float, tuple))):
                if unknown_in(key) is None:
                    found[key] = value
                    continue
                return self._computed((key, value), (key_node, value_node), node)
            else:
                return self._computed((value,), (value_node,), node)
        return found

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        container = self._eval(node.value, frame)
        index = self._eval(node.slice, frame)
        own = self._own(container, "__getitem__", [index], node)
        if own is not MISSING:
            return own
        if isinstance(container, External):
            if container.name == ENVIRONMENT:
                return self._environment(index, None, node)
            return container if container.name.partition(".")[0] == "typing" else self._computed((), (), node)
        try:
            return subscript(container, index)
        except Unworkable:
            return self._computed((container, index), (node.value, node.slice), node)

    def _slice(self, node: ast.Slice, frame: Frame) -> Value:
        values = [self._eval(p, frame) if p is not None else None for p in (node.lower, node.upper, node.step)]
        if unknown_in(values) is not None or not all(value is None or isinstance(value, int) for value in values):
            return self._computed(values, [p or ast.Constant(None) for p in (node.lower, node.upper, node.step)], node)
        return slice(*values)

    def _binary(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self._both(self._eval(node.left, frame), self._eval(node.right, frame))
        own = self._own_binary(node.op, left, right, node)
        if own is not MISSING:
            return own
        try:
            return binary(node.op, left, right)
        except Unworkable:
            return self._computed((left, right), (node.left, node.right), node)

    def _both(self, left: Value, right: Value) -> tuple[Value, Value]:
        """What stands beside a number may be taken for a rank."""
        if type(left) is int and isinstance(right, Unknown):
            return left, self._as_rank(right)
        if type(right) is int and isinstance(left, Unknown):
            return self._as_rank(left), right
        return left, right

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self._eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            value = self._as_test(value, node.operand)
            known = self._truth(value)
            return self._negated(value) if known is None else not known
        try:
            return unary(node.op, value)
        except Unworkable:
            return self._computed((value,), (node.operand,), node)

    @staticmethod
    def _negated(value: Unknown) -> Unknown:
        return Unknown(value.level, f"not {value.key}", value.why, choice=value.choice, formula=("not", (value,)))

    def _boolean(self, node: ast.BoolOp, frame: Frame) -> Value:
        """`and` and `or`; operands behind an unknown one are evaluated in doubt."""
        stops_at = isinstance(node.op, ast.Or)
        unknown: list[Unknown] = []
        others: list[Value] = []
        for index, operand in enumerate(node.values):
            if unknown:
                value = MISSING
                with self._perhaps(unknown[-1], node.lineno, frame):
                    value = self._eval(operand, frame)
                if value is MISSING:
                    break  # it fails, and so is not evaluated
            else:
                value = self._eval(operand, frame)
            test = self._as_test(value, operand)
            known = self._truth(test)
            if test is not value and index < len(node.values) - 1 and known is not stops_at:
                others.append(value)
                value = test
            if known is stops_at:
                if not unknown:
                    return value
                # Whatever the operands before it are, the whole is as true as this one.
                why, key = unknown[0].why, condition_key(node, unknown)
                formula: Any = ("and" if stops_at else "or", ())
                return Unknown(
                    unknown[0].level, key, why, formula=formula, candidates=candidates_in(*unknown, *others, value)
                )
            if known is None and not isinstance(value, Unknown):
                if not unknown:
                    return value
                others.append(value)
                value = test
            if known is None:
                assert isinstance(value, Unknown)
                unknown.append(value)
            elif index == len(node.values) - 1:
                if not unknown:
                    return value
                others.append(value)
        kind = "or" if stops_at else "and"
        return Unknown(
            max(value.level for value in unknown),
            f"({f' {kind} '.join(value.key for value in unknown)})",
            unknown[0].why,
            handles=any(holds_handle(value) for value in (*unknown, *others)),
            choice=next((value.choice for value in unknown if value.choice is not None), None),
            formula=("or" if stops_at else "and", tuple(unknown)),
            candidates=candidates_in(*unknown, *others),
        )

    def _compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self._eval(node.left, frame)
        left_node = node.left
        results: list[Unknown] = []
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            with self._perhaps(results[-1], node.lineno, frame) if results else nullcontext():
                right = self._eval(right_node, frame)
            left, right = self._both(left, right)
            try:
                answer = self._own_comparison(op, left, right, node)
                if isinstance(answer, Unknown):
                    results.append(answer)
                    left, left_node = right, right_node
                    continue
                if answer is MISSING:
                    answer = self._compared(op, left, right)
                if not answer:
                    return False
            except Unworkable:
                results.append(self._comparison(op, left, right, left_node, right_node, node))
            left, left_node = right, right_node
        if not results:
            return True
        if len(results) == 1:
            return results[0]
        return Unknown(
            max(result.level for result in results),
            " and ".join(result.key for result in results),
            results[0].why,
            formula=("and", tuple(results)),
        )

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> bool:
        if isinstance(right, External) and right.name == ENVIRONMENT and isinstance(op, (ast.In, ast.NotIn)):
            if left in SET_BY_TORCHRUN:
                return isinstance(op, ast.In)
            raise Unworkable
        if (
            isinstance(left, ProcessGroup)
            and is_no_member(right)
            and isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot))
        ):
            return (self.rank not in left.members) is isinstance(op, (ast.Eq, ast.Is))
        group = isinstance(left, Unknown) and may_be_group(left) and left.choice is None
        if group and right is None and isinstance(op, (ast.Is, ast.Eq, ast.IsNot, ast.NotEq)):
            return isinstance(op, (ast.IsNot, ast.NotEq))
        return compare(op, left, right)

    def _comparison(
        self, op: ast.cmpop, left: Value, right: Value, left_node: ast.expr, right_node: ast.expr, node: ast.Compare
    ) -> Unknown:
        positive = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}.get(type(op))
        shape = ast.Compare(left_node, [positive() if positive is not None else op], [right_node])
        result = self._computed((left, right), (left_node, right_node), ast.copy_location(shape, node))
        result.handles = False
        return self._negated(result) if positive is not None else result

    def _conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self._tested(node.test, frame)
        known = self._truth(test)
        if known is not None:
            return self._eval(node.body if known else node.orelse, frame)
        assert isinstance(test, Unknown)
        results: list[Value] = []
        for branch in (node.body, node.orelse):
            with self._perhaps(test, node.lineno, frame):
                results.append(self._eval(branch, frame))
        if not results:
            raise CodeRaises("both values raise an exception")
        return join(results[0], results[-1], test)

    def _walrus(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self._eval(node.value, frame)
        self._store_name(node.target.id, value, frame)
        return value

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return Function(node, frame, defaults=self._defaults(node.args, frame))

    def _inner(self, node: ast.Starred | ast.Await, frame: Frame) -> Value:
        return self._eval(node.value, frame)

    def _yield(self, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
        if node.value is not None:
            value = self._eval(node.value, frame)
            if holds_handle(value) and len(self._stack) > 1:
                raise Open(f"line {node.lineno} gives away a handle in the middle of a function")
        return Unknown(Level.GIVEN, f"yield:{node.lineno}", f"what line {node.lineno} is sent is not known")

    def _formatted(self, node: ast.JoinedStr, frame: Frame) -> Value:
        pieces: list[str] = []
        values: list[Value] = []
        nodes: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self._eval(part.value, frame)
                values.append(value)
                nodes.append(part.value)
                if isinstance(value, (int, str)) and part.format_spec is None and part.conversion == -1:
                    pieces.append(str(value))
            elif isinstance(part, ast.Constant):
                pieces.append(str(part.value))
        if len(pieces) == len(node.values):
            return "".join(pieces)
        return self._computed(values, nodes, node)


_MAY_FAIL = (
    ast.Call, ast.Subscript, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.Starred, ast.Await,
)  # fmt: skip
"""What may raise an exception where it gives something unknown."""

_COUNTING = frozenset("abs all any bool float format hash id int isinstance len repr round str sum type".split())


def _passes_on(node: ast.AST) -> bool:
    """Whether what an expression gives may contain what it is computed from, as a number or a text cannot."""
    if isinstance(node, ast.Call):
        return not isinstance(node.func, ast.Name) or node.func.id not in _COUNTING
    return not isinstance(node, (ast.Compare, ast.JoinedStr, ast.UnaryOp))
