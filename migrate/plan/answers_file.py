"""Writes answers into a configuration file and leaves everything else in it, comments included, as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.tell.write import ChangedOnDisk, write_atomic
from torchlift.toml_text import parsed_toml

Answers = Mapping[str, "str | Sequence[str]"]
"""Keys of `[tool.torchlift.torchscript]` with their values."""

_HEADER = lazy_pattern(r"^[ \t]*\[")


class CannotWrite(Exception):
    """The answers cannot be written; the message is a sentence that says why and what to do."""


def with_answers(text: str, table: str, answers: Answers) -> str:
    """A configuration file with answers in it.

    Args:
        text: the file, whatever its newlines.
        table: the table that they belong to, `tool.torchlift.torchscript`.
        answers: new values; a list replaces the old list.

    Raises:
        CannotWrite: the file is no TOML, or spells the table in another way than below a header of its own.
    """
    before = _parsed(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    spelled = r"[ \t]*[.][ \t]*".join(map(re.escape, table.split(".")))
    header = re.compile(rf"^[ \t]*\[[ \t]*{spelled}[ \t]*\]")
    start = next((number for number, line in enumerate(lines) if header.match(line)), None)
    if start is None:
        lines += [*([newline] if lines else []), f"[{table}]{newline}"]
        start = len(lines) - 1
    for key, value in answers.items():
        _put(lines, start, key, _toml(value), newline)
    new = "".join(lines)
    wanted = _with(before, table.split("."), answers)
    try:
        right = _parsed(new) == wanted
    except CannotWrite:
        right = False
    if not right:
        raise CannotWrite(
            f"It spells [{table}] in a way that cannot be edited line by line; write the answers there yourself."
        )
    return new


def _put(lines: list[str], start: int, key: str, value: str, newline: str) -> None:
    """Give a key of the table whose header is line `start` a value, behind its other keys if it is new."""
    end = next((number for number in range(start + 1, len(lines)) if _HEADER.match(lines[number])), len(lines))
    last = start
    for number in range(start + 1, end):
        match = re.match(
            rf"([ \t]*{key}[ \t]*=[ \t]*)(?:\"[^\"\\]*\"|'[^']*'|\[[^\[\]#]*\])([ \t]*(?:#.*)?\r?\n)", lines[number]
        )
        if match is not None:
            lines[number] = f"{match[1]}{value}{match[2]}"
            return
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            last = number
    lines.insert(last + 1, f"{key} = {value}{newline}")


def _toml(value: str | Sequence[str]) -> str:
    # What JSON escapes in a string is escaped the same way in TOML, which has one character more to escape.
    text = json.dumps(value if isinstance(value, str) else list(value), ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")


def _parsed(text: str) -> dict[str, Any]:
    try:
        values: dict[str, Any] = parsed_toml(text.removeprefix("\ufeff"))
        return values
    except (RecursionError, ValueError) as error:
        raise CannotWrite(f"It is no TOML ({error}); mend it first.") from None


def _with(values: Mapping[str, Any], table: Sequence[str], answers: Answers) -> dict[str, Any]:
    if not table:
        return {**values, **{key: value if isinstance(value, str) else list(value) for key, value in answers.items()}}
    inner = values.get(table[0], {})
    return {**values, table[0]: _with(inner if isinstance(inner, dict) else {}, table[1:], answers)}


def write_answers(path: Path, answers: Answers) -> None:
    """Write answers into the configuration file `path`, `torchlift.toml` or a `pyproject.toml`; the former may be new.

    Raises:
        CannotWrite: it cannot be written, or not without touching what it holds.
    """
    table = "tool.torchlift.torchscript" if path.name == "pyproject.toml" else "torchscript"
    try:
        data = path.read_bytes() if path.exists() else None
        new = with_answers((data or b"").decode("utf-8"), table, answers).encode("utf-8")
        if data is None:
            path.write_bytes(new)
        else:
            write_atomic(path, new, expected=data)
    except UnicodeDecodeError:
        raise CannotWrite("It is not UTF-8, which TOML has to be.") from None
    except UnicodeEncodeError as error:
        name = error.object[error.start]
        raise CannotWrite(
            f"No TOML file holds {name!r}, which the name of an artifact has; give it another name."
        ) from None
    except (OSError, ChangedOnDisk) as error:
        raise CannotWrite(f"It cannot be written: {getattr(error, 'strerror', None) or error}.") from None
