"""How files are named to a person: as seen from the working directory, so that the name can be opened."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText
from torchlift.terminal.columns import cells


def shown_path(root: Path, path: str) -> str:
    """The file `path` of the project at `root`, relative to the working directory; absolute on another drive."""
    shown = cells(from_here(root / path))[0]
    # A line of a report begins with it, and GitHub Actions carries out lines that begin with two colons.
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def from_here(path: Path) -> str:
    """`path` relative to the working directory, with forward slashes; absolute where it is on another drive."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:  # Windows: there is no way from one drive to another
        return path.absolute().as_posix()


def place_in(source: SourceText, offset: int) -> str:
    """`line:column` of a character, or `cell 3:line:column` in a notebook."""
    row = source.location(offset)[0]
    part = source.part(row)
    cell = f"cell {part.number}:" if part.number is not None else ""
    return f"{cell}{row - part.first + 1}:{source.column(offset)}"


_PLACE = lazy_pattern(r"(?<![\w/.])[\w.+-]+(?:/[\w.+-]+)*\.\w+(?=:(?:cell )?\d)")


def with_places(root: Path, text: str) -> str:
    """`text` with the places in it, `path:line` as seen from the project, as seen from the working directory."""
    return _PLACE.sub(lambda match: _seen(root, match[0]), text)


@lru_cache(maxsize=4096)
def _seen(root: Path, path: str) -> str:
    return shown_path(root, path) if (root / path).is_file() else path
