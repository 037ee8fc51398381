"""Files that cannot be analysed: why, and the finding that says so."""

from __future__ import annotations

import re

from torchlift.finding import Finding, Severity
from torchlift.source import Span, UnreadableSource

_OLDER = (
    (r"^\s*print\s+[^\s(=]|^\s*print\s*>>|^\s*exec\s+[\"']|<>|\bur[\"']|(?<![\w.])0\d+\b", "Python 2"),
    (r"^\s*except\s+[^:]+,\s*\w+\s*:|^\s*raise\s+[\w.]+\s*,", "Python 2"),
)
"""What is no Python any more, as the line of an error has it, and what it is."""


def why_unreadable(error: Exception) -> str:
    """Why a file could not be analysed, from what reading or parsing it raised; a sentence without its end."""
    match error:
        case OSError():
            return f"it cannot be read ({error.strerror or error})"
        case UnreadableSource():
            return str(error)
        case SyntaxError():
            import platform

            version = ".".join(platform.python_version_tuple()[:2])
            line = f"line {error.lineno}: " if error.lineno else ""
            older = next((era for pattern, era in _OLDER if re.search(pattern, error.text or "")), None)
            if older is not None:
                return f"{line}it is {older}, which torchlift does not read"
            return (
                f"{line}it is not valid Python {version} ({error.msg}); code for a newer Python needs torchlift run by that "
                "Python"
            )
        case ValueError():
            return f"Python's parser refuses it ({error})"
        case _:
            return "it is nested too deeply for Python's parser"


def unreadable_finding(path: str, reason: str) -> Finding:
    """What is reported about a file of which nothing is known; `reason` is a sentence without its end."""
    return Finding(
        "TL902",
        path,
        Span(0, 0),
        f"Not analysed: {reason}.",
        Severity.WARNING,
        "Nothing is known about this file; correct it, exclude it, or ignore TL902 for it.",
    )
