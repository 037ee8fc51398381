"""Whether one program may load two files of a project, as far as their imports tell.

Files of a package load what its `__init__` loads, test files the `conftest` above them. Where one name may mean several
files it means all of them. A file that imports by computed names may load what is installed, and what stands where its
program imports from: beside the files that load it, and around the packages that these belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import FOLDERS_ASIDE
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.search.module_files import innermost

_WORD = lazy_pattern(rb"(?:from|import)[ \t]")
_IMPORT = lazy_pattern(
    rb"from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|(?:\\\r?\n|[^\r\n#;])*)|import[ \t]+((?:\\\r?\n|[^\r\n#;])+)"
)
_COMPUTING = tuple(
    "import_module __import__ spec_from_file_location runpy load_entry_point iter_entry_points entry_points locate "
    "instantiate get_class get_method exec _target_ resolve_name walk_packages iter_modules find_spec exec_module load_module "
    "SourceFileLoader stevedore pluggy".split()
)
_BY_PATH = ("spec_from_file_location", "SourceFileLoader", "exec_module", "load_module", "runpy")
_OF_PATH = ("sys.path", "addsitedir")
_NAME = lazy_pattern(rb"(?:^|,)\s*([\w.]+)")
_NOISE = lazy_pattern(rb"#[^\n]*|[()\\]")


def in_one_program(project: Project, path: str, other: str) -> bool:
    """Whether a program may load both files: one of them, or a third one, imports them directly or on the way."""
    return path == other or not _loaders(project, path).isdisjoint(_loaders(project, other))


def _loaders(project: Project, path: str) -> frozenset[str]:
    return project.once(_loading, path)


def _loading(project: Project, path: str) -> frozenset[str]:
    """Files that load a file, itself included."""
    found, pending = {path}, [path]
    while pending:
        one = pending.pop()
        new = (_importing(project, one) | project.once(_importing_from, one.rpartition("/")[0])) - found
        found |= new
        pending += new
    return frozenset(found)


def _importing(project: Project, path: str) -> frozenset[str]:
    """Files that import a file by its name."""
    return project.once(_importers).get(path, frozenset())


def _importing_from(project: Project, folder: str) -> frozenset[str]:
    """Files that may import those of a folder by names that they compute."""
    computing = project.once(_importing_anything)
    return frozenset(path for path, roots in computing.items() if _may_import(project, f"{folder}/".lstrip("/"), roots))


def _importing_anything(project: Project) -> dict[str, frozenset[str] | None]:
    """Files that import by computed names, and the folders that their programs import from; the project's is empty.

    None where it may be any: what loads a file by its path, and what changes the path or is started with another one.
    """
    found = project.files_holding(*_COMPUTING, whole=True)
    free = {*project.files_holding(*_BY_PATH, whole=True), *project.files_holding(*_OF_PATH)}
    anywhere = bool(project.mentions("PYTHONPATH"))
    computed: dict[str, frozenset[str] | None] = {}
    for path in found:
        if path.rpartition("/")[2] != "setup.py":  # which runs files that hold a version
            loaders, roots = _loaded_by_name(project, path)
            computed[path] = None if anywhere or not free.isdisjoint(loaders) else roots
    return computed


def _loaded_by_name(project: Project, path: str) -> tuple[frozenset[str], frozenset[str]]:
    """The files of programs that load a file by its name, and the folders on their path."""
    found, pending = {path}, [path]
    roots: set[str] = set()
    while pending:
        one = pending.pop()
        folder, name = one.rpartition("/")[0], project.module_name(one)
        depth = name.count(".") + one.endswith("/__init__.py")
        roots |= {folder, "/".join(folder.split("/")[: -depth or None])}
        new = _importing(project, one) - found
        found |= new
        pending += new
    return frozenset(found), frozenset(roots)


def _may_import(project: Project, path: str, roots: frozenset[str] | None) -> bool:
    """Whether a program with such roots may find the files of the folder `path` by their names: below one of them, or installed."""
    if roots is None or "" in roots or any(path.startswith(f"{root}/") for root in roots):
        return True
    packaging = packaging_of(project, path)
    around = packaging.rpartition("/")[0] if packaging is not None else ""
    inside = path.removeprefix(f"{around}/" if around else "")
    return packaging is not None and inside.partition("/")[0] not in FOLDERS_ASIDE


def _importers(project: Project) -> dict[str, frozenset[str]]:
    """By file, the files that import it."""
    found: dict[str, set[str]] = {}
    meanings = project.once(_Meanings)
    for path, names in project.noted(_imports).items():
        for imported in meanings.loaded(project, path, names):
            found.setdefault(imported, set()).add(path)
    return {path: frozenset(importers) for path, importers in found.items()}


class _Meanings:
    """What imported names mean among the files of a project, whatever stands in them: worked out once for all of its states."""

    def __init__(self, project: Project) -> None:
        self._tails: dict[str, list[str]] = {}
        for path in project.files:
            self._tails.setdefault(_stem(path).rpartition("/")[2], []).append(path)
        self._known: dict[tuple[str, str, bool], tuple[str, ...]] = {}
        self._loaded: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def loaded(self, project: Project, path: str, names: frozenset[str]) -> frozenset[str]:
        """Files that are loaded with a file that imports these names."""
        known = self._loaded.get(path)
        if known is None or known[0] != names:
            found = set(_implied(project, path))
            found.update(*(self._meant(project, name, path) for name in names))
            known = self._loaded[path] = names, frozenset(found)
        return known[1]

    def _meant(self, project: Project, name: str, path: str) -> tuple[str, ...]:
        # What a name means depends on the folder that it is imported in, and on the path where a file changes that.
        key = name, path.rpartition("/")[0], b"sys.path" in project.data(path)
        if key not in self._known:
            self._known[key] = tuple(_meant(project, self._tails, name, path, anywhere=key[2]))
        return self._known[key]


def _imports(path: str, data: bytes) -> frozenset[str]:
    return frozenset(_imported(path, data))


def _imported(path: str, data: bytes) -> Iterator[str]:
    """Dotted names of modules that a file may import; one with a dot at the front is a path from the project's root."""
    for found in _import_statements(data):
        base, names, modules = found.groups()
        if modules is not None:
            yield from (name.decode(errors="replace") for name in _NAME.findall(_NOISE.sub(b"", modules)))
            continue
        home = base.decode(errors="replace")
        dots = len(home) - len(home.lstrip("."))
        if dots:
            folder = path.split("/")[:-dots] if dots < len(path.split("/")) + 1 else []
            home = "." + ".".join([*folder, *filter(None, [home.lstrip(".")])])
        yield home
        yield from (f"{home}.{name.decode(errors='replace')}" for name in _NAME.findall(_NOISE.sub(b"", names)))


def _import_statements(data: bytes) -> Iterator[re.Match[bytes]]:
    """Imports at the beginning of a line, or behind a colon or semicolon: what else reads like one is text."""
    end = 0
    for word in _words(data):
        at = word.start()
        while at and data[at - 1] in b" \t":
            at -= 1
        before = data[at - 1 : at] if at else b"\n"
        if at < end or before not in {b"\n", b";", b":"} or (at == end and before != b"\n"):
            continue
        found = _IMPORT.match(data, word.start())
        if found is not None:
            end = found.end()
            yield found


def _words(data: bytes) -> Iterator[re.Match[bytes]]:
    """First words of what may be imports: these have the word `import` on their first line."""
    at = data.find(b"import")
    while at >= 0:
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        yield from _WORD.finditer(data, data.rfind(b"\n", 0, at) + 1, end)
        at = data.find(b"import", end)


def _meant(project: Project, tails: dict[str, list[str]], name: str, importer: str, *, anywhere: bool) -> Iterator[str]:
    """Files that an imported name may mean, and the packages around them."""
    if name.startswith("."):
        relative = name.lstrip(".").replace(".", "/")
        yield from (path for path in (f"{relative}.py", f"{relative}/__init__.py") if project.is_python(path))
        return
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        known = project.find_module(".".join(parts[:end]), importer)
        if known is not None:
            yield known
            if not anywhere:
                continue
        tail = "/".join(parts[:end])
        found = [path for path in tails.get(parts[end - 1], ()) if f"/{_stem(path)}".endswith(f"/{tail}")]
        roots = {path: _stem(path)[: -len(tail)].rstrip("/") for path in found}
        yield from (found if anywhere else innermost(importer, roots) or found)


def _implied(project: Project, path: str) -> Iterator[str]:
    """What is loaded before a file: the packages around it, and what prepares its tests."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        around = f"{folder}/" if folder else ""
        yield from (
            one for one in (f"{around}__init__.py", f"{around}conftest.py") if one != path and project.is_python(one)
        )


def _stem(path: str) -> str:
    """The path of the module that a file is, without its suffix."""
    return path.rpartition(".")[0].removesuffix("/__init__")
