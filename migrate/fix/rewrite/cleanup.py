"""Imports whose every use is rewritten away go with the uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.finding import (
    DeleteStatement,
    DropDecorator,
    DropOperand,
    EditCall,
    EditImport,
    InsertStatements,
    KeepBranch,
    ReplaceExpression,
    Rewrite,
)
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.rewrite.branches import keep_branch
from torchlift.project import Project
from torchlift.source import Span
from torchlift.view import Binding, ModuleView

_WORD = lazy_pattern(r"(?<![.$\w])\w+")

# Packages that a rewrite can leave behind altogether; `import torch` and modules by their full name always stay.
_LEFT_BEHIND = frozenset({"functorch"})
# Packages of which a single name is imported for what it does, and for nothing that loading its module does.
_COMPILES = ("torch.", "e3nn.util.jit.", "e3nn.util._jit.")
# Parts of torch that `import torch` leaves out: a new name may be there because such an import has loaded its module.
_LOADS_MORE = ("torch.distributed", "torch.export", "torch.ao")


def unused_imports(
    project: Project, view: ModuleView, rewrites: Iterable[Rewrite]
) -> list[EditImport | DeleteStatement]:
    """Removals of `from torch... import name` names, and of modules, that nothing would use after `rewrites`.

    A name stays if other code may import it from here: in a package's `__init__`, in `__all__`, or when another file of
    the project mentions both this module and the name. It stays, too, for an annotation in quotes, where nothing is rewritten.
    """
    rewrites = list(rewrites)
    edited = {(rewrite.span, rewrite.name) for rewrite in rewrites if isinstance(rewrite, EditImport)}
    gone = list(removed(view, rewrites))
    quoted = {
        word
        for constant, _ in view.scopes.quoted
        if not any(area.contains(view.span(constant)) for area in gone)
        for word in _WORD.findall(str(constant.value))
    }
    written = {word for text in new_texts(rewrites) for word in _WORD.findall(text)}
    removals: list[EditImport | DeleteStatement] = []
    for scope in view.scopes.scope_of.values():
        for bound in scope.bindings.values():
            for binding in bound:
                if not _is_torch_name(view, binding):
                    continue
                assert isinstance(binding.node, ast.alias) and binding.statement is not None
                span = view.span(binding.statement)
                reads = [view.span(read) for read, _ in view.reads_of(binding)]
                if (
                    reads
                    and binding.name not in written | quoted
                    and (span, binding.node.name) not in edited
                    and all(any(area.contains(read) for area in gone) for read in reads)
                    and not project.may_be_imported(view, binding)
                ):
                    if isinstance(binding.statement, ast.Import):
                        removals.append(DeleteStatement(span))
                    else:
                        removals.append(EditImport(span, binding.node.name, binding.name))
    return removals


def new_texts(rewrites: Iterable[Rewrite]) -> Iterator[str]:
    """Every text that the rewrites bring in."""
    for rewrite in rewrites:
        match rewrite:
            case ReplaceExpression():
                yield rewrite.template.text
            case EditCall():
                templates = [
                    rewrite.function,
                    rewrite.first,
                    *(t for _, t in rewrite.arguments),
                    *(t for _, t in rewrite.add),
                ]
                yield from (template.text for template in templates if template is not None)
                yield rewrite.outer or ""
            case InsertStatements():
                yield from rewrite.lines
            case _:
                pass


def _is_torch_name(view: ModuleView, binding: Binding) -> bool:
    if isinstance(binding.statement, ast.Import):
        if len(binding.statement.names) != 1:
            return False
        return binding.imported in _LEFT_BEHIND or _is_renamed_module(binding)
    if not isinstance(binding.statement, ast.ImportFrom) or binding.imported is None:
        return False
    return (view.absolute(binding.imported) or "").startswith(_COMPILES)


def _is_renamed_module(binding: Binding) -> bool:
    """Whether it is `import torch.cuda.amp as amp`, of a module that nothing but this name is imported for."""
    assert isinstance(binding.node, ast.alias)
    name = binding.imported or ""
    return binding.node.asname is not None and name.startswith("torch.") and not name.startswith(_LOADS_MORE)


def removed(view: ModuleView, rewrites: Iterable[Rewrite]) -> Iterator[Span]:
    """Areas of the old text that do not survive."""
    for rewrite in rewrites:
        match rewrite:
            case DropDecorator() | DeleteStatement() | DropOperand() | KeepBranch(branch=None):
                yield rewrite.span
            case KeepBranch():
                yield from (edit.span for edit in keep_branch(view, rewrite.span, rewrite.branch).edits)
            case ReplaceExpression():
                start = rewrite.span.start
                for _, part in sorted(rewrite.template.parts, key=lambda item: item[1]):
                    yield Span(start, part.start)
                    start = part.end
                yield Span(start, rewrite.span.end)
            case EditCall() if rewrite.function is not None and rewrite.callee is not None:
                yield rewrite.callee
            case _:
                pass
