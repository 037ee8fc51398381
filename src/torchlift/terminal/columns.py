"""How text looks on a terminal: which columns its characters take, and nothing that moves the cursor.

Source text is not ours: an escape sequence, a lone carriage return or a bidirectional override in it must not act on
the terminal that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlift.lazy_pattern import lazy_pattern

_TAB = 4

# Source: Unicode Bidirectional Algorithm (UAX #9), explicit formatting characters.
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SOFT_HYPHEN = "\u00ad"

# Where it stands in a log, GitHub Actions, Azure Pipelines and TeamCity carry it out, in the middle of a line, too.
# Sources: actions/runner, src/Runner.Common/ActionCommand.cs; Azure "Logging commands"; TeamCity "Service Messages".
_COMMAND = lazy_pattern(r"#(?=#(?:\[|vso\[|teamcity\[))")
_JOINER = "\u2060"  # takes no column


def cells(text: str) -> tuple[str, Sequence[int]]:
    """A line as it is shown, and where its characters are.

    Args:
        text: one line without its newline.

    Returns:
        The printable form, with tabs expanded, and for each character of `text` the 0-based terminal column it starts
        in, followed by the column behind the last one.
    """
    if text.isascii() and text.isprintable():
        return _inert(text), range(len(text) + 1)
    shown: list[str] = []
    columns = [0]
    for character in text:
        column = columns[-1]
        if character == "\t":
            width = _TAB - column % _TAB
            shown.append(" " * width)
        else:
            picture, width = _picture(character)
            shown.append(picture)
        columns.append(column + width)
    return _inert("".join(shown)), columns


def _inert(text: str) -> str:
    return _COMMAND.sub(f"#{_JOINER}", text) if "##" in text else text


def one_line(text: str) -> str:
    """Text of any kind, made fit to stand in one line of a report."""
    return cells(text if text.isprintable() else " ".join(text.splitlines()))[0]


def _picture(character: str) -> tuple[str, int]:
    """What is shown for a character, and how many columns it takes."""
    if " " <= character <= "~":
        return character, 1
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code), 1  # the block of control pictures is laid out like the controls
    if code == 0x7F:
        return "\u2421", 1
    from unicodedata import category, east_asian_width

    kind = category(character)
    if kind in {"Cc", "Cs", "Zl", "Zp"} or character in _BIDIRECTIONAL:
        return "\ufffd", 1
    if kind in {"Mn", "Me"} or (kind == "Cf" and character != _SOFT_HYPHEN) or 0x1160 <= code <= 0x11FF:
        return character, 0  # marks, joiners, and the Hangul letters that merge with the one before
    return character, 2 if east_asian_width(character) in {"W", "F"} else 1
