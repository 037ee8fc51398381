"""The files that torchlift itself is made of: when one of them changes, what was worked out with them may not hold."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Folders of engines that neither rules nor `migrate` import (.importlinter), and of pages.
_OF_OTHERS = frozenset("__pycache__ doctor convert docs record server survey testing".split())

Entry = tuple[str, int, int]
"""A file, when it was changed (in nanoseconds) and its size."""


def code_files(*folders: str, without: str = "") -> list[Entry]:
    """Every file of torchlift's below some folders, sorted, but for those on which no finding depends.

    Args:
        folders: where to look.
        without: name of one more folder to leave out.

    Raises:
        OSError: a folder cannot be listed.
    """
    outermost = [one for one in folders if not any(one.startswith(f"{other}{os.sep}") for other in folders)]
    return sorted(entry for folder in {*outermost} for entry in _below(folder, without))


def _below(folder: str, without: str) -> Iterator[Entry]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in _OF_OTHERS or entry.name == without:
                continue
            if entry.is_dir():
                yield from _below(entry.path, without)
            else:
                known = entry.stat()
                yield entry.path, known.st_mtime_ns, known.st_size
