"""What rewrites leave behind without a use: names that only they imported, private helpers, comments on what has gone.

Code outside the project may use whatever does not begin with an underscore, so only private definitions go. Of files of
tests only imports of what was called go here; the rest of them is the business of `orphans`.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from torchlift.finding import (
    AddImport,
    DeleteStatement,
    DropDecorator,
    DropOperand,
    EditComment,
    EditImport,
    KeepBranch,
    Rewrite,
)
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.areas import Areas
from torchlift.migrate.fix.rewrite.cleanup import new_texts, removed
from torchlift.project import Project
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.torchscript.values.stale_comments import comments_on_operand, without_stale_comments
from torchlift.source import Span
from torchlift.view import Binding, ModuleView
from torchlift.view.walk import walk

_WORD = lazy_pattern(r"\w+")
# Modules that do nothing which is wanted when they are imported and not used.
_QUIET = frozenset(
    "typing typing_extensions collections functools itertools contextlib abc dataclasses warnings math torch timm".split()
)
_WITH_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_Rewritten = DeleteStatement | EditImport | EditComment


def leftovers(project: Project, view: ModuleView, rewrites: Iterable[Rewrite]) -> list[_Rewritten]:
    """Removals of what nothing in a file would use after `rewrites`, and of comments that would speak of nothing."""
    rewrites = list(rewrites)
    found: list[_Rewritten] = [*_Unused(project, view, rewrites).found()]
    deleted = {one.span for one in (*rewrites, *found) if isinstance(one, DeleteStatement)}
    return [*found, *_stale_comments(view, rewrites, deleted)]


class _Unused:
    def __init__(self, project: Project, view: ModuleView, rewrites: Sequence[Rewrite]) -> None:
        self.project = project
        self.view = view
        self.gone = Areas(removed(view, rewrites))
        self.kept = {word for text in new_texts(rewrites) for word in _WORD.findall(text)}
        self.added = [one.statement.split()[1] for one in rewrites if isinstance(one, AddImport)]
        self.imports = {(one.span, one.name) for one in rewrites if isinstance(one, EditImport)}
        self.removals: dict[ast.AST, DeleteStatement | EditImport] = {}
        self.tests = is_test_file(view.path)

    def found(self) -> list[_Rewritten]:
        before = -1
        while self.gone and before != len(self.removals):
            before = len(self.removals)
            for bound in self.view.scopes.module.bindings.values():
                if len(bound) == 1:
                    self._name(bound[0])
            for node in () if self.tests else walk(self.view.tree):
                if isinstance(node, ast.FunctionDef) and isinstance(self.view.parent(node), ast.ClassDef):
                    self._method(node)
        return list(self.removals.values())

    def _is_gone(self, node: ast.expr | ast.stmt) -> bool:
        return self.gone.contain(self.view.span(node))

    def _lost(self, reads: Sequence[ast.expr], definition: ast.stmt) -> bool:
        """Whether something besides the definition itself read a name, and nothing does any more."""
        inside = self.view.span(definition)
        outside = [read for read in reads if not inside.contains(self.view.span(read))]
        return bool(outside) and all(map(self._is_gone, outside))

    def _name(self, binding: Binding) -> None:
        statement, name = binding.statement, binding.name
        if isinstance(binding.node, ast.FunctionDef):
            statement = binding.node
        if statement is None or binding.node in self.removals or self.view.parent(statement) is not self.view.tree:
            return
        span = self.view.span(statement)
        reads = [read for read, _ in self.view.reads_of(binding)]
        if self._is_gone(statement) or not self._lost(reads, statement) or self._is_told(name):
            return
        if self.tests and not (isinstance(binding.node, ast.alias) and any(map(self._is_called, reads))):
            return  # pytest finds fixtures by their names, but calls of them it refuses
        if isinstance(statement, ast.ImportFrom) and isinstance(binding.node, ast.alias):
            if (span, binding.node.name) not in self.imports and (
                self._is_loaded_anew(statement) or does_nothing_when_loaded(self.project, self.view, statement)
            ):
                self.removals[binding.node] = EditImport(span, binding.node.name, name)
        elif not name.startswith("_") or self.project.files_with_attribute(name, (self.view.path,)):
            return
        elif isinstance(statement, ast.FunctionDef) and all(map(self._compiles, statement.decorator_list)):
            self._delete(statement)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is_constant(statement.value):
            self.removals[binding.node] = DeleteStatement(span, len(comments_above(self.view, statement)))
            self.gone.add(span)

    def _is_called(self, read: ast.expr) -> bool:
        around = self.view.parent(read)
        return isinstance(around, ast.Call) and around.func is read

    def _is_loaded_anew(self, statement: ast.ImportFrom) -> bool:
        """Whether another import of the file, or one that a fix brings, loads the module of `statement`, too."""
        others = [module for other, module in self._imported if other is not statement]
        loaded = (*self.added, *others)
        return not statement.level and any(f"{module}.".startswith(f"{statement.module}.") for module in loaded)

    @property
    def _imported(self) -> Iterator[tuple[ast.stmt, str]]:
        """What imports at the top of the file load that stay."""
        for statement in self.view.tree.body:
            if self._is_gone(statement):
                continue
            if isinstance(statement, ast.Import):
                yield from ((statement, alias.name) for alias in statement.names)
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                stays = any(alias not in self.removals for alias in statement.names)
                yield statement, (statement.module or "") if stays else ""

    def _compiles(self, decorator: ast.expr) -> bool:
        """Whether a decorator makes TorchScript of a function, for whoever calls that."""
        return self.view.certain_name(decorator) in {"torch.jit.script", "torch.jit.script_if_tracing"}

    def _method(self, node: ast.FunctionDef) -> None:
        private = node.name.startswith("_") and not node.name.startswith("__") and not node.decorator_list
        if not private or node in self.removals or self._is_gone(node):
            return
        if not self._lost(self.view.attributes_named(node.name), node) or self._is_told(node.name):
            return
        if not self.project.files_with_attribute(node.name, (self.view.path,)):
            self._delete(node)

    def _delete(self, node: ast.FunctionDef) -> None:
        span = self.view.span(node)
        self.removals[node] = DeleteStatement(span, len(comments_above(self.view, node)))
        self.gone.add(span)

    def _is_told(self, name: str) -> bool:
        """Whether a string or new code names it, or another file of the project may import it."""
        if name in self.kept:
            return True
        word = re.compile(rf"\b{re.escape(name)}\b")
        for node in walk(self.view.tree):
            named = isinstance(node, ast.Constant) and isinstance(node.value, str) and word.search(node.value)
            if named and isinstance(node, ast.Constant) and not self._is_gone(node):
                return True
        bindings = self.view.scopes.module.bindings.get(name, ())
        return any(self.project.may_be_imported(self.view, binding) for binding in bindings)


def does_nothing_when_loaded(project: Project, view: ModuleView, statement: ast.ImportFrom) -> bool:
    """Whether loading the module of an import does nothing that is wanted though no name of it is."""
    module = view.absolute("." * statement.level + (statement.module or "")) or ""
    if module == "__future__":
        return False
    if module.partition(".")[0] in _QUIET:
        return True
    path = project.find_module(module, view.path)
    loaded = project.view(path) if path is not None else None
    return loaded is not None and all(map(_is_quiet, loaded.tree.body))


def _is_quiet(statement: ast.stmt) -> bool:
    """Whether a statement of a module does nothing but bind names."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return not statement.decorator_list and not getattr(statement, "keywords", [])
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is None or _is_constant(statement.value)
    plain = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return plain or isinstance(statement, (ast.Import, ast.ImportFrom))


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(child, (ast.Call, ast.Await, ast.NamedExpr, ast.Subscript)) for child in walk(node))


def _stale_comments(view: ModuleView, rewrites: Iterable[Rewrite], deleted: set[Span]) -> Iterator[EditComment]:
    """Comments right above what is taken out that speak of TorchScript in one sentence, and of nothing else."""
    rewrites = list(rewrites)
    taken = (rewrite for rewrite in rewrites if isinstance(rewrite, (DropOperand, DropDecorator, KeepBranch)))
    around = (_statement_of(view, rewrite.span) for rewrite in taken)
    stay = (one for one in around if one is not None and view.span(one) not in deleted)
    yield from without_stale_comments(view, stay, captured=False)
    for span in [rewrite.span for rewrite in rewrites if isinstance(rewrite, DropOperand)]:
        statement = _statement_of(view, span)
        if statement is not None and view.span(statement) not in deleted:
            yield from comments_on_operand(view, statement, span)


def _statement_of(view: ModuleView, span: Span) -> ast.stmt | None:
    """The innermost statement around some code."""
    found: ast.stmt | None = None
    pending: list[ast.AST] = [view.tree]
    while pending:
        node = pending.pop()
        for _, block in ast.iter_fields(node):
            if not isinstance(block, list) or not block or not isinstance(block[0], _WITH_STATEMENTS):
                continue
            if not isinstance(block[0], ast.stmt):  # handlers and cases
                pending += block
                continue
            at = bisect_right(block, span.start, key=lambda one: _whole(view, one).start) - 1
            if at >= 0 and _whole(view, block[at]).contains(span):
                found, pending = block[at], [block[at]]
                break
    return found


def _whole(view: ModuleView, node: ast.stmt) -> Span:
    span = view.span(node)
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return Span(min((span.start, *(view.span(item).start for item in decorators))), span.end)
