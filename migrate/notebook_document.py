"""A Jupyter notebook on its way through a run: Python, with commands for a shell in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from torchlift.finding import ReplaceText
from torchlift.migrate.document import PythonDocument
from torchlift.migrate.find.check import Checked, Dispatcher, check_text
from torchlift.migrate.find.unreadable import unreadable_finding
from torchlift.notebook.magics import MARK, runs_python, wrong_line
from torchlift.notebook.source import NotebookSource
from torchlift.source import Span, UnreadableSource
from torchlift.view.text import TextView

if TYPE_CHECKING:
    from torchlift.finding import Finding, Rewrite, TextEdit
    from torchlift.rules.rule import Settings
    from torchlift.source import SourceText

_UNREADABLE = "TL902"


class NotebookDocument(PythonDocument):
    """A notebook."""

    @cached_property
    def notebook(self) -> NotebookSource:
        """Its Python."""
        source = self.source
        assert isinstance(source, NotebookSource)
        return source

    @cached_property
    def commands(self) -> TextView:
        """What a shell runs of it."""
        return TextView(self.path, "shell", self.notebook.commands)

    def check(self, rules: Dispatcher, settings: Settings) -> Checked:
        """What rules find in its Python and in its commands, and which cells are neither."""
        checked = super().check(rules, settings)
        texts = check_text(rules.rules, self.project, self.commands, settings)
        found = [*checked.findings, *texts.findings]
        if any(rule.code == _UNREADABLE for rule in rules.rules):
            found += self._unparsed()
        return replace(
            checked,
            findings=tuple(sorted(found, key=lambda finding: finding.sort_key())),
            failures=(*checked.failures, *texts.failures),
            crashed=checked.crashed | texts.crashed,
        )

    def _unparsed(self) -> list[Finding]:
        found = []
        for cell in self.notebook.cells:
            if cell.number in self.notebook.unparsed and "torch" in cell.text:
                reason = f"cell {cell.number} is no Python"
                line = self.notebook.first_line(cell.number) + wrong_line(cell.text) - 1
                start = self.notebook.text.index(MARK, self.notebook.line_starts[line - 1])
                end = self.notebook.text.find("\n", start)
                span = Span(start + len(MARK), end if end >= 0 else len(self.notebook.text))
                help_ = "Nothing is known about this cell, and the other ones are read without it."
                found.append(replace(unreadable_finding(self.path, reason), span=span, statement=span, help=help_))
        return found

    def edits(self, rewrites: Sequence[Rewrite]) -> list[TextEdit]:
        """Edits that carry out all `rewrites`, in the Python and in the commands."""
        from torchlift.migrate.fix.rewrite.fragments import CannotEdit
        from torchlift.migrate.fix.text_edits import text_edits

        in_commands = [rewrite for rewrite in rewrites if self._is_command(rewrite)]
        in_python = super().edits([rewrite for rewrite in rewrites if not self._is_command(rewrite)])
        kept = self.notebook.kept_spans
        if any(edit.span.overlaps(span) for edit in in_python for span in kept):
            raise CannotEdit("it would change what IPython runs, or move code from one cell to another.")
        edits = [*self._with_empty_cells(in_python), *text_edits(self.commands, in_commands)]
        return sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))

    def _with_empty_cells(self, edits: Sequence[TextEdit]) -> list[TextEdit]:
        """Edits that leave a line of a cell of which nothing is left: the lines between cells are told apart by it."""
        kept = list(edits)
        for cell in self.notebook.cells[:-1]:
            line = self.notebook.first_line(cell.number)
            text = Span(
                *(self.notebook.line_starts[number - 1] for number in (line, self.notebook.part(line).last + 1))
            )
            inside = [edit for edit in edits if text.contains(edit.span)]
            gone = sum(edit.span.end - edit.span.start for edit in inside)
            if inside and gone == text.end - text.start and not any(edit.text for edit in inside):
                last = inside[-1]
                kept[kept.index(last)] = replace(last, span=Span(last.span.start, last.span.end - 1))
        return kept

    def _is_command(self, rewrite: Rewrite) -> bool:
        return isinstance(rewrite, ReplaceText) and MARK in self.notebook.line(
            self.notebook.location(rewrite.span.start)[0]
        )

    def left_over(self, rewrites: Sequence[Rewrite]) -> Sequence[Rewrite]:
        """Nothing where magics run Python that may use what looks idle."""
        return () if runs_python(self.notebook.text) else super().left_over(rewrites)

    def tidied(self, new: SourceText) -> SourceText:
        """`new`, tidied as far as its cells stay apart, what IPython runs stays, and that uses nothing of it."""
        if runs_python(self.notebook.text):
            return new
        try:
            tidied = super().tidied(new)
        except UnreadableSource:  # without the line of an empty cell
            return new
        assert isinstance(tidied, NotebookSource)
        assert isinstance(new, NotebookSource)
        apart = tidied.cell_texts(tidied.text) is not None
        return tidied if apart and tidied.kept_lines == new.kept_lines else new

    def problem_with(self, edits: Sequence[TextEdit], new: SourceText) -> str | None:
        """Why `new` must not be written: as Python, as commands, or because the notebook would not read back as it."""
        from torchlift.migrate.fix.text_edits import problem_with_text

        assert isinstance(new, NotebookSource)
        try:
            if NotebookSource.of_file(new.to_bytes()).text != new.text:
                return "The notebook would not read back as what its cells were to become."
        except UnreadableSource as error:
            return f"The notebook could not be written: {error}."
        kept = self.notebook.kept_spans
        commands = [edit for edit in edits if any(edit.span.overlaps(span) for span in kept)]
        problem = problem_with_text(self.commands, commands, new.commands) if commands else None
        return problem or super().problem_with(edits, new)
