"""Which file of a project is which module; told by paths alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property


class ModuleFiles:
    """The modules that some files are.

    Args:
        files: Python files of a project, relative to its root, sorted.
    """

    def __init__(self, files: tuple[str, ...]) -> None:
        self._files = files
        self._known = frozenset(files)
        self._beside: dict[tuple[str, str], bool] = {}

    def __contains__(self, path: object) -> bool:
        return path in self._known

    def name(self, path: str) -> str:
        """Dotted name of a file, from the outermost folder that is a package."""
        folder, _, file = path.rpartition("/")
        parts = [] if file in {"__init__.py", "__init__.pyi"} else [file.rpartition(".")[0]]
        while folder and self._is_package(folder):
            folder, _, name = folder.rpartition("/")
            parts.append(name)
        return ".".join(reversed(parts))

    def _is_package(self, folder: str) -> bool:
        return f"{folder}/__init__.py" in self._known or f"{folder}/__init__.pyi" in self._known

    @cached_property
    def by_name(self) -> Mapping[str, list[str]]:
        """Files by dotted module name; scripts in different folders may share one."""
        found: dict[str, list[str]] = {}
        for path in self._files:
            found.setdefault(self.name(path), []).append(path)
        return found

    @cached_property
    def _heads(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.by_name)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path[:end] for path in self._files for end, letter in enumerate(path) if letter == "/")

    def may_own(self, head: str, importer: str) -> bool:
        """Whether `find` may find a module whose name begins with `head`."""
        if head in self._heads:
            return True
        folder = importer.rpartition("/")[0]
        known = self._beside.get((head, folder))
        if known is None:
            known = self._beside[head, folder] = any(
                f"{base}{head}.py" in self._known or f"{base}{head}" in self._folders
                for base in (folder + "/" if folder else "", "", "src/")
            )
        return known

    def find(self, name: str, importer: str) -> str | None:
        """The file that `import name` in `importer` loads; None if it is not the project's or not certain."""
        candidates = self.by_name.get(name, [])
        folder = importer.rpartition("/")[0]
        if len(candidates) > 1:
            beside = [path for path in candidates if path.rpartition("/")[0] == folder]
            candidates = beside or candidates
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            return None
        relative = name.replace(".", "/")
        for base in (folder + "/" if folder else "", "", "src/"):
            for path in (f"{base}{relative}.py", f"{base}{relative}/__init__.py"):
                if path in self._known:
                    return path
        return None

    def split(self, name: str, importer: str) -> tuple[str, list[str]] | None:
        """The file of the longest module prefix of `name`, and the attributes behind it."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            path = self.find(".".join(parts[:end]), importer)
            if path is not None:
                return path, parts[end:]
        return None
