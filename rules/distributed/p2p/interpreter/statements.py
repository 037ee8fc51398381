"""Statements: what they store where, and which of them run."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlift.rules.analysis.values.parameter_values import defaults_of
from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.ends import End, Flow
from torchlift.rules.distributed.p2p.interpreter.operators import (
    MUTATING,
    Once,
    Unworkable,
    binary,
    call_method,
    elements,
)
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState, alias_is_there
from torchlift.rules.distributed.p2p.interpreter.values import (
    MISSING,
    Class,
    CodeRaises,
    Doubt,
    Ended,
    External,
    Frame,
    Function,
    Instance,
    Jump,
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
            if not self._doubts:
                self._certain(node.lineno, fails=True)
            if "line" in str(error):
                raise
            raise CodeRaises(f"{error} in line {node.lineno}") from None

    def _other_statement(self, node: ast.stmt, frame: Frame) -> Flow:
        """A kind of statement that is not followed: `match`, of which any case may be taken, and what Python has yet to bring."""
        if self._matters([node], frame):
            raise Open(f"the `{type(node).__name__.lower()}` statement in line {node.lineno} is not followed")
        why = Unknown(Level.GIVEN, f"match:{node.lineno}", f"the statement in line {node.lineno} is not followed")
        cases = getattr(node, "cases", ())
        for case in cases:
            for name in (
                n for inner in walk(case.pattern) for n in (getattr(inner, "name", None), getattr(inner, "rest", None))
            ):
                if isinstance(name, str):
                    self._store_name(name, why, frame)
        if cases:
            self._eval(node.subject, frame)  # type: ignore[attr-defined]
            guards = [ast.copy_location(ast.Expr(case.guard), case.guard) for case in cases if case.guard is not None]
            return self._either(Doubt(why, node.lineno), [*([*guards, *case.body] for case in cases), guards], frame)
        self._forget_names(node, frame, why)
        self._may_fail()
        return Flow.NEXT

    def _forget_names(self, node: ast.AST, frame: Frame, why: Unknown) -> None:
        """What `node` stores may be anything from now on."""
        for inner in walk(node):
            unknown = Unknown(why.level, f"{getattr(inner, 'id', '')} after {why.key}", why.why)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                owner = frame.owner(inner.id) or frame
                old = owner.values.get(inner.id, MISSING)
                unknown.handles = holds_handle(old)
                unknown.unset = old is MISSING or (isinstance(old, Unknown) and old.unset)
                owner.values[inner.id] = unknown
            elif isinstance(inner, (ast.Attribute, ast.Subscript)) and isinstance(inner.value, ast.Name):
                owner = frame.owner(inner.value.id) or frame
                value = owner.values.get(inner.value.id)
                called = isinstance(inner, ast.Attribute) and inner.attr in MUTATING
                if isinstance(value, (list, dict, set)) and (called or not isinstance(inner.ctx, ast.Load)):
                    self._poison(value)
                elif (
                    isinstance(value, Instance)
                    and isinstance(inner, ast.Attribute)
                    and isinstance(inner.ctx, ast.Store)
                ):
                    unknown.handles = holds_handle(value.attributes.get(inner.attr))
                    value.attributes[inner.attr] = unknown

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
        if isinstance(old, Unknown):
            self._change_all(old.candidates)
        result = self._own_binary(node.op, old, value, node, in_place=True)
        if result is MISSING:
            try:
                result = binary(node.op, old, value)
            except Unworkable:
                result = self._computed((old, value), (target, node.value), node)
        if isinstance(result, Unknown):
            self._may_fail()
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
                if isinstance(index, slice) and not isinstance(value, (list, tuple)):
                    self._overwrites(container)
                    self._poison(container)
                elif self._change(container, [value]):
                    try:
                        call_method(container, "__setitem__", [index, value], {})
                    except Unworkable:
                        self._poison(container)
                        self._poisoned[id(container)][1].handles |= holds_handle(value)
            elif isinstance(container, Unknown):
                self._may_fail()
                container.handles |= holds_handle(value)
                self._change_all(container.candidates)
            else:
                self._own(container, "__setitem__", [index, value], target)
        elif isinstance(target, ast.Starred):
            self._store(target.value, value, frame)

    def _change_all(self, containers: Sequence[Value]) -> None:
        """Lists, dicts and sets of which nobody knows which one is changed."""
        for part in containers:
            if isinstance(part, (list, dict, set)):
                self._overwrites(part)
                self._poison(part)

    def _store_name(self, name: str, value: Value, frame: Frame) -> None:
        owner = frame.owner(name) or frame
        self._stored += 1
        if owner is not frame and frame.scope.kind != "comprehension":
            self._overwrites(owner, name)
            doubt = next(self._active_doubts(), None)
            if doubt is not None:
                value = join(value, owner.values.get(name), doubt.condition)
        owner.values[name] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
        targets = target.elts
        starred = next((i for i, item in enumerate(targets) if isinstance(item, ast.Starred)), None)
        values: list[Value]
        try:
            values = elements(value)
        except Unworkable:
            values = [self._element(value, index) for index in range(len(targets))]
            starred = None
            self._may_fail()
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
                candidates=value.candidates,
            )
        name = value.name if isinstance(value, External) else type(value).__name__
        return Unknown(Level.GIVEN, f"{name}[{index}]", f"`{name}` is not followed")

    def _delete(self, node: ast.Delete, frame: Frame) -> Flow:
        for target in node.targets:
            if isinstance(target, ast.Name):
                owner = frame.owner(target.id)
                if owner is not None:
                    owner.values[target.id] = Unknown(
                        Level.GIVEN, f"unset {target.id}", f"`{target.id}` may not be set", unset=True
                    )
                self._may_fail()
            elif isinstance(target, ast.Attribute):
                self._delete_attribute(self._eval(target.value, frame), target.attr)
            elif isinstance(target, ast.Subscript):
                container = self._eval(target.value, frame)
                index = self._eval(target.slice, frame)
                if isinstance(container, (list, dict)) and self._change(container):
                    try:
                        call_method(container, "__delitem__", [index], {})
                    except Unworkable:
                        self._poison(container)
                elif isinstance(container, Unknown):
                    self._may_fail()
                    self._change_all(container.candidates)
        return Flow.NEXT

    def _return(self, node: ast.Return, frame: Frame) -> Flow:
        frame.result = self._eval(node.value, frame) if node.value is not None else None
        return Flow.RETURN

    def _raise(self, node: ast.Raise, frame: Frame) -> Flow:
        raise CodeRaises("an exception is raised")

    def _assert(self, node: ast.Assert, frame: Frame) -> Flow:
        holds = self._truth(self._tested(node.test, frame))
        if holds is False:
            raise CodeRaises("the assertion does not hold")
        if holds is None:
            self._may_fail()
        return Flow.NEXT

    def _define(self, node: FunctionNode | ast.ClassDef, frame: Frame) -> Flow:
        value: Value
        if isinstance(node, ast.ClassDef):
            value = Class(node, frame)
            if not all(self._is_transparent(decorator, frame) for decorator in node.decorator_list):
                why = f"`{node.name}` is decorated"
                value = Unknown(Level.GIVEN, node.name, why, candidates=(value,))
        else:
            value = self._decorated(Function(node, frame, defaults=self._defaults(node.args, frame)), frame)
        self._store_name(node.name, value, frame)
        return Flow.NEXT

    def _defaults(self, arguments: ast.arguments, frame: Frame) -> dict[str, Value]:
        """What the parameters of a function that is defined now are worth when nothing is given."""
        return {name: self._eval(default, frame) for name, default in defaults_of(arguments).items()}

    def _import(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> Flow:
        for alias in node.names:
            if alias.name == "*":
                continue
            bound = alias.asname or alias.name.partition(".")[0]
            owner = frame.owner(bound)
            for binding in owner.scope.bindings[bound] if owner is not None else ():
                if not alias_is_there(node, alias):
                    self._may_fail(Level.UNIFORM)
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
        test = self._tested(node.test, frame)
        known = self._truth(test)
        if known is not None:
            return self._block(node.body if known else node.orelse, frame)
        assert isinstance(test, Unknown)
        return self._either(Doubt(test, node.lineno), [node.body, node.orelse], frame)

    def _either(self, doubt: Doubt, branches: Sequence[Sequence[ast.stmt]], frame: Frame) -> Flow:
        """Run all branches, of which one is taken, nobody knows which."""
        before, result = frame.values, frame.result
        ends: list[End] = []
        for branch in branches:
            frame.values, frame.result = dict(before), result
            with self._doubting(doubt):
                try:
                    flow = self._block(branch, frame)
                except CodeRaises:
                    # A branch that raises is not what the code is written for, so the others are taken to be what happens.
                    self._may_fail()
                    continue
                except Ended:
                    flow = Flow.END
            ends.append((doubt, flow, frame.values, frame.result))
        frame.values, frame.result = before, result
        if not ends:
            raise CodeRaises(f"every branch of line {doubt.line} raises an exception")
        return self._merge(ends, frame)

    def _merge(self, ends: Sequence[End], frame: Frame) -> Flow:
        """Go on behind several ends of which nobody knows which one it is; names are what they are at one of them."""
        joined: dict[Flow, End] = {}
        for doubt, flow, values, result in ends:
            if flow not in joined:
                joined[flow] = doubt, flow, values, result
                continue
            _, _, others, other = joined[flow]
            back = join(other, result, doubt.condition) if flow is Flow.RETURN else result
            joined[flow] = doubt, flow, self._joined(others, values, doubt.condition), back
        order = (Flow.NEXT, Flow.BREAK, Flow.CONTINUE)
        kept = next((flow for flow in order if flow in joined), ends[0][1])
        for flow, (doubt, _, values, result) in joined.items():
            if flow is kept:
                continue
            if flow in {Flow.BREAK, Flow.CONTINUE} and frame.loops:
                frame.loops[-1].append(Jump(doubt, flow is Flow.BREAK, values))
            elif flow is Flow.END:
                self._stack[0].doubts.append(doubt)
                self._stack[0].returned.append(None)
            else:
                frame.doubts.append(doubt)
                frame.returned.append(result)
        _, _, frame.values, frame.result = joined[kept]
        return kept

    def _joined(self, left: dict[str, Value], right: dict[str, Value], condition: Unknown) -> dict[str, Value]:
        joined = dict(left)
        for name in right.keys() | left.keys():
            one, other = left.get(name, MISSING), right.get(name, MISSING)
            if one is not other:
                joined[name] = join(one, other, condition)
        return joined

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
