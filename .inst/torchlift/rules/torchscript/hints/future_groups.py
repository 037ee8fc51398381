"""Futures of `torch.jit.fork` inside one file: which forks end in which waits, and what else is done with them.

Measured on torch 2.13.0 (tests/rules/torchscript/test_what_hints_mean.py): in Python `fork(f, *args)` calls `f(*args)` at once, in the same
thread, and lets its exception out; the future is done already. The result passes through TorchScript's types on its way:
a tensor stays the same object, a named tuple or `torch.Size` becomes a tuple, an empty list is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk

FORKS = frozenset({"torch.jit.fork", "torch.jit._fork"})
WAITS = frozenset({"torch.jit.wait", "torch.jit._wait"})
FUTURE = "torch.jit.Future"


@dataclass
class FutureGroup:
    """Forks and waits that have to be rewritten together.

    Attributes:
        forks: calls of `fork`.
        waits: calls that give the result of one of them, each with the expression it waits for.
        annotations: `Future[T]` in the annotations of the variables, each with `T`.
        obstacle: why a future cannot be replaced by its result; a clause.
    """

    forks: list[ast.Call] = field(default_factory=list)
    waits: list[tuple[ast.Call, ast.expr]] = field(default_factory=list)
    annotations: list[tuple[ast.Subscript, ast.expr]] = field(default_factory=list)
    obstacle: str | None = None

    def sites(self) -> int:
        """Number of places that change."""
        return len(self.forks) + len(self.waits) + len(self.annotations)


class Futures:
    """All groups of one file.

    Attributes:
        groups: in order of their first fork.
    """

    def __init__(self, view: ModuleView, uses: Iterable[Use]) -> None:
        self.view = view
        self._by_holder: dict[Binding, FutureGroup] = {}
        self._by_node: dict[ast.AST, FutureGroup] = {}
        self.groups: list[FutureGroup] = []
        for use in uses:
            if use.target in FORKS and use.call is not None:
                self._add(use.call)
        for group in self.groups:
            for node in (*group.forks, *(call for call, _ in group.waits), *(kind for kind, _ in group.annotations)):
                self._by_node[node] = group

    def group_of(self, node: ast.AST) -> FutureGroup | None:
        """The group that a fork call, a wait call or a `Future[T]` belongs to."""
        return self._by_node.get(node)

    def _add(self, call: ast.Call) -> None:
        holder, element = self._holder(call)
        group = self._by_holder.get(holder) if holder is not None else None
        if group is None:
            group = FutureGroup()
            self.groups.append(group)
            if holder is not None:
                self._by_holder[holder] = group
        first = not group.forks
        group.forks.append(call)
        if not call.args or isinstance(call.args[0], ast.Starred):
            group.obstacle = "the forked function is not the first argument"
        if not first:
            return
        wait = self._wait_around(call)
        if wait is not None:
            group.waits.append((wait, call))
        elif holder is None:
            group.obstacle = "the future is handed on, and where it is waited for was not followed"
        else:
            self._read_holder(group, holder, element)

    def _holder(self, call: ast.Call) -> tuple[Binding | None, bool]:
        """The variable that gets the future, and whether it is a list of futures."""
        match self.view.parent(call):
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                return self.view.bound_by(target), False
            case ast.ListComp(elt=element) as comprehension if element is call:
                match self.view.parent(comprehension):
                    case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                        return self.view.bound_by(target), True
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name() as name), args=[argument]) if (
                argument is call
            ):
                return self.view.definition(name), True
        return None, False

    def _wait_around(self, node: ast.expr) -> ast.Call | None:
        """The call around `node` that waits for it."""
        parent = self.view.parent(node)
        alone = isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords
        if isinstance(parent, ast.Call) and alone and self.view.certain_name(parent.func) in WAITS:
            return parent
        if isinstance(parent, ast.Attribute) and parent.attr == "wait":
            call = self.view.parent(parent)
            if isinstance(call, ast.Call) and call.func is parent and not call.args and not call.keywords:
                return call
        return None

    def _read_holder(self, group: FutureGroup, holder: Binding, element: bool) -> None:
        view = self.view
        owner = holder.scope
        if owner.kind != "function" or len(owner.bindings[holder.name]) != 1 or holder.kind != "assign":
            group.obstacle = f"`{holder.name}` is bound more than once, or outside a function"
            return
        empty = isinstance(holder.value, ast.List) and not holder.value.elts
        if element and not empty and not isinstance(holder.value, ast.ListComp):
            group.obstacle = f"`{holder.name}` does not start as an empty list"
            return
        self._read_annotation(group, holder)
        for read, _ in view.reads_of(holder):
            reason = self._element_read(group, read) if element else self._future_read(group, read)
            if reason is not None:
                group.obstacle = f"line {read.lineno} {reason}"
                return

    def _read_annotation(self, group: FutureGroup, holder: Binding) -> None:
        statement = holder.statement
        if not isinstance(statement, ast.AnnAssign):
            return
        for node in walk(statement.annotation):
            if isinstance(node, (ast.Name, ast.Attribute)) and self.view.possible_name(node) == FUTURE:
                parent = self.view.parent(node)
                if isinstance(parent, ast.Subscript) and parent.value is node:
                    group.annotations.append((parent, parent.slice))
                else:
                    group.obstacle = f"`{holder.name}` is annotated as a future of nothing in particular"

    def _future_read(self, group: FutureGroup, read: ast.expr) -> str | None:
        wait = self._wait_around(read)
        if wait is None:
            return "does something else with the future than waiting for it"
        group.waits.append((wait, read))
        return None

    def _element_read(self, group: FutureGroup, read: ast.Name) -> str | None:
        view = self.view
        parent = view.parent(read)
        match parent:
            case ast.Attribute(attr="append"):
                call = view.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent and len(call.args) == 1:
                    argument = call.args[0]
                    if isinstance(argument, ast.Call) and view.certain_name(argument.func) in FORKS:
                        return None
                return "puts something else into the list"
            case ast.Call(func=ast.Name(id="len")):
                return None
            case ast.Subscript(slice=index) if parent.value is read and not isinstance(index, ast.Slice):
                return self._future_read(group, parent)
            case ast.For(target=ast.Name() as target) | ast.comprehension(target=ast.Name() as target) if (
                parent.iter is read
            ):
                binding = self.view.bound_by(target)
                if binding is None or len(binding.scope.bindings[target.id]) != 1:
                    return "binds the future to a name that is used for other values"
                for inner, _ in view.reads_of(binding):
                    reason = self._future_read(group, inner)
                    if reason is not None:
                        return reason
                return None
            case _:
                return "does something else with the list of futures than waiting for its elements"
