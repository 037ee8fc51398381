"""What only deleted definitions used goes with them: helpers, fixtures, constants and imports of a file of tests.

In other files somebody may import what looks unused; of a file of tests nobody is expected to, and whoever does is found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cached_property
from typing import TypeGuard

from torchlift.finding import DeleteStatement, EditImport, Rewrite
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.source import Span
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_SET_UP = lazy_pattern(r"(?:setUp|tearDown|setup|teardown)\w*$|__\w+__$|async(?:SetUp|TearDown)$")
_GRADIENTS = lazy_pattern(r"\btorch\.(?:no_grad|inference_mode|enable_grad)\b")
_FRAMEWORKS = lazy_pattern(r"(?:\w*TestCase|object)$")


def orphans(project: Project, view: ModuleView, rewrites: Iterable[Rewrite]) -> list[DeleteStatement | EditImport]:
    """Removals of what nothing in a file of tests would use once the definitions that `rewrites` delete are gone."""
    if not is_test_file(view.path):
        return []
    return _Orphans(project, view, list(rewrites)).found()


class _Orphans:
    def __init__(self, project: Project, view: ModuleView, rewrites: list[Rewrite]) -> None:
        self.project = project
        self.view = view
        self.gone: list[Span] = []
        self.lost: list[Span] = []
        deleted = {rewrite.span for rewrite in rewrites if isinstance(rewrite, DeleteStatement)}
        self.definitions = [node for node in walk(view.tree) if isinstance(node, Definition)]
        for node in self.definitions:
            if view.span(node) in deleted:
                self._take(node)
        self.gone += deleted
        self.taken: set[ast.AST] = set()
        self.removals: list[DeleteStatement | EditImport] = []

    def found(self) -> list[DeleteStatement | EditImport]:
        """The removals."""
        if not self.lost:
            return []
        before = -1
        while before != len(self.removals):
            before = len(self.removals)
            for node in self.definitions:
                if node not in self.taken and not self._is_gone(node) and self._is_orphan(node):
                    self.taken.add(node)
                    self._take(node)
                    comments = len(comments_above(self.view, node))
                    self.removals.append(DeleteStatement(self.view.span(node), comments))
            for bound in self.view.scopes.module.bindings.values():
                if len(bound) == 1 and bound[0].node not in self.taken:
                    self._name(bound[0])
        return self.removals

    def _take(self, node: Definition) -> None:
        spans = [self.view.span(item) for item in (*node.decorator_list, node)]
        whole = Span(min(span.start for span in spans), max(span.end for span in spans))
        self.gone.append(whole)
        self.lost.append(whole)

    def _is_gone(self, node: ast.stmt | ast.expr) -> bool:
        span = self.view.span(node)
        return any(area.contains(span) for area in self.gone)

    def _lost_all(self, reads: Iterable[ast.expr]) -> bool:
        """Whether something was read, all of it in what goes, and some in a definition that does."""
        spans = [self.view.span(read) for read in reads]
        return (
            bool(spans)
            and all(any(area.contains(span) for area in self.gone) for span in spans)
            and any(area.contains(span) for area in self.lost for span in spans)
        )

    # Definitions

    def _is_orphan(self, node: Definition) -> bool:
        owner = self.view.parent(node)
        if isinstance(node, ast.ClassDef):
            if not isinstance(owner, ast.Module) or not self._unread(node):
                return False
            return self._is_emptied(node) or (not _is_test(node.name, self._tests(node)) and self._lost_reads(node))
        if isinstance(owner, ast.ClassDef):
            return self._is_lost_method(node)
        if not isinstance(owner, ast.Module) or node.name.startswith("test"):
            return False
        if any(not _GRADIENTS.search(ast.unparse(item)) for item in node.decorator_list):
            return self._is_lost_fixture(node)
        return self._lost_reads(node) and self._unread(node)

    def _binding(self, node: Definition) -> Binding | None:
        bound = self.view.scopes.module.bindings.get(node.name, [])
        return bound[0] if len(bound) == 1 and bound[0].node is node else None

    def _reads(self, node: Definition) -> list[ast.expr]:
        binding = self._binding(node)
        inside = self.view.span(node)
        reads = [read for read, _ in self.view.reads_of(binding)] if binding is not None else []
        return [read for read in reads if not inside.contains(self.view.span(read))]

    def _lost_reads(self, node: Definition) -> bool:
        return self._lost_all(self._reads(node))

    def _unread(self, node: Definition) -> bool:
        """Whether nothing that stays reads a definition of the module, here or in other files."""
        binding = self._binding(node)
        return (
            binding is not None
            and all(self._is_gone(read) for read in self._reads(node))
            and not self._is_named(node.name, node)
            and not self.project.may_be_imported(self.view, binding)
        )

    def _is_named(self, name: str, definition: ast.stmt) -> bool:
        """Whether a string or a comment that stays holds the name."""
        own = self.view.span(definition)
        for constant in walk(self.view.tree):
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                span = self.view.span(constant)
                named = re.search(rf"\b{re.escape(name)}\b", constant.value)
                if named and not own.contains(span) and not self._is_gone(constant):
                    return True
        return False

    def _tests(self, node: ast.ClassDef) -> bool:
        """Whether a class has tests that stay, or may have some from a base."""
        if any(_is_function(item) and item.name.startswith("test") and not self._is_gone(item) for item in node.body):
            return True
        for base in node.bases:
            binding = self.view.definition(base)
            if binding is not None and isinstance(binding.node, ast.ClassDef):
                if self._tests(binding.node):
                    return True
            elif not _FRAMEWORKS.search(ast.unparse(base)):
                return True
        return False

    def _is_emptied(self, node: ast.ClassDef) -> bool:
        """Whether a class of tests lost the last of them."""
        lost = any(_is_function(item) and item.name.startswith("test") for item in node.body if self._is_gone(item))
        return lost and not self._tests(node) and all(_is_member(item) for item in node.body)

    def _is_lost_method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if node.name.startswith("test") or _SET_UP.match(node.name) or _is_property(node):
            return False
        inside = self.view.span(node)
        reads = [read for read in self.view.attributes_named(node.name) if not inside.contains(self.view.span(read))]
        return (
            self._lost_all(reads)
            and not self._is_named(node.name, node)
            and not (self._may_be_subclassed(node) and self._is_read_elsewhere(node.name))
            and not self._may_be_called_by_base(node)
        )

    def _may_be_called_by_base(self, method: Definition) -> bool:
        """Whether a class that stands in another file, and is no framework's, is a base around a method."""
        owner = self.view.parent(method)
        bases = owner.bases if isinstance(owner, ast.ClassDef) else []
        other = (base for base in bases if _FRAMEWORKS.search(ast.unparse(base)) is None)
        return any(
            (bound := self.view.definition(base)) is None or not isinstance(bound.node, ast.ClassDef) for base in other
        )

    def _may_be_subclassed(self, method: Definition) -> bool:
        owner = self.view.parent(method)
        binding = self._binding(owner) if isinstance(owner, ast.ClassDef) else None
        return binding is None or self.project.may_be_imported(self.view, binding)

    def _is_read_elsewhere(self, name: str) -> bool:
        return bool(self.project.files_with_attribute(name, (self.view.path,)))

    def _is_lost_fixture(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if len(node.decorator_list) != 1 or "autouse" in ast.unparse(node.decorator_list[0]):
            return False
        if not re.search(r"(?:^|\.)fixture\b", ast.unparse(node.decorator_list[0])) or self._conftest:
            return False
        users = [
            other
            for other in self.definitions
            if _is_function(other) and other is not node
            for parameter in (*other.args.posonlyargs, *other.args.args, *other.args.kwonlyargs)
            if parameter.arg == node.name
        ]
        return bool(users) and all(self._is_gone(user) for user in users) and self._unread(node)

    @cached_property
    def _conftest(self) -> bool:
        return self.view.path.rpartition("/")[2] == "conftest.py"

    # Imports and constants

    def _name(self, binding: Binding) -> None:
        statement = binding.statement
        if statement is None or self._is_gone(statement) or self.view.parent(statement) is not self.view.tree:
            return
        if not self._lost_all(read for read, _ in self.view.reads_of(binding)) or self._conftest:
            return
        if self._is_named(binding.name, statement) or self.project.may_be_imported(self.view, binding):
            return
        self.taken.add(binding.node)
        span = self.view.span(statement)
        if isinstance(statement, ast.ImportFrom) and isinstance(binding.node, ast.alias) and len(statement.names) > 1:
            self.removals.append(EditImport(span, binding.node.name, binding.name))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)) and len(statement.names) == 1:
            self.removals.append(DeleteStatement(span))
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is_constant(statement.value):
            self.gone.append(span)
            self.lost.append(span)
            self.removals.append(DeleteStatement(span, len(comments_above(self.view, statement))))


def _is_function(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _is_test(name: str, tests: bool) -> bool:
    return tests and name.startswith("Test")


def _is_member(node: ast.stmt) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or _is_function(node) or isinstance(node, (ast.Assign, ast.AnnAssign, ast.Pass))


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(item).rpartition(".")[2] for item in node.decorator_list}
    return bool(names - {"staticmethod", "classmethod"})


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(child, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield)) for child in walk(node))
