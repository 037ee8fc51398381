"""Text in scripts that is shown to somebody, or looked for, and not run."""

from __future__ import annotations

import re
from functools import lru_cache

from torchlift.lazy_pattern import lazy_pattern
from torchlift.view.text import TextView

_START = r"(?:^(?:\s*(?:RUN|CMD|ENTRYPOINT)\s)?|[;&|({]|\b(?:then|else|do)\b)\s*(?:[@-]\s*)?(?:sudo\s+)?"
# From the name of a command to a word among its arguments, which may stand in a quote that is still open.
_ARGUMENTS = r"""\b(?:[^;&|"']|"[^"]*"|'[^']*')*(?:"[^"]*|'[^']*)?$"""
_PRINTED = lazy_pattern(
    rf"{_START}(?:echo|printf|logger|log|info|warn|error|die|usage|(?:log|echo|print|msg)_\w+){_ARGUMENTS}"
)
_SEARCHED = lazy_pattern(rf"{_START}(?:sed|[ef]?grep|zgrep|rg|ack|awk|pgrep|pkill){_ARGUMENTS}")
_TITLE = lazy_pattern(
    r"""^(?P<indent>\s*)(?:-\s+)?["']?(?:name|run-name|description|title|help|label|summary|message)["']?\s*:\s"""
)
_BLOCK = lazy_pattern(r":[ \t]+[|>][-+0-9]*[ \t]*$")
_LABEL = lazy_pattern(r"^\s*(?:LABEL|MAINTAINER)\s", re.IGNORECASE)
_HEREDOC = lazy_pattern(
    r"""^(?P<head>[^\r\n]*?)<<-?[ \t]*(?P<quote>["']?)(?P<end>[A-Za-z_]\w*)(?P=quote)(?P<tail>[^\r\n]*)\r?\n"""
    r"""(?P<body>(?s:.*?))^[ \t]*(?P=end)[ \t]*\r?$""",
    re.MULTILINE,
)
# `: <<X` is how a block of a script is commented out; `cat <<X` that goes nowhere else is a text of help.
_NOWHERE = lazy_pattern(r"(?:^|[;&|{]|(?<!\$)\(|\b(?:then|else|do)\b)\s*(?::|cat)\s*$")
_STREAM = lazy_pattern(r"[12]?>&[12]|>[ \t]*/dev/(?:stderr|stdout|null|tty)")


def is_shown(view: TextView, offset: int) -> bool:
    """Whether the word at `offset` is printed, looked for, commented out as a here-document, or stands in a title.

    Printed text that goes on into a file or a pipe is not shown: it may be a script in the making.
    """
    line = view.line_at(offset)
    if line is None:
        return False
    before, after = line.text[: offset - line.start], line.text[offset - line.start :]
    if view.kind == "yaml" and (_TITLE.match(before) or _in_title(view, offset)):
        return True
    if view.kind == "dockerfile" and _LABEL.match(before):
        return True
    if _SEARCHED.search(before) or any(start <= offset < end for start, end in _texts(view.code)):
        return True
    return _PRINTED.search(before) is not None and re.search(r"[>|]", after) is None


def _in_title(view: TextView, offset: int) -> bool:
    """Whether a line belongs to a text over several lines, such as a `description: |` above it."""
    index = next(number for number, line in enumerate(view.lines) if line.start <= offset < line.span().end)
    indent = _indent(view.lines[index].text)
    for line in reversed(view.lines[:index]):
        if _indent(line.text) < indent:
            indent = _indent(line.text)
            if _BLOCK.search(line.text.rstrip()):
                return _TITLE.match(line.text) is not None
    return False


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


@lru_cache(maxsize=8)
def _texts(code: str) -> tuple[tuple[int, int], ...]:
    """Where the here-documents of a script stand that nothing reads but a person."""
    if "<<" not in code:
        return ()
    found = []
    for match in _HEREDOC.finditer(code):
        head, tail = _STREAM.sub("", match["head"]), _STREAM.sub("", match["tail"])
        if _NOWHERE.search(head) and not re.search(r"[>|]", tail):
            found.append(match.span("body"))
    return tuple(found)
