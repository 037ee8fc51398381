"""One file on its way through a run: read, checked, edited, verified. Python and other text are two kinds of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from torchlift.migrate.find.check import Checked, Dispatcher, check_text, not_checked
from torchlift.migrate.find.suppress import Suppression, read_suppressions, read_text_suppressions
from torchlift.migrate.find.unreadable import why_unreadable
from torchlift.notebook import is_notebook
from torchlift.source import SourceText, UnreadableSource
from torchlift.view.text import WITH_PYTHON, TextView, kind_in_run, read_text, text_kind

if TYPE_CHECKING:
    from torchlift.finding import Rewrite, TextEdit
    from torchlift.project import Project
    from torchlift.rules.rule import Settings
    from torchlift.view import ModuleView


class Document(ABC):
    """A file in one state of its project.

    Every member may raise what reading and parsing raise: OSError, UnreadableSource, SyntaxError, ValueError,
    RecursionError, MemoryError.
    """

    def __init__(self, project: Project, path: str) -> None:
        self.project = project
        self.path = path

    @cached_property
    @abstractmethod
    def source(self) -> SourceText:
        """Its text."""

    @abstractmethod
    def read(self) -> None:
        """Read and parse it, for all that follows."""

    @abstractmethod
    def check(self, rules: Dispatcher, settings: Settings) -> Checked:
        """What rules find in it."""

    @abstractmethod
    def suppressions(self) -> list[Suppression]:
        """The comments in it that silence findings, in source order."""

    @abstractmethod
    def edits(self, rewrites: Sequence[Rewrite]) -> list[TextEdit]:
        """Non-overlapping edits, in order, that carry out all `rewrites`.

        Raises:
            CannotEdit: one cannot be carried out, or two contradict each other.
        """

    @abstractmethod
    def left_over(self, rewrites: Sequence[Rewrite]) -> Sequence[Rewrite]:
        """Rewrites that take away what nothing uses after `rewrites`."""

    @abstractmethod
    def tidied(self, new: SourceText) -> SourceText:
        """`new`, which it has become, without what fixes have left behind."""

    @abstractmethod
    def problem_with(self, edits: Sequence[TextEdit], new: SourceText) -> str | None:
        """Why `new`, its text after `edits`, must not be written; None if it may be."""


class PythonDocument(Document):
    """A file of Python."""

    @cached_property
    def view(self) -> ModuleView:
        """What rules see of it."""
        return self.project.parse(self.path)

    @cached_property
    def source(self) -> SourceText:
        """Its text; it need not be valid Python."""
        return self.project.source(self.path)

    def read(self) -> None:
        """Read and parse it."""
        _ = self.view

    def check(self, rules: Dispatcher, settings: Settings) -> Checked:
        """What rules find in it."""
        return rules.check(self.project, self.view, settings)

    def suppressions(self) -> list[Suppression]:
        """The comments in it that silence findings, in source order."""
        return read_suppressions(self.source)

    def edits(self, rewrites: Sequence[Rewrite]) -> list[TextEdit]:
        """Edits that carry out all `rewrites`."""
        from torchlift.migrate.fix.long_lines import line_length, wrapped
        from torchlift.migrate.fix.rewrite import build
        from torchlift.migrate.fix.rewrite.new_imports import sorts_together

        edits = build.build_edits(self.view, rewrites, mixed=sorts_together(self.project.root))
        return wrapped(self.view, edits, line_length(self.project.root))

    def left_over(self, rewrites: Sequence[Rewrite]) -> Sequence[Rewrite]:
        """Removals of what nothing uses after `rewrites`."""
        from torchlift.migrate.fix.rewrite.cleanup import unused_imports
        from torchlift.migrate.fix.rewrite.leftovers import leftovers
        from torchlift.migrate.fix.rewrite.orphans import orphans

        once = tuple(dict.fromkeys(rewrites))  # several findings of one condition have the same ones
        left = [what for find in (unused_imports, orphans, leftovers) for what in find(self.project, self.view, once)]
        return tuple(dict.fromkeys(left))

    def tidied(self, new: SourceText) -> SourceText:
        """`new` without empty branches, names that nothing reads, and the like, as far as they were not there before."""
        from torchlift.migrate.fix.rewrite.tidying import tidied

        return tidied(self.project, self.view, new)

    def problem_with(self, edits: Sequence[TextEdit], new: SourceText) -> str | None:
        """Why `new` must not be written: it does not parse, or a statement changed that no edit concerns."""
        from torchlift.migrate.fix.verify import problem_with

        return problem_with(self.view, edits, new)


class TextDocument(Document):
    """A script, a container file, YAML, requirements, or another file that is no Python."""

    @cached_property
    def view(self) -> TextView:
        """What rules see of it."""
        source = self.source
        return TextView(self.path, kind_in_run(self.path, source.to_bytes()), source)

    @cached_property
    def source(self) -> SourceText:
        """Its text."""
        return self.project.overlay.get(self.path) or read_text(self.project.data(self.path))

    def read(self) -> None:
        """Read it; no language of these is parsed."""
        _ = self.view

    def check(self, rules: Dispatcher, settings: Settings) -> Checked:
        """What rules find in it."""
        return check_text(rules.rules, self.project, self.view, settings)

    def suppressions(self) -> list[Suppression]:
        """The comments in it that silence findings, in source order."""
        return read_text_suppressions(self.view)

    def edits(self, rewrites: Sequence[Rewrite]) -> list[TextEdit]:
        """Edits that carry out all `rewrites`, which have to be made for text."""
        from torchlift.migrate.fix.text_edits import text_edits

        return text_edits(self.view, rewrites)

    def left_over(self, rewrites: Sequence[Rewrite]) -> Sequence[Rewrite]:
        """Nothing: what a script or a list of requirements holds besides is not known to be of no use."""
        return ()

    def tidied(self, new: SourceText) -> SourceText:
        """`new`: nothing is known of what is left in it."""
        return new

    def problem_with(self, edits: Sequence[TextEdit], new: SourceText) -> str | None:
        """Why `new` must not be written: to its own parser, or by its lines, it means something else."""
        from torchlift.migrate.fix.text_edits import problem_with_text

        return problem_with_text(self.view, edits, new)


def open_document(project: Project, path: str) -> Document:
    """A file as the kind of document that it is."""
    if not project.is_python(path):
        if text_kind(path) not in WITH_PYTHON:
            return TextDocument(project, path)
        from torchlift.migrate.page_document import PageDocument

        return PageDocument(project, path)
    if is_notebook(path):
        from torchlift.migrate.notebook_document import NotebookDocument

        return NotebookDocument(project, path)
    return PythonDocument(project, path)


def texts_in(states: tuple[Project, Project], path: str) -> tuple[SourceText, SourceText]:
    """The text of a file in two states of a project."""
    before, after = (open_document(state, path).source for state in states)
    return before, after


def check_document(document: Document, rules: Dispatcher, settings: Settings) -> Checked:
    """What rules find in a file; that it cannot be read, or that something crashes on it, is part of the result."""
    project, path = document.project, document.path
    with project.listening() as asked:
        asked.files.add(path)
        checked = _checked(document, rules, settings)
    project.done(path)
    return replace(checked, asked=project.all_asked(asked))


def _checked(document: Document, rules: Dispatcher, settings: Settings) -> Checked:
    try:
        try:
            document.read()
        except (OSError, UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Checked(document.path, unreadable=why_unreadable(error))
        return replace(document.check(rules, settings), suppressions=tuple(document.suppressions()))
    except Exception:
        return not_checked(document.path)
