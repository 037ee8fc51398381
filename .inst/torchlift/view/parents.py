"""The node around each node of a syntax tree, found one definition at a time as it is asked for.

Most questions concern a few functions of a file. Visiting every node of it for them costs as much as parsing it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.view.walk import child_fields

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Parents:
    """The parents of the nodes of `tree`.

    Iterating gives every node but the tree itself.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._known: dict[ast.AST, ast.AST] = {}
        self._closed: dict[ast.AST, tuple[int, int]] = {}
        self._started = False

    def get(self, node: ast.AST) -> ast.AST | None:
        """The node around `node`; None for the tree and for nodes of other trees."""
        parent = self._known.get(node)
        if parent is not None or node is self._tree:
            return parent
        if not self._started:
            self._started = True
            self._visit(self._tree)
        line = getattr(node, "lineno", None)
        while line is not None and node not in self._known:
            around = next((item for item, (first, last) in self._closed.items() if first <= line <= last), None)
            if around is None:
                break
            self._open(around)
        if node not in self._known:  # it has no position, or one that is not where it stands (in a formatted string)
            self._complete()
        return self._known.get(node)

    def __getitem__(self, node: ast.AST) -> ast.AST:
        parent = self.get(node)
        if parent is None:
            raise KeyError(node)
        return parent

    def __iter__(self) -> Iterator[ast.AST]:
        self._complete()
        return iter(self._known)

    def _complete(self) -> None:
        if not self._started:
            self._started = True
            self._visit(self._tree)
        while self._closed:
            self._open(next(iter(self._closed)))

    def _open(self, definition: ast.AST) -> None:
        del self._closed[definition]
        self._visit(definition)

    def _visit(self, root: ast.AST) -> None:
        """Note the parents of everything below `root`, leaving definitions closed."""
        known = self._known
        stack = [root]
        while stack:
            node = stack.pop()
            for field in child_fields(node.__class__):
                value = getattr(node, field, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            known[item] = node
                            if isinstance(item, _DEFINITIONS):
                                self._close(item)
                            else:
                                stack.append(item)
                elif isinstance(value, ast.AST):
                    known[value] = node
                    stack.append(value)

    def _close(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        self._closed[node] = first, node.end_lineno or node.lineno
