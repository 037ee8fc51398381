"""Which assignment a read of a local name can see: reaching definitions of one name in one scope.

The analysis follows structured control flow statement by statement. Where it cannot know (a nested function reads the
name later, a handler may run after any statement of its `try`), it answers with more definitions, never with fewer.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.view.last_name import last_name
from torchlift.view.scopes import Binding, Scope
from torchlift.view.walk import children, walk

State = frozenset[Binding] | None
"""Definitions that may hold at a point; None where the point cannot be reached."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


def _join(*states: State) -> State:
    known = [state for state in states if state is not None]
    return frozenset().union(*known) if known else None


@dataclass
class _Loop:
    breaks: State = None
    continues: State = None


@dataclass
class ReachingDefinitions:
    """Reads of `name` inside `scope` with the bindings each of them can see.

    Attributes:
        names: the names in expressions of the file, as far as they were asked for: all scopes and names share them.
        reads: binding sets by the `ast.Name` that reads. Reads in nested functions and class bodies are not in it: they
            see every binding.
    """

    scope: Scope
    name: str
    names: dict[ast.AST, frozenset[str]] = field(default_factory=dict)
    reads: dict[ast.Name, frozenset[Binding]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bindings = {binding.node: binding for binding in self.scope.bindings.get(self.name, ())}
        self._everything = frozenset(self._bindings.values())
        self._loops: list[_Loop] = []
        self._trying: list[set[Binding]] = []
        node = self.scope.node
        start: State = frozenset(binding for binding in self._everything if binding.kind == "param")
        if isinstance(node, ast.Lambda):
            self._expression(node.body, start)
        elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            self._block(node.body, start)

    def _define(self, node: ast.AST, state: State) -> State:
        binding = self._bindings.get(node)
        if binding is None or state is None:
            return state
        new: frozenset[Binding] = frozenset() if binding.kind == "delete" else frozenset((binding,))
        for seen in self._trying:
            seen.update(new)
        return new

    def _block(self, statements: Sequence[ast.stmt], state: State) -> State:
        for statement in statements:
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State:
        match node:
            case ast.If():
                state = self._expression(node.test, state)
                return _join(self._block(node.body, state), self._block(node.orelse, state))
            case ast.While():
                return self._loop(node.body, node.orelse, state, test=node.test)
            case ast.For() | ast.AsyncFor():
                state = self._expression(node.iter, state)
                return self._loop(node.body, node.orelse, state, target=node.target)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    state = self._expression(item.context_expr, state)
                    if item.optional_vars is not None:
                        state = self._store(item.optional_vars, state)
                if any(_swallows(item.context_expr) for item in node.items):
                    inside: set[Binding] = set(state or ())
                    self._trying.append(inside)
                    finished = self._block(node.body, state)
                    self._trying.pop()
                    return _join(finished, frozenset(inside))
                return self._block(node.body, state)
            case ast.Match():
                state = self._expression(node.subject, state)
                after = state
                for case in node.cases:
                    branch = state
                    for child in walk(case.pattern):
                        branch = self._define(child, branch)
                        if isinstance(child, ast.MatchValue):
                            branch = self._expression(child.value, branch)
                    if case.guard is not None:
                        branch = self._expression(case.guard, branch)
                    after = _join(after, self._block(case.body, branch))
                return after
            case ast.Try():
                return self._try(node, state)
            case ast.Return() | ast.Raise():
                for child in ast.iter_child_nodes(node):
                    state = self._expression(child, state)
                return None
            case ast.Break() | ast.Continue():
                if self._loops and state is not None:
                    loop = self._loops[-1]
                    if isinstance(node, ast.Break):
                        loop.breaks = _join(loop.breaks, state)
                    else:
                        loop.continues = _join(loop.continues, state)
                return None
            case ast.Assign():
                state = self._expression(node.value, state)
                for target in node.targets:
                    state = self._store(target, state)
                return state
            case ast.AnnAssign():
                state = self._expression(node.annotation, state)
                if node.value is None:
                    return state
                return self._store(node.target, self._expression(node.value, state))
            case ast.AugAssign():
                if isinstance(node.target, ast.Name) and node.target.id == self.name:
                    self._read(node.target, state)
                return self._store(node.target, self._expression(node.value, state))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for outer in _evaluated_outside(node):
                    state = self._expression(outer, state)
                return self._define(node, state)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    state = self._define(alias, state)
                return state
            case _ if hasattr(ast, "TryStar") and isinstance(node, ast.TryStar):
                return self._try(node, state)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        state = (
                            self._store(child, state)
                            if isinstance(node, ast.Delete)
                            else self._expression(child, state)
                        )
                return state

    def _loop(
        self,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        state: State,
        *,
        test: ast.expr | None = None,
        target: ast.expr | None = None,
    ) -> State:
        while True:
            loop = _Loop()
            self._loops.append(loop)
            entry = self._expression(test, state) if test is not None else state
            inside = self._store(target, entry) if target is not None else entry
            out = self._block(body, inside)
            self._loops.pop()
            again = _join(state, out, loop.continues)
            if again == state:
                break
            state = again
        endless = isinstance(test, ast.Constant) and bool(test.value)
        finished = None if endless else self._block(orelse, entry)
        return _join(finished, loop.breaks)

    def _try(self, node: Any, state: State) -> State:
        inside: set[Binding] = set(state or ())
        self._trying.append(inside)
        out = self._block(node.body, state)
        self._trying.pop()
        handled: State = None
        at_handler: State = frozenset(inside) if state is not None else None
        for handler in node.handlers:
            branch = at_handler
            if handler.type is not None:
                branch = self._expression(handler.type, branch)
            branch = self._block(handler.body, self._define(handler, branch))
            handled = _join(handled, branch)
        out = _join(self._block(node.orelse, out), handled)
        if not node.finalbody:
            return out
        # The last block also runs while an exception or a return passes through, from any state seen so far.
        self._block(node.finalbody, _join(out, at_handler))
        return None if out is None else self._block(node.finalbody, out)

    def _store(self, target: ast.expr, state: State) -> State:
        if isinstance(target, ast.Name):
            return self._define(target, state)
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                state = self._store(element, state)
            return state
        if isinstance(target, ast.Starred):
            return self._store(target.value, state)
        for child in ast.iter_child_nodes(target):
            state = self._expression(child, state)
        return state

    def _read(self, node: ast.Name, state: State) -> None:
        seen = self._everything if state is None else state
        self.reads[node] = self.reads.get(node, frozenset()) | seen

    def _names_in(self, root: ast.AST) -> frozenset[str]:
        known = self.names.get(root)
        if known is None:
            known = self.names[root] = frozenset(node.id for node in walk(root) if node.__class__ is ast.Name)
        return known

    def _expression(self, root: ast.AST, state: State) -> State:
        if self.name not in self._names_in(root):
            return state
        # Left-to-right evaluation; a walrus in one operand is seen by the operands after it.
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name):
                if node.id == self.name and isinstance(node.ctx, ast.Load):
                    self._read(node, state)
            elif isinstance(node, ast.NamedExpr):
                inner = self._expression(node.value, state)
                defined = self._define(node.target, inner)
                state = _join(state, defined) if node is not root else defined
            elif isinstance(node, ast.Lambda):
                for outer in _evaluated_outside(node):
                    state = self._expression(outer, state)
            elif isinstance(node, ast.GeneratorExp) or (
                isinstance(node, _COMPREHENSIONS) and _binds_target(node, self.name)
            ):
                state = self._expression(node.generators[0].iter, state)
            else:
                stack.extend(reversed(children(node)))
        return state


def _evaluated_outside(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda,
) -> list[ast.expr]:
    """Expressions of a definition that run in the scope around it: decorators, defaults, annotations, bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
    outside = [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]
    outside += [parameter.annotation for parameter in parameters if parameter.annotation is not None]
    if not isinstance(node, ast.Lambda):
        outside = [*node.decorator_list, *outside, *([node.returns] if node.returns else [])]
    return outside


def _binds_target(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(child, ast.Name) and child.id == name
        for generator in getattr(node, "generators", ())
        for child in walk(generator.target)
    )


def _swallows(context: ast.expr) -> bool:
    """Whether a `with` item is known by its name to swallow exceptions, so that its body may stop half-way."""
    call = context.func if isinstance(context, ast.Call) else context
    name = last_name(call)
    return name in {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
