"""Comments that speak of scripting and of nothing else, right above what is not scripted any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlift.finding import EditComment
from torchlift.rules.analysis.places.attached_comments import comments_above
from torchlift.source import Span
from torchlift.view import ModuleView

SPEAKS = re.compile(r"(?i)\b(?:torch\s*script\w*|jit\w*|script(?:ed|ing|able|ability|s)?|trac(?:e|ed|ing|eable))\b")
_SAYS_MORE = re.compile(
    r"(?i)\b(?:and|but|check|verify|ensure|assert|that|because|since|so|test|compare|not|todo|fixme)\b"
)
_MOST_WORDS = 8


def stale_above(view: ModuleView, statement: ast.stmt) -> int:
    """Number of the lines of short comments right above a statement if they speak of scripting and of nothing else."""
    comments = comments_above(view, statement)
    text = " ".join(comments)
    stale = SPEAKS.search(text) and not _SAYS_MORE.search(text) and len(text.split()) <= _MOST_WORDS
    return len(comments) if stale else 0


def without_stale_comments(view: ModuleView, statements: Iterable[ast.stmt]) -> Iterator[EditComment]:
    """Removals of such comments above statements that stay."""
    for statement in dict.fromkeys(statements):
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        first = min([view.span(statement).start, *(view.span(node).start for node in decorators)])
        last = view.source.location(first)[0]
        for number in range(last - stale_above(view, statement), last):
            line = view.source.line(number)
            start = view.source.line_starts[number - 1] + line.index("#")
            yield EditComment(Span(start, start + len(line.lstrip().rstrip("\r\n"))))
