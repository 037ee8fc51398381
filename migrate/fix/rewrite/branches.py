"""Edits that carry out a settled condition: one branch of an `if` stays, or an operand of `and` and `or` goes."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from torchlift.finding import TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.areas import Areas
from torchlift.migrate.fix.rewrite.fragments import CannotEdit
from torchlift.migrate.fix.rewrite.lines import line_end, statement_at
from torchlift.source import Span
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_BLANK = " \t\f"
_ELSE = lazy_pattern(r"[ \t\f]*else[ \t\f]*:")
_FINALLY = lazy_pattern(r"[ \t\f]*finally[ \t\f]*:")


class _If:
    """An `if` or `elif` statement whose branches stand on lines of their own, or a `with` or `try`, of which the body stays.

    Attributes:
        start, end: from the line of its keyword to the end of its last line.
        elif_: whether it hangs on an `if` before it.
        body: from the line behind its header to where its body, comments included, ends.
        rest: the line of its `else`, `elif` or first `except`; `end` if it has none.
        continued: whether `rest` is an `elif`.
        orelse: first line of the statements below its `else`.
    """

    def __init__(self, view: ModuleView, span: Span) -> None:
        self.view = view
        self.source = view.source
        node = statement_at(view, span)
        if not isinstance(node, (ast.If, ast.With, ast.Try)):
            raise CannotEdit("The statement to unwrap is no `if`, `with` or `try`.")
        self.node = node
        self.other = node.orelse if isinstance(node, ast.If) else []
        self.span = span
        text = self.source.text
        self.elif_ = text.startswith("elif", span.start)
        self.start = self._line_start(span.start)
        self.end = line_end(self.source, span.end)
        tail = text[span.end : self.end].strip(_BLANK + "\r\n")
        if text[self.start : span.start].strip(_BLANK) or (tail and not tail.startswith("#")):
            raise CannotEdit("The `if` shares its line with other code.")
        self.colon = self._colon(self._header_end())
        self.body = self._own_line(node.body[0], self.colon)
        self.rest, self.orelse, self.continued = self.end, self.end, False
        if isinstance(node, ast.Try):
            handled = node.handlers[0].lineno if node.handlers else None
            self.rest = (
                self._line_of(_FINALLY, node.finalbody) if handled is None else self.source.line_starts[handled - 1]
            )
        elif self.other:
            first = view.span(self.other[0]).start
            if isinstance(self.other[0], ast.If) and text.startswith("elif", first):
                self.rest, self.continued = self._line_start(first), True
            else:
                self.rest = self._line_of(_ELSE, self.other)
                self.orelse = self._own_line(self.other[0], self.rest)

    def _header_end(self) -> int:
        if isinstance(self.node, ast.Try):
            return self.span.start + len("try")
        if isinstance(self.node, ast.If):
            return self.view.span(self.node.test).end
        return self.view.span(self.node.items[-1].optional_vars or self.node.items[-1].context_expr).end

    def _line_start(self, offset: int) -> int:
        return self.source.line_starts[self.source.location(offset)[0] - 1]

    def _colon(self, offset: int) -> int:
        text = self.source.text
        while text[offset] != ":":
            if text[offset] == "#":
                offset = line_end(self.source, offset)
            elif text[offset] in ") \t\f\r\n\\":
                offset += 1
            else:
                raise CannotEdit("The condition to remove is written in a way that is not understood.")
        return offset

    def _own_line(self, first: ast.stmt, header: int) -> int:
        """Where the branch that begins with `first` begins: the line behind its header."""
        begin = line_end(self.source, header)
        if self.view.span(first).start < begin:
            raise CannotEdit("A branch stands on the line of its condition.")
        return begin

    def _line_of(self, word: re.Pattern[str], block: list[ast.stmt]) -> int:
        """Where the line with the word above `block` begins."""
        last = self.view.span(self.node.body[-1]).end
        number = self.source.location(last)[0]
        end = self.source.location(self.view.span(block[0]).start)[0]
        for candidate in range(number, end):
            start = self.source.line_starts[candidate]
            if word.match(self.source.text, start):
                return start
        raise CannotEdit("The `else` or `finally` of the statement to unwrap was not found.")

    def dedented(self, branch: list[ast.stmt], area: Span) -> list[TextEdit]:
        """Edits that move the lines of a branch out to where the `if` stands, checked on the tree."""
        outer = self.source.indentation(self.span.start)
        inner = self.source.indentation(self.view.span(branch[0]).start)
        if not inner.startswith(outer) or inner == outer:
            raise CannotEdit("The indentation of the branch to keep mixes tabs and spaces.")
        text = self.source.text
        first, last = self.source.location(area.start)[0], self.source.location(max(area.start, area.end - 1))[0]
        protected = inside_strings(text)
        edits: list[TextEdit] = []
        pieces, position = ["if True:\n" if outer else ""], area.start
        for number in range(first, last + 1):
            begin = self.source.line_starts[number - 1]
            if number not in protected and text.startswith(inner, begin):
                edits.append(TextEdit(Span(begin + len(outer), begin + len(inner)), ""))
                pieces.append(text[position : begin + len(outer)])
                position = begin + len(inner)
        try:
            tree = ast.parse("".join([*pieces, text[position : area.end]]))
        except SyntaxError:
            raise CannotEdit("The branch to keep is not valid Python where the condition stood.") from None
        found = tree.body[0].body if outer and isinstance(tree.body[0], ast.If) else tree.body
        if list(map(ast.dump, found)) != list(map(ast.dump, branch)):
            raise CannotEdit("The branch to keep would mean something else where the condition stood.")
        return edits


@dataclass(frozen=True)
class Unwrapped:
    """Edits that put one branch of an `if` in its place.

    Attributes:
        edits: in order, without overlaps.
        moved: lines that change their indentation, if any do.
    """

    edits: tuple[TextEdit, ...]
    moved: Span | None = None

    @property
    def area(self) -> Span:
        """From the first character that goes or moves to behind the last."""
        ends = [edit.span.end for edit in self.edits] + ([self.moved.end] if self.moved is not None else [])
        return Span(min(edit.span.start for edit in self.edits), max(ends))


def keep_branch(view: ModuleView, span: Span, branch: Literal["body", "orelse"] | None) -> Unwrapped:
    """Put one branch of the `if` at `span` in its place, or the body of the `with` or `try`, or remove the `if`.

    Raises:
        CannotEdit: the statement is laid out in a way that cannot be taken apart line by line.
    """
    parts = _If(view, span)
    node = parts.node
    if branch == "orelse" and parts.other:
        if parts.continued and not parts.elif_:
            elif_ = view.span(parts.other[0]).start
            return Unwrapped((TextEdit(Span(span.start, elif_ + len("elif")), "if"),))
        if parts.elif_:
            return Unwrapped((TextEdit(Span(parts.start, parts.rest), ""),))
        moved = Span(parts.orelse, parts.end)
        return Unwrapped((TextEdit(Span(parts.start, parts.orelse), ""), *parts.dedented(parts.other, moved)), moved)
    if branch == "body":
        gone = (TextEdit(Span(parts.rest, parts.end), ""),) if parts.rest < parts.end else ()
        if parts.elif_:
            return Unwrapped((TextEdit(Span(span.start, parts.colon), "else"), *gone))
        moved = Span(parts.body, parts.rest)
        return Unwrapped((TextEdit(Span(parts.start, parts.body), ""), *parts.dedented(node.body, moved), *gone), moved)
    if branch is not None or parts.other:
        raise CannotEdit("The branch to keep is not there.")
    return Unwrapped((TextEdit(Span(parts.start, parts.end), ""),))


def combined(edits: Sequence[TextEdit], unwrapped: Sequence[Unwrapped]) -> list[TextEdit]:
    """`edits` together with those that unwrap branches, less what stands in a branch that goes.

    Raises:
        CannotEdit: an edit would put lines into a branch that moves.
    """
    outer = [edit for group in unwrapped for edit in group.edits]
    for edit in edits:
        if "\n" in edit.text or "\r" in edit.text:
            for group in unwrapped:
                if group.moved is not None and group.area.start < edit.span.start <= group.area.end:
                    raise CannotEdit("Another change adds lines to a branch of the condition to remove.")
    return outside([*edits, *outer], outer)


def outside(edits: Sequence[TextEdit], areas: Sequence[TextEdit]) -> list[TextEdit]:
    """Those of `edits` that do not stand inside what one of `areas` takes out."""
    taken = Areas(area.span for area in areas)
    return [edit for edit in edits if not taken.cover(edit.span)]


@lru_cache(maxsize=1)
def inside_strings(text: str) -> set[int]:
    """Lines that begin inside a string."""
    lines: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
                lines.update(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        raise CannotEdit("The strings in the branch to keep cannot be told from its code.") from None
    return lines


def drop_operands(view: ModuleView, spans: Sequence[Span]) -> list[TextEdit]:
    """Remove operands of `and` and `or`; the first ones of an operation go together, as one edit.

    Raises:
        CannotEdit: there is no such operand, a comment would be lost, or the rest would mean something else.
    """
    dropped: dict[ast.BoolOp, set[int]] = {}
    for span in spans:
        operation, index = _operation_at(view, span)
        dropped.setdefault(operation, set()).add(index)
    edits = []
    for operation, indices in dropped.items():
        leading = 0
        while leading in indices:
            leading += 1
        if leading == len(operation.values):
            raise CannotEdit("Nothing of the condition would be left.")
        if (alone := _without_brackets(view, operation, indices)) is not None:
            edits += alone
            continue
        of_one = [
            _drop_operand(view, operation, index, max(leading, 1))
            for index in sorted(indices)
            if index >= leading or index == 0
        ]
        _check_the_rest(view, operation, indices, of_one)
        edits += of_one
    return edits


def _without_brackets(view: ModuleView, operation: ast.BoolOp, indices: set[int]) -> list[TextEdit] | None:
    """Edits that leave one operand in the place of the whole operation and of the brackets that only held that together."""
    left = [value for index, value in enumerate(operation.values) if index not in indices]
    text, whole = view.source.text, view.span(operation)
    head, tail = text[: whole.start].rstrip(_BLANK + "\r\n"), text[whole.end :]
    begin, end = len(head) - 1, whole.end + len(tail) - len(tail.lstrip(_BLANK + "\r\n")) + 1
    before = head[:-1].rstrip(_BLANK)
    word = re.search(r"\w+$", before)
    grouping = keyword.iskeyword(word[0]) if word is not None else before[-1:] not in {")", "]"}
    if len(left) != 1 or head[-1:] != "(" or text[end - 1 : end] != ")" or not grouping:
        return None
    span = view.span(left[0])
    atom = isinstance(left[0], (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    if "\n" in view.text(left[0]):
        return None
    around = text[begin : span.start] + text[span.end : end]
    for index in indices:
        around = around.replace(view.text(operation.values[index]), "")
    try:
        bracketed = ast.parse(text[begin:end], mode="eval").body
    except SyntaxError:
        return None
    if "#" in around or ast.dump(bracketed) != ast.dump(operation):
        return None
    if atom or isinstance(view.parent(operation), (ast.If, ast.While, ast.Assert)):
        before, behind = (" " if text[place : place + 1].isalnum() else "" for place in (begin - 1, end))
    else:
        before, behind = "(", ")"
    return [TextEdit(Span(begin, span.start), before), TextEdit(Span(span.end, end), behind)]


def _drop_operand(view: ModuleView, operation: ast.BoolOp, index: int, leading: int) -> TextEdit:
    """Remove one operand, or if it is the first one the `leading` first ones."""
    text, source = view.source.text, view.source
    whole = view.span(operation)
    spans = [view.span(value) for value in operation.values]
    span = spans[index]
    removed = range(leading) if index == 0 else (index,)
    if index:
        before = text[spans[index - 1].end : span.start]
        word = _keyword(before, isinstance(operation.op, ast.And))
        operator = spans[index - 1].end + word
        end = _behind_brackets(text, span.end, before[word:].count("("))
        line_start = source.line_starts[source.location(operator)[0] - 1]
        rest = text[end : line_end(source, end)].strip(_BLANK + "\r\n")
        if not text[line_start:operator].strip(_BLANK) and (not rest or rest.startswith("#")):
            gone = Span(line_start, line_end(source, end))
        elif "#" in before[:word]:
            gone = Span(operator, end)
        else:
            gone = Span(spans[index - 1].end + len(before[:word].rstrip(_BLANK + "\r\n\\")), end)
    else:
        last = spans[leading - 1].end
        behind = text[last : spans[leading].start]
        word = _keyword(behind, isinstance(operation.op, ast.And))
        length = 3 if isinstance(operation.op, ast.And) else 2
        tail = behind[word + length :]
        end = last + word + length + len(tail) - len(tail.lstrip(_BLANK + "\r\n\\"))
        gone = Span(whole.start, end)
    # A comment on a line of its own operand goes with it; any other one has nothing to do with it.
    around = text[gone.start : end]
    for one in removed:
        around = around.replace(text[spans[one].start : spans[one].end], "")
    if "#" in around:
        raise CannotEdit("A comment beside the condition to remove would be lost.")
    return TextEdit(gone, "")


def _check_the_rest(view: ModuleView, operation: ast.BoolOp, indices: set[int], edits: Sequence[TextEdit]) -> None:
    """Raise CannotEdit where the operation without some operands is not what `edits` leave of it."""
    text, whole = view.source.text, view.span(operation)
    values = [value for number, value in enumerate(operation.values) if number not in indices]
    expected = values[0] if len(values) == 1 else ast.BoolOp(operation.op, values)
    left, start = "", whole.start
    for edit in edits:
        left += text[start : edit.span.start]
        start = max(edit.span.start, min(edit.span.end, whole.end))
    left += text[start : whole.end]
    try:
        found = ast.parse(f"({left}\n)", mode="eval").body
    except SyntaxError:
        raise CannotEdit("The condition would not be valid Python without the operand to remove.") from None
    if ast.dump(found) != ast.dump(expected):
        raise CannotEdit("The condition would mean something else without the operand to remove.")


def _operation_at(view: ModuleView, span: Span) -> tuple[ast.BoolOp, int]:
    found = _operands(view).get(span)
    if found is None:
        raise CannotEdit("The operand to remove is not where it was expected.")
    return found


@lru_cache(maxsize=1)
def _operands(view: ModuleView) -> dict[Span, tuple[ast.BoolOp, int]]:
    """Every operand of an `and` or `or`, of which one file may hold many to remove."""
    return {
        view.span(value): (node, index)
        for node in walk(view.tree)
        if isinstance(node, ast.BoolOp)
        for index, value in enumerate(node.values)
    }


def _keyword(gap: str, conjunction: bool) -> int:
    """Where `and` or `or` stands between two operands; comments are skipped."""
    blanked = re.sub(r"#[^\r\n]*", lambda match: " " * len(match.group()), gap)
    match = re.search(r"\band\b" if conjunction else r"\bor\b", blanked)
    if match is None:
        raise CannotEdit("The operator beside the operand to remove was not found.")
    return match.start()


def _behind_brackets(text: str, offset: int, count: int) -> int:
    while count:
        if text[offset] == ")":
            count -= 1
        elif text[offset] not in " \t\f\r\n\\":
            raise CannotEdit("A comment beside the condition to remove would be lost.")
        offset += 1
    return offset
