"""Whether installed files are still what their distributions recorded, and which of them several distributions claim."""

# ruff: noqa: PTH116
# A Path for each of torch's 15 000 files would cost more than looking at them.

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import field
from stat import S_ISREG
from typing import NamedTuple

from torchlift.doctor.facts import ChangedFile, Package, SharedFile
from torchlift.doctor.probes.distributions import Distribution
from torchlift.doctor.probes.text import printable
from torchlift.file_bytes import without_waiting
from torchlift.lazy_dataclass import dataclass

MOST_CHANGED = 50
"""Changed files kept per package, libraries first."""

_SMALL = 64 << 10
_HASH_BUDGET = 256 << 20
_LIBRARY = re.compile(r"\.(?:so|pyd|dll)(?:\.[0-9.]+)?$")


class RecordedFile(NamedTuple):
    """A line of RECORD, with the path made absolute; `digest` and `size` are None where the line has none."""

    path: str
    digest: str | None
    size: int | None


_Claim = tuple[Package, str, list[str]]
"""Whose RECORD names a file, its absolute path, and the line's parts."""


@dataclass
class RecordCheck:
    """Look at the files of one distribution after another, then ask for what they share."""

    _first: dict[str, _Claim] = field(default_factory=dict, init=False)
    """Who claimed a file first: nearly all are claimed once."""
    _claims: dict[str, list[_Claim]] = field(default_factory=dict, init=False)
    """The claims of the others."""
    _hashed: int = field(default=0, init=False)
    _digests: dict[tuple[str, str], str | None] = field(default_factory=dict, init=False)

    def add(self, distribution: Distribution, package: Package) -> None:
        """Fill `package.changed_files`.

        Every file is compared by size; the small ones in the package's own top folders (where version.py and the first
        `__init__.py` lie) also by hash. Compiled bytecode does not count.
        """
        # conda puts the environment's prefix into files after their sizes were recorded.
        rewritten = package.installer == "conda"
        changed = []
        # Runs once for each of torch's 15 000 files: what can be had before or once in a thousand is not in the loop.
        folds = os.path.normcase("A") != "A"
        first, stat, absolute = self._first, os.stat, distribution.absolute
        for row in distribution.rows():
            name = row[0]
            if name.endswith(".pyc"):
                continue
            path = absolute(name)
            claim = package, path, row
            key = os.path.normcase(path) if folds else path
            earlier = first.setdefault(key, claim)
            if earlier is not claim:
                self._claims.setdefault(key, [earlier]).append(claim)
            try:
                status = stat(path)
            except (FileNotFoundError, NotADirectoryError):
                changed.append(ChangedFile(printable(path), "missing"))
                continue
            except (OSError, ValueError):
                continue
            if len(row) > 2 and row[2] == str(status.st_size) and (status.st_size > _SMALL or name.count("/") != 1):
                continue
            # Scripts begin with the path of their interpreter, which a copy of an environment rewrites.
            if rewritten or not path.startswith(distribution.folder):
                continue
            if S_ISREG(status.st_mode) and self._differs(distribution, _recorded(path, row), status.st_size):
                changed.append(ChangedFile(printable(path), "changed"))
        package.changed_files = sorted(changed, key=_libraries_first)[:MOST_CHANGED]

    def shared(self) -> list[SharedFile]:
        """The files that distributions of different names claim, unless all of them recorded the same harmless file.

        A library counts even when all recorded the same one: uninstalling either takes it from the other.
        """
        found = []
        for shared in self._claims.values():
            claims = [(package, _recorded(path, row)) for package, path, row in shared]
            owners = {package.name for package, _ in claims}
            if len(owners) < 2:
                continue
            digests = {file.digest for _, file in claims}
            path = claims[0][1].path
            if len(digests) == 1 and None not in digests and not _LIBRARY.search(path):
                continue
            found.append(SharedFile(printable(path), sorted(owners), self._matching(path, claims)))
        return sorted(found, key=_libraries_first)

    def _differs(self, distribution: Distribution, file: RecordedFile, size: int) -> bool:
        """Whether a file of this size is not the recorded one."""
        if file.size is None:
            return False
        if size != file.size:
            return True
        below = len(distribution.folder) + 1
        if size > _SMALL or file.digest is None or file.path.count("/", below) != 1:
            return False
        digest = self._digest(file.path, file.digest, size)
        return digest is not None and digest != file.digest

    def _matching(self, path: str, claims: Iterable[tuple[Package, RecordedFile]]) -> list[str]:
        try:
            size = os.stat(path).st_size
        except (OSError, ValueError):
            return []
        same_size = [claim for claim in claims if claim[1].size in (size, None)]
        wanted = {file.digest for _, file in same_size}
        # Libraries of hundreds of megabytes: a size that only one of the recorded contents has settles it.
        settled = len(wanted) == 1 and None not in wanted and all(file.size == size for _, file in same_size)
        if settled and self._hashed + size > _HASH_BUDGET:
            return sorted({package.name for package, _ in same_size})
        return sorted(
            {
                package.name
                for package, file in same_size
                if file.digest and self._digest(path, file.digest, size) == file.digest
            }
        )

    def _digest(self, path: str, like: str, size: int) -> str | None:
        """The file's hash in the form of `like` ("sha256=..."), None where it cannot be had."""
        algorithm = like.partition("=")[0]
        key = (path, algorithm)
        if key not in self._digests:
            self._digests[key] = None
            try:
                digest = hashlib.new(algorithm, usedforsecurity=False)
                with open(path, "rb", opener=without_waiting) as stream:
                    while piece := stream.read(1 << 20):
                        digest.update(piece)
                self._hashed += size
                encoded = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
                self._digests[key] = f"{algorithm}={encoded}"
            except (OSError, ValueError, TypeError):
                pass
        return self._digests[key]


def _recorded(path: str, row: list[str]) -> RecordedFile:
    size = int(row[2]) if len(row) > 2 and row[2].isascii() and row[2].isdigit() else None
    return RecordedFile(path, (row[1] if len(row) > 1 else "") or None, size)


def _libraries_first(file: ChangedFile | SharedFile) -> tuple[bool, str]:
    return _LIBRARY.search(file.path) is None, file.path
