"""Objects of classes of the file: their own operators, their attributes, and what code elsewhere may do with them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.keys import node_text
from torchlift.rules.distributed.p2p.interpreter.operators import Once
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState, has_decorator
from torchlift.rules.distributed.p2p.interpreter.values import (
    MISSING,
    BoundMethod,
    Class,
    CodeRaises,
    External,
    Frame,
    Function,
    Instance,
    Level,
    Unknown,
    Value,
    join,
    parts,
)
from torchlift.torch_names import public_name
from torchlift.view.walk import walk

_PLAIN_BASES = frozenset(
    {
        "builtins.object",
        "object",
        "torch.nn.Module",
        "torch.nn.modules.module.Module",
        "torch.autograd.Function",
        "abc.ABC",
    }
)
"""Bases that say nothing of whether their objects are true or equal."""
_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor",
    ast.MatMult: "matmul",
}  # fmt: skip
_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_ASKED = ("__eq__", "__bool__", "__len__", "__lt__", "__iter__", "__next__", "__index__", "__int__", "__hash__")
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


class Objects(RankState):
    """Objects of classes of the file: their own operators, their attributes, and what code elsewhere may do with them."""

    def _tested(self, node: ast.expr, frame: Frame) -> Value:
        """A value that is asked whether it is true."""
        return self._as_test(self._eval(node, frame), node)

    def _as_test(self, value: Value, node: ast.expr) -> Value:
        unknown = Unknown(Level.GIVEN, f"bool({node_text(node)})", f"whether `{node_text(node)}` is true is not known")
        if isinstance(value, Instance) and value.of is not None:
            for name in ("__bool__", "__len__"):
                method = self._find_method(value.of, name)
                if method is not None:
                    answer = self._call_function(method, [value], {}, node)
                    return answer if isinstance(answer, (bool, int, Unknown)) else unknown
            return value if self._says_all(value.of) else unknown
        if isinstance(value, Class) and (value.node.keywords or not self._says_all(value)):
            return unknown
        if isinstance(value, External) and _may_be_false(value.name):
            return Unknown(Level.UNIFORM, value.name, f"`{value.name}` is not known")
        return value

    def _says_all(self, owner: Class) -> bool:
        """Whether what a class does not define is as in `object`."""
        view = owner.frame.view
        if view is not self.code.view or owner.node in self._open_classes:
            return False
        family = self.code.bases(owner.node)
        for node in family:
            if node.decorator_list or node.keywords:
                return False
            for base in node.bases:
                binding = view.definition(base)
                known = binding is not None and binding.node in family
                if not known and view.possible_name(base) not in _PLAIN_BASES and node_text(base) != "object":
                    return False
        return True

    def _own(self, value: Value, name: str, arguments: Sequence[Value], node: ast.AST) -> Value:
        """What a method of the class of an object gives; MISSING where it has none, Unknown where that is not known."""
        if not isinstance(value, Instance) or value.of is None:
            return MISSING
        method = self._find_method(value.of, name)
        if method is not None:
            return self._call_function(method, [value, *arguments], {}, node)
        if self._says_all(value.of):
            return MISSING
        return Unknown(Level.GIVEN, f"{value.of.node.name}.{name}", f"`{value.of.node.name}` is not read whole")

    def _own_binary(
        self, op: ast.operator, left: Value, right: Value, node: ast.AST, *, in_place: bool = False
    ) -> Value:
        """What an operator of an own class gives; MISSING where there is none."""
        name = _BINARY[type(op)]
        result = self._own(left, f"__i{name}__", [right], node) if in_place else MISSING
        if result is MISSING:
            result = self._own(left, f"__{name}__", [right], node)
        return self._own(right, f"__r{name}__", [left], node) if result is MISSING else result

    def _own_comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value:
        """What a comparison of objects of own classes gives; MISSING where none has a say."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            return MISSING
        if isinstance(op, (ast.In, ast.NotIn)):
            result = self._own(right, "__contains__", [left], node)
            if result is not MISSING:
                return self._as_answer(result, node, negated=isinstance(op, ast.NotIn))
            return (
                Unknown(Level.GIVEN, node_text(node), "objects may be equal")
                if self._may_equal(left, right)
                else MISSING
            )
        name = _COMPARISONS[type(op)]
        result = self._own(left, f"__{name}__", [right], node)
        if result is MISSING:
            result = self._own(right, f"__{_MIRRORED[name]}__", [left], node)
        if result is MISSING and isinstance(op, ast.NotEq):
            result = self._own_comparison(ast.Eq(), left, right, node)
            return MISSING if result is MISSING else self._as_answer(result, node, negated=True)
        if (
            result is MISSING
            and self._may_equal(left, right)
            and not (isinstance(left, Instance) and isinstance(right, Instance))
        ):
            return Unknown(Level.GIVEN, node_text(node), "objects may be equal")
        return result

    def _as_answer(self, value: Value, node: ast.AST, *, negated: bool) -> Value:
        known = self._truth(value)
        if known is None:
            return Unknown(Level.GIVEN, node_text(node), "an operator of a class is not followed")
        return known is not negated

    def _may_equal(self, *values: Value) -> bool:
        """Whether there is an object in `values` that says itself what it is equal to, or whether it is true."""
        return any(
            isinstance(part, Instance)
            and part.of is not None
            and (not self._says_all(part.of) or any(self._find_method(part.of, name) for name in _ASKED))
            for value in values
            for part in parts(value)
        )

    def _store_attribute(self, base: Value, name: str, value: Value) -> None:
        if isinstance(base, Unknown):
            self._may_fail()
            for part in base.candidates:
                if isinstance(part, Instance):
                    self._store_in(part, name, value, base)
            self._store_in(base, name, value, base if base.candidates else None)
        elif isinstance(base, Instance):
            if base.of is not None and self._intercepts(base.of, name):
                self._escape(base)
            else:
                self._store_in(base, name, value, None)
        elif isinstance(base, Class):
            self._open_classes.add(base.node)

    def _store_in(self, base: Instance | Unknown, name: str, value: Value, unsure: Unknown | None) -> None:
        self._overwrites(base, name)
        doubt = next(self._active_doubts(), None)
        condition = doubt.condition if doubt is not None else unsure
        old = base.attributes.get(name, MISSING)
        if condition is not None:
            value = join(value, old, condition)
            self._changes += isinstance(value, Unknown) and not isinstance(old, Unknown)
        base.attributes[name] = value

    def _intercepts(self, owner: Class, name: str) -> bool:
        """Whether a class does something of its own when an attribute is set."""
        if self._find_method(owner, "__setattr__") is not None:
            return True
        method = self._find_method(owner, name)
        return (
            method is not None
            and isinstance(method.node, FunctionNode)
            and has_decorator(method.node, "property", "setter")
        )

    def _delete_attribute(self, base: Value, name: str) -> None:
        if isinstance(base, (Instance, Unknown)):
            self._store_in(base, name, Unknown(Level.GIVEN, name, f"`{name}` is deleted"), None)
        self._may_fail()

    def _escape(self, value: Value) -> None:
        """From now on code that is not known may change what is in `value`, and call it."""
        for part in list(parts(value)):
            if isinstance(part, Instance):
                part.escaped = True
            elif isinstance(part, Class):
                self._open_classes.add(part.node)
            elif isinstance(part, (list, dict, set)) and not isinstance(part, Once):
                self._poison(part)
            elif isinstance(part, Unknown):
                part.attributes.clear()
                inner, part.candidates = part.candidates, ()
                self._escape(list(inner))
            elif isinstance(part, BoundMethod) and isinstance(part.function, Function):
                self._escape(part.function)
            elif isinstance(part, Function):
                self._escape_function(part)

    def _escape_function(self, function: Function) -> None:
        """What a function sets outside of itself is not known any more; nor what it holds of the function around it."""
        own = function.frame.view.scopes.scope_of[function.node].bindings
        for node in walk(function.node):
            if not isinstance(node, ast.Name) or (node.id in own and isinstance(node.ctx, ast.Load)):
                continue
            owner = function.frame.owner(node.id)
            if owner is None or (id(owner), node.id) in self._open_names:
                continue
            if isinstance(node.ctx, ast.Store) and node.id not in _bound_in(function):
                self._open_names.add((id(owner), node.id))
                self._frames.append(owner)
            elif owner.outer is not None and isinstance(owner.values.get(node.id), (Instance, list, dict, set)):
                self._escape(owner.values[node.id])

    def _escape_all(self) -> None:
        """Code that may reach everything: `exec`, `globals`."""
        for frame in (*self._stack, *self._modules.values()):
            self._frames.append(frame)
            for name in frame.scope.bindings:
                self._open_names.add((id(frame), name))

    def _decorated(self, function: Function, frame: Frame) -> Value:
        """What a function is once its decorators have been applied; where it communicates, they are looked at when it is called."""
        node: Any = function.node
        value: Value = function
        for decorator in reversed(node.decorator_list):
            if self._is_transparent(decorator, frame):
                continue
            if self._communicates(function):
                return function
            call = ast.copy_location(
                ast.Call(decorator, [ast.copy_location(ast.Name(node.name, ast.Load()), node)], []), decorator
            )
            try:
                value = self._apply(self._eval(decorator, frame), [value], {}, call, frame, complete=True)
            except CodeRaises:
                return Unknown(Level.GIVEN, node.name, f"`{node.name}` is decorated")
        return value


def _bound_in(function: Function) -> frozenset[str]:
    return frozenset(function.frame.view.scopes.scope_of[function.node].bindings)


def _may_be_false(name: str) -> bool:
    """Whether what is imported by this name may be a setting that is off."""
    if name.startswith(("torch.backends.", "torch.version.")):
        return True
    top, _, rest = public_name(name).partition(".")
    return bool(rest) and top not in {"torch", "builtins"}
