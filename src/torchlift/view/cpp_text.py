"""C++ and CUDA sources as code: what is a comment or stands in a string is none, and continued lines are one."""

from __future__ import annotations

import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

# A number comes before a character: the marks in `1'000'000` open nothing.
_TOKEN = lazy_pattern(
    r"""
    (?P<comment>//(?:[^\\\n]|\\(?:\r\n|.))*|/\*.*?(?:\*/|\Z))
    |\b(?:u8|[uUL])?R"(?P<fence>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=fence)"
    |"(?P<string>(?:[^"\\\n]|\\(?:\r\n|.))*)"?
    |(?<!\w)[0-9](?:'?[\w.])*
    |'(?P<character>(?:[^'\\\n]|\\.)*)'?
    |(?P<continued>\\\r?\n)
    """,
    re.DOTALL | re.VERBOSE,
)
_INCLUDES = lazy_pattern(r"[ \t]*\#[ \t]*(?:include|import)[ \t]*\Z")
_NOT_A_LINE = lazy_pattern(r"[^\r\n]")


def cpp_code(text: str) -> tuple[str, tuple[Span, ...]]:
    """The text, character by character, with blanks in the place of comments, of what strings hold and of continuations;
    and every comment. The name of an included file is kept.
    """
    pieces: list[str] = []
    comments: list[Span] = []
    end = 0
    for token in _TOKEN.finditer(text):
        group = token.lastgroup
        if group is None or (
            group == "string" and _INCLUDES.match(text, text.rfind("\n", 0, token.start()) + 1, token.start())
        ):
            continue
        if group == "comment":
            comments.append(Span(*token.span()))
        start, stop = token.span(group)
        pieces += (text[end:start], _blank(text[start:stop], group))
        end = stop
    return "".join((*pieces, text[end:])), tuple(comments)


def _blank(text: str, group: str) -> str:
    """Blanks, with the ends of lines kept in what may go over several of them."""
    return " " * len(text) if group in {"string", "continued"} else _NOT_A_LINE.sub(" ", text)
