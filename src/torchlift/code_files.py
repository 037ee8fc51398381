"""The files that torchlift itself is made of: when one of them changes, what was worked out with them may not hold."""

from __future__ import annotations

import os
from collections.abc import Iterator

_NOT_OF_RULES = frozenset({"__pycache__", "doctor"})


def code_files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Every file below a folder of torchlift's, when it was changed (in nanoseconds) and its size; the doctor's are left out.

    Raises:
        OSError: a folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in _NOT_OF_RULES:
                continue
            if entry.is_dir():
                yield from code_files(entry.path)
            else:
                known = entry.stat()
                yield entry.path, known.st_mtime_ns, known.st_size
