"""One function of an archive as a Python function."""

from __future__ import annotations

import ast

from torchlift.convert.archive.code import ArchiveClass, ArchiveFunction, dotted
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.control_flow import DataFlow, function, handed_on, raised, tupled
from torchlift.convert.translation.expressions import ExpressionWriter
from torchlift.convert.translation.names import PythonNames
from torchlift.convert.translation.operators import called, name_of
from torchlift.convert.translation.vocabulary import (
    ERRORS,
)


def translated(
    function: ArchiveFunction,
    names: PythonNames,
    owner: ArchiveClass | None = None,
    name: str | None = None,
    *,
    own: bool = False,
) -> ast.FunctionDef:
    """The function, written anew.

    Args:
        function: of the archive.
        names: of everything in it.
        owner: the class, for a method.
        name: another name for it.
        own: whether it works on lists and dictionaries of its own: TorchScript copies those that Python gives.

    Raises:
        BadArchive: something in it has no counterpart.
    """
    body = _Body(function, names, owner)
    made = body.function(function.node, name or names.attribute(function.name))
    if own:
        made.body[:0] = _copies(made.args)
    return made


def _copies(arguments: ast.arguments) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for argument in arguments.args:
        kind = dotted(argument.annotation.value) if isinstance(argument.annotation, ast.Subscript) else None
        if kind in ("list", "dict"):
            made.append(
                ast.Assign([ast.Name(argument.arg, ast.Store())], called(kind, ast.Name(argument.arg, ast.Load())))
            )
    return made


class _Body(ExpressionWriter):
    def __init__(self, function: ArchiveFunction, names: PythonNames, owner: ArchiveClass | None) -> None:
        super().__init__(function, names, owner)
        self._data = DataFlow(function.node)
        self._returns = function.node.returns

    def function(self, node: ast.FunctionDef, name: str) -> ast.FunctionDef:
        arguments = ast.arguments(
            posonlyargs=[],
            args=[self._argument(one, first=number == 0) for number, one in enumerate(node.args.args)],
            kwonlyargs=[self._argument(one) for one in node.args.kwonlyargs],
            kw_defaults=[None if one is None else self.expression(one) for one in node.args.kw_defaults],
            defaults=[self.expression(one) for one in node.args.defaults],
        )
        returns = None if node.returns is None else self._names.type_of(node.returns)
        made = ast.FunctionDef(name, arguments, [*_late_defaults(arguments), *self.block(node.body)], [], returns)
        _drop_unread_names(made)
        return made

    def _argument(self, one: ast.arg, first: bool = False) -> ast.arg:
        of_self = first and self._owner is not None
        kind = None if one.annotation is None or of_self else self._names.type_of(one.annotation)
        return ast.arg(self._renamed.get(one.arg, one.arg), kind)

    def block(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """Statements; never empty."""
        return [made for node in nodes for made in self.statement(node)] or [ast.Pass()]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Assign):
            return self._assignment(node.targets[0], node.value)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return self._assignment(node.target, node.value)
        if isinstance(node, ast.Expr):
            return self._alone(node.value)
        if isinstance(node, ast.Return):
            return [ast.Return(None if node.value is None else self._returned(node.value, self._returns))]
        flow = self._by_data(node) if self._names.flow else None
        if flow is not None:
            return flow
        if isinstance(node, ast.If):
            otherwise = [made for one in node.orelse for made in self.statement(one)]
            if all(isinstance(one, ast.Pass) for one in otherwise):
                otherwise = []
            return [ast.If(self.expression(node.test), self.block(node.body), otherwise)]
        if isinstance(node, ast.With):
            items = [
                ast.withitem(
                    self.expression(one.context_expr),
                    None if one.optional_vars is None else self._target(one.optional_vars),
                )
                for one in node.items
            ]
            return [ast.With(items, self.block(node.body))]
        if isinstance(node, ast.While):
            return [ast.While(self.expression(node.test), self.block(node.body), [])]
        if isinstance(node, ast.For):
            return [ast.For(self._target(node.target), self.expression(node.iter), self.block(node.body), [])]
        if isinstance(node, ast.Assert):
            said = None if node.msg is None else self.expression(node.msg)
            return [ast.Assert(self.expression(node.test), said)]
        if isinstance(node, ast.FunctionDef):
            return [self.function(node, node.name.strip("_"))]
        if isinstance(node, (ast.Pass, ast.Break, ast.Continue)):
            return [type(node)()]
        raise BadArchive(f"has a {type(node).__name__} that torchlift cannot write anew")

    def _returned(self, value: ast.expr, kind: ast.expr | None) -> ast.expr:
        """What is returned; operators hand numbers on in tensors, which are taken out of them."""
        parts = kind.slice.elts if isinstance(kind, ast.Subscript) and isinstance(kind.slice, ast.Tuple) else []
        if self._names.flow and isinstance(value, ast.Tuple) and len(parts) == len(value.elts):
            return ast.Tuple([self._returned(*pair) for pair in zip(value.elts, parts, strict=True)], ast.Load())
        number = {"int": "as_int", "float": "as_float"}.get(dotted(kind) or "") if kind and self._names.flow else None
        return self._help(number, self.expression(value)) if number else self.expression(value)

    def _by_data(self, node: ast.stmt) -> list[ast.stmt] | None:
        """A branch or loop that data may decide, with functions for its blocks; None where that is not needed or cannot be."""
        if isinstance(node, ast.If) and self._data.hangs_on_data(node.test):
            return self._demand(node) or self._branch(node)
        if isinstance(node, ast.While) and self._data.hangs_on_data(node.test):
            names = self._data.carried(node)
            return None if names is None else self._loop(node, names)
        count = node.iter.args if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) else []
        if isinstance(node, ast.For) and len(count) == 1 and not isinstance(count[0], ast.Constant):
            names = self._data.carried(node)
            return None if names is None else self._repeat(node, names)
        return None

    def _demand(self, node: ast.If) -> list[ast.stmt] | None:
        for block, other, holds in ((node.body, node.orelse, False), (node.orelse, node.body, True)):
            message = raised(block)
            if message is not None:
                test = self.expression(node.test)
                wanted = test if holds else self._help("opposite", test)
                first = ast.Expr(self._help("demand", wanted, self.expression(message)))
                return [first, *(made for one in other for made in self.statement(one))]
        return None

    def _branch(self, node: ast.If) -> list[ast.stmt] | None:
        names = self._data.outcome(node)
        if names is None:
            return None
        test = self.expression(node.test)
        own = [self._renamed.get(name, name) for name in names]
        parts = [
            function(name, [], self.block(block), tupled(own))
            for name, block in (("then_part", node.body), ("else_part", node.orelse))
        ]
        self._names.helpers.add("branch")
        return [*parts, handed_on(own, "branch", test, name_of("then_part"), name_of("else_part"))]

    def _loop(self, node: ast.While, names: list[str]) -> list[ast.stmt]:
        own = [self._renamed.get(name, name) for name in names]
        test = function("goes_on", own, [], self.expression(node.test))
        step = function("next_step", own, self.block(node.body), tupled(own))
        self._names.helpers.add("loop")
        return [test, step, handed_on(own, "loop", name_of("goes_on"), name_of("next_step"), tupled(own))]

    def _repeat(self, node: ast.For, names: list[str]) -> list[ast.stmt]:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        own = [self._renamed.get(name, name) for name in names]
        count = self.expression(node.iter.args[0])
        number = self._renamed.get(node.target.id, node.target.id)
        step = function("next_step", [number, *own], self.block(node.body), tupled(own))
        self._names.helpers.add("repeat")
        return [step, handed_on(own, "repeat", count, name_of("next_step"), tupled(own))]

    def _assignment(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        special = self._statement_call(value)
        if special is not None:
            return special
        if isinstance(target, ast.Name):
            whole = self._whole(value)
            if whole is not None and target.id in self._once:
                if self.is_count(value):
                    self._counts.add(target.id)
                self._wholes.add(target.id)
                return [ast.Assign([self._target(target)], whole)]
            if self.is_size(value) and target.id in self._once:
                self._sizes.add(target.id)
            part = self._part_of_self(value) or self._constant_or_alias(target.id, value)
            if part is not None and target.id in self._once:
                self._inlined[target.id] = part
                return []
            if isinstance(value, ast.Call) and dotted(value.func) == "ops.prim.dtype":
                self._dtypes.add(target.id)
        made = self.expression(value)
        if (
            isinstance(made, ast.Name)
            and isinstance(target, ast.Name)
            and self._stays(made)
            and target.id in self._once
        ):
            self._inlined[target.id] = made
            return []
        return [ast.Assign([self._target(target)], made)]

    def _stays(self, name: ast.Name) -> bool:
        """Whether a variable has one value only."""
        return name.id in self._once or name.id in self._never

    def _alone(self, value: ast.expr) -> list[ast.stmt]:
        special = self._statement_call(value)
        return special if special is not None else [ast.Expr(self.expression(value))]

    def _statement_call(self, node: ast.expr) -> list[ast.stmt] | None:
        """Calls that Python has a statement for."""
        name = dotted(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name is None:
            return None
        if name == "torch._set_item":
            where, key, value = (self.expression(one) for one in node.args)
            return [ast.Assign([ast.Subscript(where, key, ast.Store())], value)]
        if name == "torch.Delete":
            where, key = (self.expression(one) for one in node.args)
            return [ast.Delete([ast.Subscript(where, key, ast.Del())])]
        if name == "ops.prim.RaiseException":
            kind = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else ""
            last = str(kind).rpartition(".")[2]
            return [ast.Raise(called(last if last in ERRORS else "RuntimeError", self.expression(node.args[0])), None)]
        return None

    def _target(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name):
            return ast.Name(self._renamed.get(node.id, node.id), ast.Store())
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._target(one) for one in node.elts], ast.Store())
        if isinstance(node, ast.Attribute):
            return ast.Attribute(self.expression(node.value), self._names.attribute(node.attr), ast.Store())
        if isinstance(node, ast.Subscript):
            return ast.Subscript(self.expression(node.value), self.expression(node.slice), ast.Store())
        raise BadArchive(f"assigns to a {type(node).__name__}, which torchlift cannot write anew")

    def _part_of_self(self, node: ast.expr) -> ast.expr | None:
        """`self.layer` and the like, where nothing in the archive ever puts something else there."""
        if isinstance(node, ast.Attribute) and node.attr not in self._names.stored:
            above = node.value
        elif isinstance(node, ast.Call) and dotted(node.func) == "getattr":
            above = node.args[0]
        else:
            return None
        if (dotted(node) or "").startswith("__torch__."):
            return self.expression(node)
        if isinstance(above, ast.Name) and (above.id == self._self or above.id in self._inlined) and above.id:
            return self.expression(node)
        return None

    def _constant_or_alias(self, target: str, node: ast.expr) -> ast.expr | None:
        """Texts that the printer took out of an expression, and second names for a value of a narrower type."""
        if target.startswith("_") and isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node
        if isinstance(node, ast.Call) and dotted(node.func) == "unchecked_cast":
            inner = node.args[1]
            if isinstance(inner, ast.Name) and self._stays(inner):
                return self.expression(inner)
        return None


def _late_defaults(arguments: ast.arguments) -> list[ast.stmt]:
    """Tensors as defaults are looked up in the call: they are there once the weights are."""
    made: list[ast.stmt] = []
    behind = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    for place, (argument, value) in enumerate(zip(behind, arguments.defaults, strict=True)):
        if any(isinstance(part, ast.Attribute) and dotted(part.value) == "CONSTANTS" for part in ast.walk(value)):
            missing = ast.Compare(ast.Name(argument.arg, ast.Load()), [ast.Is()], [ast.Constant(None)])
            made.append(ast.If(missing, [ast.Assign([ast.Name(argument.arg, ast.Store())], value)], []))
            arguments.defaults[place] = ast.Constant(None)
    return made


def _drop_unread_names(function: ast.FunctionDef) -> None:
    """Takes the names off values that nothing reads; the calls stay."""
    read = {part.id for part in ast.walk(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    for node in ast.walk(function):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list):
                block[:] = [made for one in block for made in _read_only(one, read)] or ([ast.Pass()] if block else [])


def _read_only(statement: ast.stmt, read: set[str]) -> list[ast.stmt]:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return [statement]
    if statement.targets[0].id in read:
        return [statement]
    calls = any(isinstance(part, (ast.Call, ast.Subscript, ast.BinOp)) for part in ast.walk(statement.value))
    return [ast.Expr(statement.value)] if calls else []
