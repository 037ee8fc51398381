"""Statements: what they store where, and which of them run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.operators import Once, Unworkable, binary, call_method, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import MISSING, Flow, RankState
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
    join,
)
from torchlift.view.walk import walk


class Statements(RankState):
    """Statements: what they store where, and which of them run."""

    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> Flow:
        for statement in statements:
            flow = self._statement(statement, frame)
            if flow is not Flow.NEXT:
                return flow
        return Flow.NEXT

    def _statement(self, node: ast.stmt, frame: Frame) -> Flow:
        self._tick()
        handler = self.statement_handlers.get(type(node), Statements._other_statement)
        try:
            return handler(self, node, frame)
        except CodeRaises as error:
            if "line" in str(error):
                raise
            if not self._doubts:
                self._certain(node.lineno)
            raise CodeRaises(f"{error} in line {node.lineno}") from None

    def _other_statement(self, node: ast.stmt, frame: Frame) -> Flow:
        """A kind of statement that is not followed: `match`, and what later versions of Python bring."""
        if self._matters([node], frame):
            raise Open(f"the `{type(node).__name__.lower()}` statement in line {node.lineno} is not followed")
        for inner in walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self._store_name(inner.id, Unknown(Level.GIVEN, f"{inner.id}@{node.lineno}", f"`{inner.id}`"), frame)
        if any(isinstance(inner, (ast.Return, ast.Break, ast.Continue)) for inner in walk(node)):
            why = f"the statement in line {node.lineno} is not followed"
            frame.doubts.append(Doubt(Unknown(Level.GIVEN, "match", why), node.lineno))
            frame.returned.append(None)
        return Flow.NEXT

    def _expression(self, node: ast.Expr, frame: Frame) -> Flow:
        self._eval(node.value, frame)
        return Flow.NEXT

    def _assign(self, node: ast.Assign, frame: Frame) -> Flow:
        value = self._eval(node.value, frame)
        for target in node.targets:
            self._store(target, value, frame)
        return Flow.NEXT

    def _annotated(self, node: ast.AnnAssign, frame: Frame) -> Flow:
        if node.value is not None:
            self._store(node.target, self._eval(node.value, frame), frame)
        return Flow.NEXT

    def _augmented(self, node: ast.AugAssign, frame: Frame) -> Flow:
        target = node.target
        if isinstance(target, ast.Name):
            old = self._name(ast.copy_location(ast.Name(target.id, ast.Load()), target), frame, target)
        else:
            old = self._eval(target, frame)
        value = self._eval(node.value, frame)
        if isinstance(old, (list, set, dict)) and not isinstance(old, Once):
            method = {ast.Add: "extend", ast.BitOr: "update"}.get(type(node.op))
            if method is not None and self._change(old, [value]):
                try:
                    call_method(old, method, [value], {})
                except Unworkable:
                    self._poison(old)
                return Flow.NEXT
            if method is not None:
                return Flow.NEXT
        try:
            result = binary(node.op, old, value)
        except Unworkable:
            result = self._computed((old, value), (target, node.value), node)
        self._store(target, result, frame)
        return Flow.NEXT

    def _store(self, target: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            self._store_name(target.id, value, frame)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, frame)
        elif isinstance(target, ast.Attribute):
            self._store_attribute(self._eval(target.value, frame), target.attr, value)
        elif isinstance(target, ast.Subscript):
            container = self._eval(target.value, frame)
            index = self._eval(target.slice, frame)
            if isinstance(container, (list, dict)) and not isinstance(container, Once):
                if self._change(container, [value]):
                    try:
                        call_method(container, "__setitem__", [index, value], {})
                    except Unworkable:
                        self._poison(container)
                        self._poisoned[id(container)][1].handles |= holds_handle(value)
            elif isinstance(container, Unknown):
                container.handles |= holds_handle(value)
        elif isinstance(target, ast.Starred):
            self._store(target.value, value, frame)

    def _store_name(self, name: str, value: Value, frame: Frame) -> None:
        owner = frame.owner(name) or frame
        if owner is not frame and frame.scope.kind != "comprehension":
            doubt = next(self._active_doubts(), None)
            if doubt is not None:
                value = join(value, owner.values.get(name), doubt.condition)
        owner.values[name] = value

    def _store_attribute(self, base: Value, name: str, value: Value) -> None:
        doubt = next(self._active_doubts(), None)
        if isinstance(base, (Instance, Unknown)):
            if doubt is not None:
                value = join(value, base.attributes.get(name, MISSING), doubt.condition)
            base.attributes[name] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
        targets = target.elts
        starred = next((i for i, item in enumerate(targets) if isinstance(item, ast.Starred)), None)
        values: list[Value]
        try:
            values = elements(value)
        except Unworkable:
            values = [self._element(value, index) for index in range(len(targets))]
            starred = None
        if starred is not None:
            behind = len(targets) - starred - 1
            if len(values) < len(targets) - 1:
                raise CodeRaises(f"line {target.lineno}: too few values to unpack")
            middle = values[starred : len(values) - behind]
            values = [*values[:starred], middle, *values[len(values) - behind :]]
        if len(values) != len(targets):
            raise CodeRaises(f"line {target.lineno}: wrong number of values to unpack")
        for item, each in zip(targets, values, strict=True):
            self._store(item, each, frame)

    def _element(self, value: Value, index: int | str) -> Unknown:
        """One element of a value whose elements are unknown."""
        if isinstance(value, Unknown):
            return Unknown(
                value.level,
                f"{value.key}[{index}]",
                value.why,
                handles=value.handles,
                choice=value.choice,
                source=value,
            )
        name = value.name if isinstance(value, External) else type(value).__name__
        return Unknown(Level.GIVEN, f"{name}[{index}]", f"`{name}` is not followed")

    def _delete(self, node: ast.Delete, frame: Frame) -> Flow:
        for target in node.targets:
            if isinstance(target, ast.Name):
                owner = frame.owner(target.id)
                if owner is not None:
                    owner.values.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                container = self._eval(target.value, frame)
                index = self._eval(target.slice, frame)
                if isinstance(container, (list, dict)) and self._change(container):
                    try:
                        call_method(container, "__delitem__", [index], {})
                    except Unworkable:
                        self._poison(container)
        return Flow.NEXT

    def _return(self, node: ast.Return, frame: Frame) -> Flow:
        frame.result = self._eval(node.value, frame) if node.value is not None else None
        return Flow.RETURN

    def _raise(self, node: ast.Raise, frame: Frame) -> Flow:
        raise CodeRaises("an exception is raised")

    def _assert(self, node: ast.Assert, frame: Frame) -> Flow:
        if self._truth(self._eval(node.test, frame)) is False:
            raise CodeRaises("the assertion does not hold")
        return Flow.NEXT

    def _define(self, node: FunctionNode | ast.ClassDef, frame: Frame) -> Flow:
        value = Class(node, frame) if isinstance(node, ast.ClassDef) else Function(node, frame)
        self._store_name(node.name, value, frame)
        return Flow.NEXT

    def _import(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> Flow:
        for alias in node.names:
            if alias.name == "*":
                continue
            bound = alias.asname or alias.name.partition(".")[0]
            owner = frame.owner(bound)
            for binding in owner.scope.bindings[bound] if owner is not None else ():
                if binding.node is alias and owner is not None:
                    owner.values[bound] = self._imported(binding, frame.view)
        return Flow.NEXT

    def _simple(self, node: ast.stmt, frame: Frame) -> Flow:
        return (
            Flow.BREAK
            if isinstance(node, ast.Break)
            else Flow.CONTINUE
            if isinstance(node, ast.Continue)
            else Flow.NEXT
        )

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
                except CodeRaises:
                    flow = Flow.RAISE
                except Ended:
                    flow = Flow.END
            ends.append((flow, frame.values, frame.result))
        frame.values = before
        going = [(flow, values, result) for flow, values, result in ends if flow is not Flow.RAISE]
        if not going:
            raise CodeRaises(f"every branch of line {doubt.line} raises an exception")
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
        except CodeRaises as caught:
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
