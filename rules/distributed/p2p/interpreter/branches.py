"""Statements that may run or not: `if`, `with`, `try`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.rank_state import MISSING, Flow, RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    Coalescing,
    Doubt,
    Ended,
    Frame,
    Instance,
    Level,
    Open,
    Raised,
    Unknown,
    Value,
    join,
)
from torchlift.view.walk import walk


class Branches(RankState):
    """Statements that may run or not: `if`, `with`, `try`."""

    def _if(self, node: ast.If, frame: Frame) -> Flow:
        test = self._eval(node.test, frame)
        known = self._truth(test)
        if known is not None:
            return self._block(node.body if known else node.orelse, frame)
        assert isinstance(test, Unknown)
        return self._either(Doubt(test, node.lineno), [node.body, node.orelse], frame)

    def _either(self, doubt: Doubt, branches: Sequence[Sequence[ast.stmt]], frame: Frame) -> Flow:
        """Run all branches, of which one is taken, nobody knows which."""
        before = frame.values
        ends: list[tuple[Flow, dict[str, Value], Value]] = []
        for branch in branches:
            frame.values = dict(before)
            with self._doubting(doubt):
                try:
                    flow = self._block(branch, frame)
                except Raised:
                    flow = Flow.RAISE
                except Ended:
                    flow = Flow.END
            ends.append((flow, frame.values, frame.result))
        frame.values = before
        going = [(flow, values, result) for flow, values, result in ends if flow is not Flow.RAISE]
        if not going:
            raise Raised(f"every branch of line {doubt.line} raises an exception")
        # A branch that raises is not what the code is written for, so the others are taken to be what happens.
        if all(flow is going[0][0] for flow, _, _ in going):
            flow, values, result = going[0]
            for _, other, other_result in going[1:]:
                values = self._joined(values, other, doubt.condition)
                result = join(result, other_result, doubt.condition) if flow is Flow.RETURN else result
            frame.values, frame.result = values, result
            return flow
        kept = next((end for end in going if end[0] is Flow.NEXT), None)
        kept = kept or next((end for end in going if end[0] in {Flow.BREAK, Flow.CONTINUE}), going[0])
        for flow, _, result in going:
            if flow is kept[0]:
                continue
            if flow in {Flow.BREAK, Flow.CONTINUE} and frame.loops:
                frame.loops[-1].append(doubt)
            elif flow is Flow.END:
                self._stack[0].doubts.append(doubt)
                self._stack[0].returned.append(None)
            else:
                frame.doubts.append(doubt)
                frame.returned.append(result)
        frame.values, frame.result = kept[1], kept[2]
        return kept[0]

    def _joined(self, left: dict[str, Value], right: dict[str, Value], condition: Unknown) -> dict[str, Value]:
        joined = dict(left)
        for name in right.keys() | left.keys():
            one, other = left.get(name, MISSING), right.get(name, MISSING)
            if one is not other:
                joined[name] = join(one, other, condition)
        return joined

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> Flow:
        managers: list[Coalescing] = []
        for item in node.items:
            value = self._eval(item.context_expr, frame)
            if isinstance(value, Coalescing):
                managers.append(value)
            if item.optional_vars is not None:
                self._store(item.optional_vars, self._entered(value), frame)
        flow = self._block(node.body, frame)
        for _ in managers:
            self.communication.close_manager(node.lineno)
        return flow

    def _entered(self, value: Value) -> Value:
        if isinstance(value, Instance) and value.of is not None:
            method = self._find_method(value.of, "__enter__")
            if method is not None and isinstance(method.node, FunctionNode):
                return self._call_function(method, [value], {}, method.node)
        return value

    def _try(self, node: Any, frame: Frame) -> Flow:
        try:
            flow = self._block(node.body, frame)
            error = None
        except Raised as caught:
            flow, error = Flow.NEXT, caught
        if error is not None and node.handlers:
            raise Open(f"an error in the `try` in line {node.lineno} is handled: {error}")
        if error is None:
            self._doubt_flags(node, frame)
            if flow is Flow.NEXT:
                flow = self._block(node.orelse, frame)
        last = self._block(node.finalbody, frame)
        if last is not Flow.NEXT:
            return last
        if error is not None:
            raise error
        return flow

    def _doubt_flags(self, node: Any, frame: Frame) -> None:
        """`HAS_X = True` in a `try` and False in its handler is unknown, and the same on every rank."""
        for handler in node.handlers:
            for statement in handler.body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool(value))):
                        owner = frame.owner(name) or frame
                        if isinstance(owner.values.get(name), bool) and owner.values[name] is not value:
                            owner.values[name] = Unknown(Level.UNIFORM, name, f"`{name}` is set in a `try`")

    def _matters(self, nodes: Sequence[ast.AST], frame: Frame) -> bool:
        """Whether running `nodes` may post or wait for anything."""
        code = self.code
        if frame.view is not code.view:
            return True
        if code.matters(nodes):
            return True
        for top in nodes:
            for node in walk(top):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    owner = frame.owner(node.func.id)
                    value = owner.values.get(node.func.id) if owner is not None else None
                    if value is not None and self._communicates(value):
                        return True
        return False
