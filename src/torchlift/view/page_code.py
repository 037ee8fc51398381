"""The Python that stands in other text, as one: blocks of code and doctests of a page in Markdown or reStructuredText; what
commands of a script, a container file or a workflow hand to `python -c` or to the standard input of python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

_PYTHON = r"(?:py(?:thon)?\d?|pycon|ipython\d?)"
_FENCE = lazy_pattern(r"(?P<indent>[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
_DIRECTIVE = lazy_pattern(
    rf"(?P<indent>[ \t]*)\.\.[ \t]+(?:(?:code|code-block|sourcecode)::[ \t]*{_PYTHON}|testcode::.*|ipython::.*)[ \t]*$",
    re.IGNORECASE,
)
_LITERAL = lazy_pattern(r"(?P<indent>[ \t]*)(?!\.\.[ \t]).*::[ \t]*$")
_OPTION = lazy_pattern(r"[ \t]*:[\w-]+:")
_IS_PYTHON = lazy_pattern(rf"\{{?\.?(?:code-(?:cell|block)\}}[ \t]*)?{_PYTHON}(?![\w-])", re.IGNORECASE)
_PROMPT = lazy_pattern(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")
_FIRST_PROMPT = lazy_pattern(r"[ \t]*>>>(?: |$)")
_MAGIC = lazy_pattern(r"[ \t]*[!%]")
_OLD = lazy_pattern(
    r"\bbefore\W*$|\b(?:instead of|rather than|avoid)\b[^,]*$"
    r"|\b(?:old|older|formerly|legacy|deprecated|prior to|wrong|not recommended"
    r"|(?:do not|don't|never) use|removed|no longer|migrat\w+|upgrading)\b",
    re.IGNORECASE,
)
_QUOTED = lazy_pattern(
    r"""\bpython[\d.]*(?:[ \t]+-\w+)*?[ \t]+-c[ \t]+(?:"(?P<expanded>[^"\\$`]{1,4000})"|'(?P<code>[^']{1,4000})')"""
)
_HERE = lazy_pattern(
    r"""^[^\r\n#]*\bpython[\d.]*\b[^\r\n]*<<-?[ \t]*["']?(?P<end>\w+)["']?[^\r\n]*\n(?P<code>(?s:.{1,20000}?))^[ \t]*(?P=end)[ \t]*\r?$""",
    re.MULTILINE,
)
_HIDDEN = lazy_pattern(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class PageCode:
    """The Python of a page.

    Attributes:
        text: as long as the page or script; what is no Python of it is blanks. What stands in front of a line of code (indent, prompt)
            stands behind it, so that every line begins as Python does.
        moved: how many characters that are, by line from 0.
    """

    text: str
    moved: dict[int, int]

    def on_page(self, span: Span) -> Span:
        """Where on the page something stands that was found in the Python."""
        start, end = (at + self.moved.get(self.text.count("\n", 0, at), 0) for at in (span.start, span.end))
        return Span(start, end)


def page_code(page: str) -> PageCode:
    """The Python of a page; blocks that do not parse, and those that show how it was written before, are left out."""
    shown = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), page)
    lines = shown.split("\n")
    code = [" " * len(line) for line in lines]
    moved: dict[int, int] = {}
    for first, block in _blocks(lines):
        if any(_FIRST_PROMPT.match(line) for line in block):
            starts = [match.end() if (match := _PROMPT.match(line)) else None for line in block]
        else:
            indent = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
            starts = [None if _MAGIC.match(line) else min(indent, len(line)) for line in block]
        written = [
            " " * len(line) if start is None else line[start:] + " " * start
            for line, start in zip(block, starts, strict=True)
        ]
        if _parses("\n".join(written)) and not _is_old(lines, first, block):
            code[first : first + len(block)] = written
            moved.update((first + number, start) for number, start in enumerate(starts) if start)
    return PageCode("\n".join(code), moved)


def command_code(text: str) -> PageCode:
    """The Python in commands of a script; what a shell would change first, or does not parse, is left out."""
    lines = text.split("\n")
    code = [" " * len(line) for line in lines]
    moved: dict[int, int] = {}
    found = [match.span(match.lastgroup or 0) for match in _QUOTED.finditer(text)]
    found += [match.span("code") for match in _HERE.finditer(text)]
    for start, end in found:
        first, column = text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1)
        block = text[start:end].split("\n")
        rest = [line for line in block[1 if column else 0 :] if line.strip()]
        indent = min((len(line) - len(line.lstrip()) for line in rest), default=0)
        starts = [min(indent, len(line)) for line in block]
        if column:
            starts[0] = len(block[0]) - len(block[0].lstrip())
        shifts = [skipped + (column if not number else 0) for number, skipped in enumerate(starts)]
        written = [line[skipped:] for line, skipped in zip(block, starts, strict=True)]
        if lines[first].lstrip().startswith(("#", "echo ", "printf ")) or not _parses("\n".join(written)):
            continue
        for number, line in enumerate(written):
            code[first + number] = line.ljust(len(lines[first + number]))
        moved.update((first + number, shift) for number, shift in enumerate(shifts) if shift)
    return PageCode("\n".join(code), moved)


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The number of the first line, and the lines, of each block that may be Python."""
    at = 0
    while at < len(lines):
        line = lines[at].rstrip("\r")
        fence = _FENCE.match(line)
        if fence is not None:
            end = _end_of_fence(lines, at + 1, fence["fence"])
            if not fence["info"].strip() or _IS_PYTHON.match(fence["info"]):
                yield at + 1, lines[at + 1 : end]
            at = end + 1
            continue
        directive = _DIRECTIVE.match(line) or _LITERAL.match(line)
        if directive is not None:
            begin = at + 1
            while begin < len(lines) and (not lines[begin].strip() or _OPTION.match(lines[begin])):
                begin += 1
            end = _end_of_indented(lines, begin, len(directive["indent"]))
            if end > begin:
                yield begin, lines[begin:end]
                at = end
                continue
        elif _FIRST_PROMPT.match(line):
            end = at + 1
            while end < len(lines) and lines[end].strip():
                end += 1
            yield at, lines[at:end]
            at = end
            continue
        at += 1


def _end_of_fence(lines: list[str], at: int, fence: str) -> int:
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return at
        at += 1
    return at


def _end_of_indented(lines: list[str], at: int, indent: int) -> int:
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > indent):
        at += 1
    return at


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_old(lines: list[str], first: int, block: list[str]) -> bool:
    """Whether a page says of a block that this is how it was written before: above it, or in its first comment."""
    above = [line for line in lines[max(first - 6, 0) : first] if line.strip()]
    words = [line for line in above if not _FENCE.match(line.rstrip("\r")) and not _DIRECTIVE.match(line.rstrip("\r"))]
    comment = next((line for line in block if line.strip()), "")
    said = [*words[-1:], *([comment] if comment.lstrip().startswith("#") else [])]
    return any(_OLD.search(line) for line in said)
