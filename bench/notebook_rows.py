"""Lines of a file that a finding or an edit lies on, those of notebooks too, whose findings count the lines of a cell."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

_SOURCE = re.compile(r'\s*"source": *(?:\[|")')


def rows_of(folder: Path, item: dict[str, Any], part: dict[str, Any] | None = None) -> range:
    """The lines, from 1, of `part` of a finding (an edit of its fix), or of the finding itself."""
    part = part or item
    first, last = part["location"]["row"], part["end_location"]["row"]
    start = cells(folder / item["filename"]).get(item.get("cell") or 0, 0)
    return range(start + first, start + last + 1)


@lru_cache(maxsize=64)
def cells(path: Path) -> dict[int, int]:
    """The line before the first one of each cell of a notebook, by its number; none for other files, and where a source is no list."""
    if path.suffix != ".ipynb":
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    starts = [number for number, line in enumerate(lines, 1) if _SOURCE.match(line)]
    known = json.loads("\n".join(lines))["cells"]
    return dict(enumerate(starts, 1)) if len(starts) == len(known) else {}
