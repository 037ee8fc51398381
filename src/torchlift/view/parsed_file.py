"""The text of one file, its tree and its scopes: what lies where, and inside of what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlift.source import SourceText, Span
from torchlift.view.parents import Parents
from torchlift.view.scopes import Scope, ScopeTree


class ParsedFile:
    """One parsed file.

    Attributes:
        path: relative to the project root, forward slashes.
        source: its text.
        tree: its syntax tree.
        scopes: its scopes, what they bind and what is read in them.
    """

    def __init__(self, path: str, source: SourceText, tree: ast.Module) -> None:
        self.path = path
        self.source = source
        self.tree = tree
        self.scopes = ScopeTree(tree)

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> Span:
        """Characters that `node` covers."""
        return self.source.span(node)

    def text(self, node: ast.expr | ast.stmt | ast.alias) -> str:
        """Source text of `node`."""
        return self.source.slice(self.span(node))

    @cached_property
    def parents(self) -> Parents:
        """The parent of every node but the module; iterating gives all nodes."""
        return Parents(self.tree)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around `node`."""
        return self.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, from the inside out."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def upwards(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """`node` and what stands right around it, then that and what stands around it, and so on."""
        parent = self.parents.get(node)
        while parent is not None:
            yield node, parent
            node, parent = parent, self.parents.get(parent)

    def choices(self, node: ast.AST, within: ast.AST | None = None) -> Iterator[tuple[ast.If | ast.IfExp, bool]]:
        """What chooses whether `node` runs, from the inside out and up to `within`, and whether it runs where the test holds."""
        for child, around in self.upwards(node):
            if around is within:
                return
            if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
                yield around, child is around.body or (isinstance(around, ast.If) and child in around.body)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node`."""
        current: ast.AST = node
        while not isinstance(current, ast.stmt):
            current = self.parents[current]
        return current

    def simple_statement_span(self, node: ast.AST) -> Span:
        """Span of the statement that holds `node`; for a compound statement, of its header only."""
        statement = self.statement(node)
        span = self.span(statement)
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            decorators = getattr(statement, "decorator_list", [])
            start = min([span.start, *(self.span(decorator).start for decorator in decorators)])
            head = self.source.text[start : self.span(body[0]).start]
            return Span(start, start + len(head.rstrip()))
        return span

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that `statement` stands in."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and any(item is statement for item in block):
                return block
        raise LookupError("statement without a block")

    def step_of_indentation(self, statement: ast.stmt) -> str:
        """What the block of a statement stands further in than what it belongs to; four blanks where that is nothing."""
        inner = self.source.indentation(self.span(statement).start)
        parent = self.parent(statement)
        outer = self.source.indentation(self.span(parent).start) if isinstance(parent, ast.stmt) else ""
        return inner.removeprefix(outer) or "    "

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope in which `node` is evaluated, for nodes inside bodies."""
        for previous, ancestor in self.upwards(node):
            scope = self.scopes.scope_of.get(ancestor)
            if scope is not None and not self._outside_body(ancestor, previous):
                return scope
        return self.scopes.module

    @staticmethod
    def _outside_body(definition: ast.AST, child: ast.AST) -> bool:
        body = getattr(definition, "body", None)
        if isinstance(definition, ast.Lambda):
            return child is not definition.body
        return isinstance(body, list) and not isinstance(child, ast.stmt)

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function whose body holds `node`."""
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return ancestor
        return None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around `node`."""
        return next((ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, ast.ClassDef)), None)
