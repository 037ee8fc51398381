"""All rewrites of one file, nested ones included, as text edits on the original."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import libcst as cst

from torchlift.finding import (
    AddImport,
    DeleteStatement,
    DropDecorator,
    DropOperand,
    EditCall,
    EditComment,
    EditImport,
    InsertStatements,
    KeepBranch,
    ReplaceExpression,
    ReplaceText,
    Rewrite,
    Template,
    TextEdit,
)
from torchlift.migrate.fix.rewrite.alignment import moved_lines
from torchlift.migrate.fix.rewrite.branches import (
    Unwrapped,
    combined,
    drop_operands,
    inside_strings,
    keep_branch,
    outside,
)
from torchlift.migrate.fix.rewrite.calls import edit_call
from torchlift.migrate.fix.rewrite.deletion import delete_statements
from torchlift.migrate.fix.rewrite.fragments import CannotEdit, fill, normalised, parse_expression, render
from torchlift.migrate.fix.rewrite.imports import edit_import
from torchlift.migrate.fix.rewrite.lines import drop_decorator, edit_comment, insert_lines
from torchlift.migrate.fix.rewrite.new_imports import move_import, place_import
from torchlift.source import Span
from torchlift.view import ModuleView

_Expression = ReplaceExpression | EditCall


def build_edits(view: ModuleView, rewrites: Iterable[Rewrite], *, mixed: bool = False) -> list[TextEdit]:
    """Non-overlapping edits, in order, that carry out all `rewrites`.

    Args:
        view: the file.
        rewrites: the changes.
        mixed: whether the project sorts `import a` and `from b import c` by their modules alone.

    Raises:
        CannotEdit: a rewrite cannot be carried out, or two contradict each other.
    """
    return _Builder(view, list(dict.fromkeys(rewrites)), mixed).build()


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """`text` after `edits`, which must be in order and must not overlap."""
    pieces, position = [], 0
    for edit in edits:
        pieces += [text[position : edit.span.start], edit.text]
        position = edit.span.end
    return "".join([*pieces, text[position:]])


def _in_order(edits: list[TextEdit]) -> list[TextEdit]:
    edits.sort(key=lambda edit: (edit.span.start, edit.span.end))
    for left, right in pairwise(edits):
        if left.span.end > right.span.start:
            raise CannotEdit("Two changes overlap.")
    return edits


class _Builder:
    def __init__(self, view: ModuleView, rewrites: list[Rewrite], mixed: bool) -> None:
        self.view = view
        self.mixed = mixed
        self.source = view.source
        self.rewrites = rewrites
        self.expressions = sorted(
            (rewrite for rewrite in rewrites if isinstance(rewrite, _Expression)),
            key=lambda rewrite: (rewrite.span.start, -rewrite.span.end),
        )

    def build(self) -> list[TextEdit]:
        deletions = [rewrite for rewrite in self.rewrites if isinstance(rewrite, DeleteStatement)]
        edits: list[TextEdit] = []
        behind: dict[Span, list[str]] = {}
        imports: dict[Span, list[EditImport]] = {}
        unwrapped: list[Unwrapped] = []
        added: dict[str, Span] = {}
        operands = [rewrite.span for rewrite in self.rewrites if isinstance(rewrite, DropOperand)]
        edits += drop_operands(self.view, operands)
        for rewrite in self.rewrites:
            match rewrite:
                case KeepBranch(branch=None) if not self.source.text.startswith("elif", rewrite.span.start):
                    deletions.append(DeleteStatement(rewrite.span))
                case KeepBranch():
                    unwrapped.append(keep_branch(self.view, rewrite.span, rewrite.branch))
                case DropDecorator():
                    edits.append(drop_decorator(self.view, rewrite.span))
                case EditComment():
                    edits.append(edit_comment(self.source, rewrite.span, rewrite.text))
                case InsertStatements():
                    lines = list(rewrite.lines)
                    if rewrite.where == "after":
                        behind.setdefault(rewrite.span, []).extend(lines)
                    else:
                        edits.append(insert_lines(self.view, rewrite.span, lines, "before"))
                case AddImport():
                    added.setdefault(rewrite.statement, rewrite.anchor)
                case ReplaceText():
                    edits.append(TextEdit(rewrite.span, rewrite.text))
                case EditImport():
                    imports.setdefault(rewrite.span, []).append(rewrite)
                case _:
                    pass
        edits += self._added(added, {*imports, *(deletion.span for deletion in deletions)}, behind)
        edits += self._imports(imports, behind, deletions)
        kept_lines = {span: lines for span, lines in behind.items() if lines}
        for deletion in list(deletions):
            span = deletion.span
            if span in kept_lines:
                # The statement goes and others take its place: one edit, so that no block is ever empty.
                first, *rest = kept_lines.pop(span)
                deletions.remove(deletion)
                indent = self.source.indentation(span.start)
                edits.append(TextEdit(span, f"{self.source.newline}{indent}".join([first, *rest])))
        gone = delete_statements(self.view, deletions)
        edits += gone
        edits += [insert_lines(self.view, span, lines, "after") for span, lines in kept_lines.items()]
        moves = {edit for group in unwrapped for edit in group.edits}
        edits = outside(combined(edits, unwrapped), gone)
        swallowed = [edit.span for edit in edits if edit.span.start < edit.span.end]
        for rewrite, text in self._outermost(Span(0, len(self.source.text))):
            if not any(span.contains(rewrite.span) for span in swallowed):
                # The lines of a new expression do not move with the branch around them.
                edits = [edit for edit in edits if edit not in moves or not rewrite.span.contains(edit.span)]
                edits.append(TextEdit(rewrite.span, text))
        return _in_order([*edits, *moved_lines(self.source, edits)])

    def _added(
        self, added: Mapping[str, Span], changed: Collection[Span], behind: dict[Span, list[str]]
    ) -> Iterator[TextEdit]:
        """Edits that add imports where their like stand; the others are added to `behind`."""
        for statement, anchor in added.items():
            edit = place_import(self.view, anchor, statement, changed, mixed=self.mixed)
            if edit is not None:
                yield edit
            else:
                behind.setdefault(anchor, []).append(statement)

    def _imports(
        self,
        imports: dict[Span, list[EditImport]],
        behind: dict[Span, list[str]],
        deletions: list[DeleteStatement],
    ) -> list[TextEdit]:
        """Edits of import statements; those of which nothing stays are added to `deletions`, new ones to `behind`."""
        edits = []
        for span, group in imports.items():
            result = edit_import(normalised(self.source.slice(span), self.source.newline), group)
            behind.setdefault(span, []).extend(result.following)
            if result.text is None:
                deletions.append(DeleteStatement(span))
                continue
            text = self._denormalised(result.text)
            moved = None
            if len(imports) == 1 and any(edit.module is not None for edit in group) and not behind.get(span):
                moved = move_import(self.view, span, text, {span}, mixed=self.mixed)
            edits += moved or [TextEdit(span, text)]
        return edits

    def _denormalised(self, text: str) -> str:
        return text.replace("\n", self.source.newline)

    def _outermost(self, within: Span, skip: Span | None = None) -> list[tuple[_Expression, str]]:
        """Rewritten text of every expression inside `within` that no other one contains."""
        result: list[tuple[_Expression, str]] = []
        covered = within.start
        groups: dict[Span, list[_Expression]] = {}
        for rewrite in self.expressions:
            if within.contains(rewrite.span) and rewrite.span != skip:
                groups.setdefault(rewrite.span, []).append(rewrite)
        last: Span | None = None
        for span, group in groups.items():
            if span.start < covered:
                assert last is not None
                if not last.contains(span):
                    raise CannotEdit("Two changes overlap.")
                continue
            result.append((group[0], self._rewritten(span, group)))
            covered, last = span.end, span
        return result

    def _text(self, span: Span, skip: Span | None = None) -> str:
        """Source of `span` after every rewrite inside it, newlines as line feeds."""
        pieces, position = [], span.start
        for rewrite, text in self._outermost(span, skip):
            pieces += [normalised(self.source.text[position : rewrite.span.start], self.source.newline)]
            pieces += [normalised(text, self.source.newline)]
            position = rewrite.span.end
        pieces.append(normalised(self.source.text[position : span.end], self.source.newline))
        return "".join(pieces)

    def _rewritten(self, span: Span, group: list[_Expression]) -> str:
        replacements = [rewrite for rewrite in group if isinstance(rewrite, ReplaceExpression)]
        if len(replacements) > 1 or (replacements and len(group) > 1):
            raise CannotEdit("Two changes replace the same code.")
        if replacements:
            template = replacements[0].template
            if any(part == span for _, part in template.parts):
                raise CannotEdit("A change refers to the very code it replaces.")
            if replacements[0].loses_comment(self.source.text):
                raise CannotEdit("A comment in the middle of the expression would be lost.")
            if replacements[0].bare and (lone := self._lone_part(template)) is not None:
                return self._denormalised(lone)
            return self._denormalised(self._moved(render(self._fill(template)), replacements[0]))
        text = self._text(span, skip=span)
        for rewrite in group:
            assert isinstance(rewrite, EditCall)
            text = edit_call(text, rewrite, self._fill)
        return self._denormalised(text)

    def _moved(self, text: str, rewrite: ReplaceExpression) -> str:
        """`text` with its further lines as far in as they were, where all of it is one part that began further in."""
        name, part = next(iter(rewrite.template.parts), ("", rewrite.span))
        if "\n" not in text or rewrite.template.text != f"${name}":
            return text
        outer, inner = (self.source.indentation(span.start) for span in (rewrite.span, part))
        lines = text.split("\n")
        strings = inside_strings(f"({text}\n)")
        if not all(line.startswith(inner) or not line or number in strings for number, line in enumerate(lines[1:], 2)):
            return text
        moved = [line if number in strings else line.replace(inner, outer, 1) for number, line in enumerate(lines, 1)]
        return "\n".join([lines[0], *moved[1:]])

    def _lone_part(self, template: Template) -> str | None:
        """Text of the part that is the whole template, if it is one that stands on one line."""
        for name, span in template.parts:
            if template.text == f"${name}":
                text = self._text(span)
                return render(parse_expression(text)) if "\n" not in text else None
        return None

    def _fill(self, template: Template) -> cst.BaseExpression:
        return fill(template.text, {name: self._text(span) for name, span in template.parts})
