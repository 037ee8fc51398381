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
        self._found: dict[tuple[str, str], str | None] = {}

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
            if not path.endswith(".ipynb"):  # nothing imports a notebook
                found.setdefault(self.name(path), []).append(path)
        return found

    @cached_property
    def _heads(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.by_name)

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path[:end] for path in self._files for end, letter in enumerate(path) if letter == "/")

    @cached_property
    def _plain_heads(self) -> frozenset[str]:
        """Folders without `__init__.py` that may be imported from wherever they stand, as their parents are no packages."""
        outer = (folder.rpartition("/") for folder in self._folders if not self._is_package(folder))
        return frozenset(name for parent, _, name in outer if not self._is_package(parent)) - {"torch"}

    @cached_property
    def _any_heads(self) -> frozenset[str]:
        return self._plain_heads | self._heads

    @cached_property
    def _by_last_part(self) -> Mapping[str, list[str]]:
        """Files by the last part of every dotted name that they may have."""
        found: dict[str, list[str]] = {}
        for path in self._files:
            module = path.removesuffix("/__init__.py").removesuffix(".py")
            found.setdefault(module.rpartition("/")[2], []).append(module)
        return found

    def may_own(self, head: str, importer: str) -> bool:
        """Whether `find` may find a module whose name begins with `head`."""
        if head in self._heads or head in self._plain_heads:
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
        # What a name means depends on the folder alone that it is imported in.
        folder = importer.rpartition("/")[0]
        key = (name, folder)
        if key not in self._found:
            self._found[key] = self._find(name, folder, importer)
        return self._found[key]

    def _find(self, name: str, folder: str, importer: str) -> str | None:
        candidates = self.by_name.get(name, [])
        if len(candidates) > 1:
            beside = [path for path in candidates if path.rpartition("/")[0] == folder]
            candidates = beside or innermost(importer, {path: _root(path, name) for path in candidates})
            return candidates[0] if len(candidates) == 1 else None
        if candidates:
            return candidates[0]
        relative = name.replace(".", "/")
        for base in (folder + "/" if folder else "", "", "src/"):
            for path in (f"{base}{relative}.py", f"{base}{relative}/__init__.py"):
                if path in self._known:
                    return path
        return self._below_plain_folders(name, relative, importer) if "." in name else None

    def _below_plain_folders(self, name: str, relative: str, importer: str) -> str | None:
        """The only file with such a path, wherever its outermost folder stands: what is put on the path is not known."""
        if name.partition(".")[0] not in self._any_heads:
            return None
        ending = f"/{relative}"
        modules = [module for module in self._by_last_part.get(name.rpartition(".")[2], ()) if module.endswith(ending)]
        if len(modules) > 1:
            modules = innermost(importer, {module: module.removesuffix(ending) for module in modules})
        if len(modules) != 1:
            return None
        paths = (f"{modules[0]}.py", f"{modules[0]}/__init__.py")
        return next((path for path in paths if path in self._known), None)

    def split(self, name: str, importer: str) -> tuple[str, list[str]] | None:
        """The file of the longest module prefix of `name`, and the attributes behind it."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            path = self.find(".".join(parts[:end]), importer)
            if path is not None:
                return path, parts[end:]
        return None


def _root(path: str, name: str) -> str:
    """The folder from which the module `name` in `path` is imported; empty for the project's."""
    return "/".join(path.removesuffix("/__init__.py").removesuffix("/__init__.pyi").split("/")[: -len(name.split("."))])


def innermost(importer: str, roots: Mapping[str, str]) -> list[str]:
    """Of several copies of a module, by the folders they are imported from, those in the innermost one around `importer`."""
    around = {copy: root for copy, root in roots.items() if not root or importer.startswith(f"{root}/")}
    longest = max(map(len, around.values()), default=0)
    return [copy for copy, root in around.items() if len(root) == longest]
