"""Calls of functions, classes and methods of the file."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from torchlift.rules.analysis.places.order import running
from torchlift.rules.analysis.values.parameter_values import defaults_of
from torchlift.rules.distributed.p2p.interpreter.code import FunctionNode
from torchlift.rules.distributed.p2p.interpreter.ends import Flow
from torchlift.rules.distributed.p2p.interpreter.keys import node_text
from torchlift.rules.distributed.p2p.interpreter.operators import MUTATING, Unworkable, call_method, elements
from torchlift.rules.distributed.p2p.interpreter.rank_state import RankState
from torchlift.rules.distributed.p2p.interpreter.values import (
    BoundMethod,
    Class,
    Coalescing,
    CodeRaises,
    Doubt,
    Ended,
    External,
    Frame,
    Function,
    Handle,
    Instance,
    Level,
    Open,
    ProcessGroup,
    Unknown,
    Value,
    holds_handle,
    join,
)

_DEEPEST_CALL = 16
_KNOWN_DECORATORS = ("torch.", "functools.", "typing.", "abc.", "contextlib.suppress", "typing_extensions.", "pytest.")
_CHANGING_DECORATORS = frozenset(
    {"contextlib.contextmanager", "contextlib.asynccontextmanager", "functools.singledispatch"}
)


class Calls(RankState):
    """Calls of functions, classes and methods of the file."""

    def _invoke(self, function: Function, values: dict[str, Value], at: ast.AST) -> Value:
        """Run the body of a function with its parameters bound."""
        node = function.node
        view = function.frame.view
        depth = sum(1 for frame in self._stack if frame.function is not None and frame.function.node is node)
        if len(self._stack) > _DEEPEST_CALL or depth > 2:
            raise Open(f"`{function.name}` calls itself, or calls are nested too deep")
        frame = Frame(view, view.scopes.scope_of[node], function.frame, function)
        frame.values.update(values)
        self._stack.append(frame)
        try:
            if isinstance(node, ast.Lambda):
                return self._eval(node.body, frame)
            try:
                flow = self._block(node.body, frame)
            except CodeRaises:
                if not frame.returned:
                    raise
                self._may_fail()
                flow, frame.result = Flow.RETURN, frame.returned.pop()
            if flow is Flow.END:
                raise Ended
        finally:
            self._stack.pop()
        result = frame.result if flow is Flow.RETURN else None
        for other in reversed(frame.returned):
            result = join(result, other, frame.doubts[0].condition)
        return result

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and frame.owner("super") is None:
            return self._super(frame)
        function = self._eval(node.func, frame)
        positional: list[Value] = []
        complete = True
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self._eval(argument.value, frame)
                try:
                    positional += elements(value)
                except Unworkable:
                    positional.append(value)
                    complete = False
            else:
                positional.append(self._eval(argument, frame))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._eval(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                keywords.update(value)
            else:
                keywords["**"] = value
                complete = False
        outside = frame.view is not self.code.view
        site, self._site = self._site, self._site if outside else node
        try:
            return self._apply(function, positional, keywords, node, frame, complete=complete)
        finally:
            self._site = site

    def _super(self, frame: Frame) -> Value:
        current: Frame | None = frame
        while current is not None and (current.function is None or current.function.owner is None):
            current = current.outer
        if current is not None and current.function is not None and current.function.owner is not None:
            owner = current.function.owner
            arguments = getattr(current.function.node, "args", None)
            first = arguments.args[0].arg if arguments is not None and arguments.args else ""
            receiver = current.values.get(first)
            if owner.frame.view is self.code.view and isinstance(receiver, Instance):
                bases = self.code.bases(owner.node)[1:]
                if bases:
                    return _Super(Class(bases[0], owner.frame), receiver)
        return Unknown(Level.GIVEN, "super()", "the base class is not in the file")

    def _apply(
        self,
        function: Value,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame,
        *,
        complete: bool,
    ) -> Value:
        if isinstance(function, External):
            return self._call_external(function.name, positional, keywords, node, complete=complete)
        if isinstance(function, Function):
            if not complete:
                return self._opaque(function, positional, keywords, node)
            return self._call_function(function, positional, keywords, node)
        if isinstance(function, BoundMethod):
            if isinstance(function.function, Function):
                if not complete:
                    return self._opaque(function, positional, keywords, node)
                return self._call_function(function.function, [function.receiver, *positional], keywords, node)
            return self._call_method(function.receiver, function.function, positional, keywords, node)
        if isinstance(function, Class):
            return (
                self._construct(function, positional, keywords, node)
                if complete
                else self._opaque(function, positional, keywords, node)
            )
        if isinstance(function, Instance):
            method = next(
                (m for name in ("__call__", "forward") if function.of and (m := self._find_method(function.of, name))),
                None,
            )
            if method is not None and complete:
                return self._call_function(method, [function, *positional], keywords, node)
        if isinstance(function, Unknown) and isinstance(node.func, ast.Attribute):
            return self._call_unknown_method(function, positional, keywords, node, frame)
        return self._opaque(function, positional, keywords, node)

    def _call_function(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        definition = function.node
        if isinstance(definition, FunctionNode):
            communicates = self._communicates(function)
            if communicates:
                self._check_decorators(function)
                if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in running(definition.body)):
                    raise Open(f"`{definition.name}` is a generator")
            if function.frame.view is not self.code.view and not communicates:
                return self._opaque(function, positional, keywords, node)
        values = self._bind(function, positional, keywords)
        if values is None:
            return self._opaque(function, positional, keywords, node)
        if isinstance(definition, FunctionNode) and not communicates and self._is_late(function, node):
            return self._run_late(function, values, node)
        return self._invoke(function, values, node)

    def _is_late(self, function: Function, node: ast.AST) -> bool:
        """Whether a call does not run a function, or not each time: generators, coroutines and what has a cache."""
        definition = function.node
        assert isinstance(definition, FunctionNode)
        if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in running(definition.body)):
            return True
        if isinstance(definition, ast.AsyncFunctionDef):
            return not isinstance(function.frame.view.parent(node), ast.Await)
        sets = any(isinstance(inner, (ast.Global, ast.Nonlocal)) for inner in running(definition.body))
        return sets and any("cache" in node_text(decorator) for decorator in definition.decorator_list)

    def _run_late(self, function: Function, values: dict[str, Value], node: ast.AST) -> Value:
        line = getattr(node, "lineno", 0)
        why = f"when and how far `{function.name}` is run is not known"
        result = Unknown(Level.GIVEN, f"{function.name}@{line}", why, never_none=True, candidates=(function,))
        with self._doubting(Doubt(result, line)):
            try:
                self._invoke(function, values, node)
            except (CodeRaises, Ended):
                self._may_fail()
        self._escape(function)
        return result

    def _is_transparent(self, decorator: ast.expr, frame: Frame) -> bool:
        """Whether a function or a class under a decorator still does what it says."""
        expression = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(expression, ast.Name) and expression.id in {"staticmethod", "classmethod", "property"}:
            return True
        if isinstance(expression, ast.Attribute) and expression.attr in {"setter", "getter", "deleter"}:
            return True
        name = frame.view.possible_name(expression)
        return name.startswith((*_KNOWN_DECORATORS, "contextlib.", "dataclasses."))

    def _check_decorators(self, function: Function) -> None:
        assert isinstance(function.node, FunctionNode)
        for decorator in function.node.decorator_list:
            expression = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(expression, ast.Name) and expression.id in {"staticmethod", "classmethod", "property"}:
                continue
            value = self._eval(expression, function.frame)
            known = isinstance(value, External) and value.name.startswith(_KNOWN_DECORATORS)
            if not known or value.name in _CHANGING_DECORATORS:
                raise Open(f"`{function.name}` is decorated with `{node_text(decorator)}`")

    def _bind(self, function: Function, positional: list[Value], keywords: dict[str, Value]) -> dict[str, Value] | None:
        """Parameters and their values; None where the call does not fit or is too odd."""
        arguments = function.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        only = [argument.arg for argument in arguments.kwonlyargs]
        values: dict[str, Value] = dict(zip(names, positional, strict=False))
        rest = positional[len(names) :]
        if rest and arguments.vararg is None:
            raise CodeRaises(f"`{function.name}` takes {len(names)} arguments")
        if arguments.vararg is not None:
            values[arguments.vararg.arg] = tuple(rest)
        extra: dict[str, Value] = {}
        for name, value in keywords.items():
            if name in names or name in only:
                values[name] = value
            else:
                extra[name] = value
        if extra and arguments.kwarg is None:
            raise CodeRaises(f"`{function.name}` has no parameter `{next(iter(extra))}`")
        if arguments.kwarg is not None:
            values[arguments.kwarg.arg] = extra
        defaults = defaults_of(arguments)
        for name in (*names, *only):
            if name not in values and function.defaults is not None and name in function.defaults:
                values[name] = function.defaults[name]
                if self._poisoned:
                    values[name] = self._poisoned.get(id(values[name]), (None, values[name]))[1]
            if name not in values:
                if name not in defaults:
                    raise CodeRaises(f"`{function.name}` is called without `{name}`")
                if isinstance(defaults[name], (ast.List, ast.Dict, ast.Set)):
                    return (
                        None if defaults_hold_something(defaults[name]) else {**values, **self._rest(defaults, values)}
                    )
                values[name] = self._eval(defaults[name], function.frame)
        return values

    def _rest(self, defaults: Mapping[str, ast.expr], values: Mapping[str, Value]) -> dict[str, Value]:
        """Defaults with a list or dict among them, which all calls share: what is in it is not known."""
        return {
            name: Unknown(Level.GIVEN, name, f"the default of `{name}` is shared by all calls")
            for name in defaults
            if name not in values
        }

    def _construct(self, owner: Class, positional: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if owner.frame.view is not self.code.view:
            return self._opaque(owner, positional, keywords, node)
        instance = Instance(owner)
        constructor = self._find_method(owner, "__init__")
        if constructor is not None:
            self._call_function(constructor, [instance, *positional], keywords, node)
        elif any("dataclass" in node_text(decorator) for decorator in owner.node.decorator_list):
            fields = [
                s.target.id for s in owner.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            instance.attributes.update(zip(fields, positional, strict=False))
            instance.attributes.update(keywords)
        return instance

    def _call_method(
        self, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        if isinstance(receiver, Handle):
            return self._handle_method(receiver, name, node)
        if isinstance(receiver, Coalescing):
            if name == "wait":
                self._certain(node.lineno)
                self.communication.wait(receiver.handle, node.lineno)
            return None
        if isinstance(receiver, ProcessGroup):
            return self._group_method(receiver, name, positional, keywords, node)
        if isinstance(receiver, _Super):
            method = self._find_method(receiver.of, name)
            if method is None:
                return Unknown(Level.GIVEN, f"super().{name}", "the base class is not in the file")
            return self._call_function(method, [receiver.receiver, *positional], keywords, node)
        if self._may_equal((receiver, positional)):
            if name in MUTATING:
                self._poison(receiver)
            return self._computed((receiver, *positional), (node.func, *node.args), node)
        if isinstance(receiver, (list, dict, set)) and name in MUTATING and not self._change(receiver, positional):
            return self._computed((receiver, *positional), (), node)
        if name == "sort" and "key" in keywords:
            self._escape(keywords["key"])
            self._poison(receiver)
            return None
        try:
            return call_method(receiver, name, positional, keywords)
        except Unworkable:
            if name in MUTATING:
                self._poison(receiver)
            for value in positional:
                if holds_handle(value) and isinstance(receiver, (list, dict, set)):
                    self._poison(receiver)
                    self._poisoned[id(receiver)][1].handles = True
            return self._computed((receiver, *positional), (node.func, *node.args), node)


class _Super:
    """`super()` in a class whose base is in the file."""

    def __init__(self, of: Class, receiver: Instance) -> None:
        self.of = of
        self.receiver = receiver


def defaults_hold_something(node: ast.expr) -> bool:
    """Whether a default value is a display with elements."""
    return bool(getattr(node, "elts", None) or getattr(node, "keys", None))
