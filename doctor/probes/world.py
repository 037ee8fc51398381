"""The machine as the static probes see it: files below a root, environment variables, the platform's name.

Nothing here raises: what cannot be read is `None` or empty. Paths go in and come out as the machine itself names them,
without the root, which is another folder than / only to look at a copy of a machine's files.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path

from torchlift.file_bytes import without_waiting
from torchlift.lazy_dataclass import dataclass

_TEXT_LIMIT = 1 << 20


@dataclass(frozen=True)
class World:
    """Where the probes look."""

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    sys_platform: str = sys.platform
    """As `sys.platform` says."""
    machine: str = field(default_factory=platform.machine)
    """As `platform.machine` says."""

    @property
    def is_here(self) -> bool:
        """Whether this is the running machine itself, so that system calls speak of it."""
        return self.root == Path("/")

    @property
    def is_linux(self) -> bool:
        """Whether /proc and /sys can be expected."""
        return self.sys_platform.startswith("linux")

    @property
    def is_windows(self) -> bool:
        """Whether libraries are DLLs and programs end in .exe."""
        return self.sys_platform in ("win32", "cygwin")

    def at(self, path: str) -> Path:
        """Where a file of the machine really lies."""
        return Path(path) if self.is_here else self.root / path.lstrip("/")

    def text(self, path: str) -> str | None:
        """The first MiB of a file; bytes that are not UTF-8 become U+FFFD."""
        data = self.data(path, _TEXT_LIMIT)
        return None if data is None else data.decode(errors="replace")

    def data(self, path: str, limit: int) -> bytes | None:
        """At most `limit` first bytes of a file."""
        try:
            with open(self.at(path), "rb", opener=without_waiting) as stream:
                return stream.read(limit)
        except (OSError, ValueError):
            return None

    def names(self, folder: str, pattern: str = "*") -> list[str]:
        """The entries of a folder that match a glob, sorted."""
        try:
            return sorted(entry.name for entry in self.at(folder).iterdir() if fnmatchcase(entry.name, pattern))
        except (OSError, ValueError):
            return []

    def exists(self, path: str) -> bool:
        """Whether the path leads to something."""
        try:
            return self.at(path).exists()
        except (OSError, ValueError):
            return False

    def is_folder(self, path: str) -> bool:
        """Whether the path leads to a folder."""
        try:
            return self.at(path).is_dir()
        except (OSError, ValueError):
            return False

    def size(self, path: str) -> int | None:
        """Bytes of a regular file, links followed; None for anything else."""
        try:
            at = self.at(path)
            return at.stat().st_size if at.is_file() else None
        except (OSError, ValueError):
            return None

    def real(self, path: str) -> str:
        """The path with all links followed."""
        try:
            resolved = os.path.realpath(self.at(path))
            if self.is_here:
                return resolved
            return "/" + os.path.relpath(resolved, os.path.realpath(self.root)).replace(os.sep, "/")
        except (OSError, ValueError):
            return path

    def link(self, path: str) -> str | None:
        """What a symbolic link says, unresolved; None when there is none."""
        try:
            return str(self.at(path).readlink())
        except (OSError, ValueError):
            return None

    def search_path(self, variable: str) -> list[str]:
        """The absolute folders of a variable such as PATH, in order."""
        folders = self.environment.get(variable, "").split(";" if self.is_windows else ":")
        return [folder for folder in folders if folder.startswith("/") or (self.is_windows and folder)]

    def which(self, program: str) -> str | None:
        """The first executable file of this name on PATH."""
        name = f"{program}.exe" if self.is_windows else program
        for folder in self.search_path("PATH"):
            path = str(Path(folder) / name)
            if self.size(path) is not None and os.access(self.at(path), os.X_OK):
                return path
        return None
