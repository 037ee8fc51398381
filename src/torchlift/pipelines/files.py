"""`--output-file [FORMAT=]FILE`: other forms of what a command says, written beside it or in its place."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

_Format = TypeVar("_Format", bound=str)


class OutputFileError(Exception):
    """A value that names no file to write; the message is a sentence that says why."""


def output_files(values: Sequence[str], formats: Sequence[_Format]) -> tuple[tuple[_Format | None, Path], ...]:
    """Files and their formats, None for the one that takes the place of what would be printed.

    Raises:
        OutputFileError: one names no format or no file, has no folder, or several would take that place or be written to one file.
    """
    found: list[tuple[_Format | None, Path]] = []
    for value in values:
        name, equals, file = value.partition("=")
        chosen = next((known for known in formats if equals and known == name), None)
        if equals and chosen is None and name.isalpha():
            close = get_close_matches(name, formats, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"formats: {', '.join(formats)}."
            raise OutputFileError(f"There is no format {name!r}; {hint} A file that is called so is './{value}'.")
        path = Path(value if chosen is None else file)
        if not path.name or path.is_dir():
            raise OutputFileError(f"{value!r} names no file.")
        if not path.absolute().parent.is_dir():
            raise OutputFileError(f"There is no folder {str(path.parent)!r} to write {path.name!r} to.")
        if any(path.absolute() == other.absolute() for _, other in found):
            raise OutputFileError(f"{str(path)!r} is named twice.")
        found.append((chosen, path))
    if len([chosen for chosen, _ in found if chosen is None]) > 1:
        raise OutputFileError("one file takes the place of what is printed; name the format of others: json=FILE.")
    return tuple(found)


def problem_writing(path: Path, text: str) -> str | None:
    """Write a report; a sentence if it could not be written."""
    from torchlift.whole_file import write_whole

    try:
        # Lone surrogates stand for bytes of names that are no text.
        write_whole(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        return f"The report could not be written to {path}: {error.strerror or error}."
    return None
