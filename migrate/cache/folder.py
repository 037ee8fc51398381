"""The folder that entries lie in: where it is, whether it may be believed, what is thrown away.

It is the user's own and lies outside of the project, or a repository could bring along one in which it has no findings.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass

_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by torchlift; `torchlift clean` removes it.\n"
_MARKS = {"CACHEDIR.TAG": _TAG, ".gitignore": b"*\n"}
_ENTRIES = "entries"
_OLDEST = 30 * 24 * 3600
_UNFINISHED = 3600
_MOST_BYTES = 512_000_000
_DAY = 24 * 3600


class CacheRefused(Exception):
    """A folder that cannot be a cache; the message is a sentence."""


@dataclass(frozen=True)
class CacheFolder:
    """Entries by name. Whatever cannot be read or written is as if it was not there; two runs may use it at once.

    Attributes:
        path: the folder, which need not exist.
        is_chosen: whether the user named it.
    """

    path: Path
    is_chosen: bool = False

    def is_for(self, root: Path) -> bool:
        """Whether findings about the project in `root` may come from here.

        Raises:
            CacheRefused: they may not, and the user named the folder.
        """
        real = Path(os.path.realpath(self.path))
        if root == real or root in real.parents:
            if self.is_chosen:
                raise CacheRefused(
                    f"The cache {self.path} lies inside of the project {root}, which could bring along one that hides "
                    "findings; name a folder outside, or pass --no-cache."
                )
            return False
        return _is_own(real)

    def read(self, name: str) -> bytes | None:
        """An entry; None where there is none."""
        path = self.path / _ENTRIES / name
        try:
            data = file_bytes(path, _MOST_BYTES)
        except OSError:
            return None
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - _DAY:
                os.utime(path)  # what is used stays
        return data

    def write(self, name: str, data: bytes) -> None:
        """Keep an entry, if that is possible, and throw away what is old or too much."""
        with contextlib.suppress(OSError):
            self._begin()
            from torchlift.whole_file import write_whole

            write_whole(self.path / _ENTRIES / name, data)
            self._prune()

    def remove(self, name: str) -> None:
        """Forget an entry."""
        with contextlib.suppress(OSError):
            (self.path / _ENTRIES / name).unlink(missing_ok=True)

    def clean(self) -> int:
        """Remove all entries and what else was made; the bytes that this freed.

        Raises:
            CacheRefused: the folder is not one that torchlift made.
            OSError: something cannot be removed.
        """
        if not self.path.is_dir():
            return 0
        try:
            is_ours = (self.path / "CACHEDIR.TAG").read_bytes() == _TAG
        except OSError:
            is_ours = False
        if not is_ours:
            raise CacheRefused(
                f"{self.path} is no cache of torchlift's (its CACHEDIR.TAG says so), and nothing was removed."
            )
        freed = 0
        for path, size, _ in list(self._entries()):
            path.unlink(missing_ok=True)
            freed += size
        for name in _MARKS:
            (self.path / name).unlink(missing_ok=True)
        for folder in (self.path / _ENTRIES, self.path):
            with contextlib.suppress(OSError):  # something else lies there
                folder.rmdir()
        return freed

    def _begin(self) -> None:
        if (self.path / "CACHEDIR.TAG").is_file():
            return
        from torchlift.whole_file import write_whole

        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in _MARKS.items():
            write_whole(self.path / name, text)

    def _entries(self) -> Iterator[tuple[Path, int, float]]:
        """Each file among the entries, its size and when it was last used."""
        with contextlib.suppress(OSError), os.scandir(self.path / _ENTRIES) as listed:
            for entry in listed:
                with contextlib.suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    yield Path(entry.path), found.st_size, found.st_mtime

    def _prune(self) -> None:
        now, total = time.time(), 0
        for path, size, used in sorted(self._entries(), key=lambda entry: -entry[2]):
            total += size
            age = now - used
            # What a killed run left begins with a dot.
            if age > (_UNFINISHED if path.name.startswith(".") else _OLDEST) or total > _MOST_BYTES:
                with contextlib.suppress(OSError):
                    path.unlink()


def _is_own(folder: Path) -> bool:
    """Whether nobody else could have written what lies in a folder; one that is still to be made is the user's."""
    get_user = getattr(os, "geteuid", None)
    if get_user is None:
        return True  # Windows gives every user a folder of his own
    for path in (folder, folder / _ENTRIES):
        try:
            found = path.stat()
        except OSError:
            continue
        if found.st_uid != get_user() or found.st_mode & 0o022:
            return False
    return True


def chosen_folder(given: Path | None, environment: Mapping[str, str]) -> CacheFolder:
    """The folder that was given, else the user's own for caches."""
    return CacheFolder(_usual(environment)) if given is None else CacheFolder(given.absolute(), is_chosen=True)


def _usual(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - `Path.home` raises where there is none
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "torchlift" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "torchlift"
    named = environment.get("XDG_CACHE_HOME", "")
    return (Path(named) if named.startswith("/") else home / ".cache") / "torchlift"
