"""What the metadata of a project says about torch: requirements, package indexes and the Python it wants.

Read are `pyproject.toml` (PEP 621, dependency groups, Poetry, PDM, uv), `setup.cfg`, `setup.py`, requirement files and
conda environments. Nothing is executed: `setup.py` is read as syntax.
"""

from __future__ import annotations

import ast
import codecs
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.requirements.demand import Demand, NotUnderstood, conda_demand, pip_demand, poetry_demand
from torchlift.view.walk import walk

_REQUIREMENTS = (
    "requirements*.txt",
    "requirements*.in",
    "*[-_]requirements.txt",
    "requirements/*.txt",
    "requirements/*.in",
)
_CONDA = ("environment*.yml", "environment*.yaml")

# Longer texts in `setup.py` are no requirements; `a = b + b` for every letter would otherwise fill the memory.
_LONGEST_TEXT = 100_000


class Strength(IntEnum):
    """Who asks for torch; lower values decide."""

    RUNTIME = 0
    EXTRA = 1
    OTHER = 2


Notation = Literal["pip", "poetry", "conda"]

_READERS: dict[Notation, Callable[[str], Demand | None]] = {
    "pip": pip_demand,
    "poetry": poetry_demand,
    "conda": conda_demand,
}


@dataclass(frozen=True)
class Declaration:
    """A requirement of torch.

    Attributes:
        strength: who asks.
        text: the requirement as it stands there; in Poetry's notation without the name.
        notation: whose grammar it is in.
        demand: what it says.
        place: where it is, such as `pyproject.toml:12`, relative to the project root.
    """

    strength: Strength
    text: str
    notation: Notation
    demand: Demand
    place: str


@dataclass(frozen=True)
class PackageIndex:
    """An address that packages are taken from, and where it is named."""

    url: str
    place: str


@dataclass(frozen=True)
class PythonDemand:
    """A version specifier for Python, and where it stands."""

    text: str
    place: str


@dataclass
class Metadata:
    """What one folder's files say.

    Attributes:
        declarations: the requirements of torch.
        indexes: package indexes, whatever they are used for.
        python: the Pythons asked for.
        notes: sentences about what was not understood.
    """

    declarations: list[Declaration]
    indexes: list[PackageIndex]
    python: list[PythonDemand]
    notes: list[str]


def read_metadata(root: Path, folder: Path, *, torch_only: bool = False) -> Metadata:
    """Read the files of one folder. Never raises for what a file holds.

    Args:
        root: the project: nothing outside of it is read.
        folder: the folder, `root` or below it.
        torch_only: leave out files that cannot say anything about a requirement of torch, for speed.
    """
    reader = _Reader(real_path(root), real_path(folder), torch_only)
    reader.read()
    return Metadata(reader.declarations, reader.indexes, reader.python, reader.notes)


@dataclass
class _Reader:
    """Collects the declarations of one folder."""

    root: Path
    folder: Path
    torch_only: bool
    notes: list[str] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    indexes: list[PackageIndex] = field(default_factory=list)
    python: list[PythonDemand] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def read(self) -> None:
        for name, reader in (
            ("pyproject.toml", self._pyproject),
            ("setup.cfg", self._setup_cfg),
            ("setup.py", self._setup_py),
        ):
            path = self.folder / name
            data = self._bytes(path)
            # A file that never says torch can still say which requirement files count.
            if data is not None and (not self.torch_only or b"torch" in data or b"file" in data):
                reader(path, _decoded(data))
        for path in self._matching(_REQUIREMENTS):
            self._requirements(path, Strength.OTHER)
        for path in self._matching(_CONDA):
            self._conda(path)

    # Files

    def _pyproject(self, path: Path, text: str) -> None:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
        try:
            document = tomllib.loads(text.replace("\r\n", "\n"))
        except (ValueError, RecursionError) as error:
            self.notes.append(f"{self._name(path)} is not valid TOML ({error}), so no torch version was read from it.")
            return
        project = _table(document.get("project"))
        tool = _table(document.get("tool"))
        lists = [(Strength.RUNTIME, project.get("dependencies"), "project")]
        lists += [
            (Strength.EXTRA, names, "project.optional-dependencies")
            for names in _table(project.get("optional-dependencies")).values()
        ]
        groups = [
            ("dependency-groups", _table(document.get("dependency-groups"))),
            ("tool.pdm.dev-dependencies", _table(_table(tool.get("pdm")).get("dev-dependencies"))),
            ("tool.uv", {"": _table(tool.get("uv")).get("dev-dependencies")}),
        ]
        lists += [(Strength.OTHER, names, header) for header, group in groups for names in group.values()]
        for strength, names, header in lists:
            for name in _list(names):
                if isinstance(name, str):
                    place = self._place(path, text, header, re.escape(name))
                    self._add(strength, name, place, "pip")
        self._poetry(path, text, _table(tool.get("poetry")))
        self._python(project.get("requires-python"), self._place(path, text, "project", r"requires-python"))
        self._tool_indexes(path, text, tool)
        dynamic = _table(_table(tool.get("setuptools")).get("dynamic"))
        self._files(Strength.RUNTIME, _table(dynamic.get("dependencies")).get("file"))
        for extra in _table(dynamic.get("optional-dependencies")).values():
            self._files(Strength.EXTRA, _table(extra).get("file"))

    def _poetry(self, path: Path, text: str, poetry: dict[str, Any]) -> None:
        tables = [(Strength.RUNTIME, "tool.poetry.dependencies", poetry.get("dependencies"))]
        tables.append((Strength.OTHER, "tool.poetry.dev-dependencies", poetry.get("dev-dependencies")))
        tables += [
            (Strength.OTHER, f"tool.poetry.group.{name}.dependencies", _table(group).get("dependencies"))
            for name, group in _table(poetry.get("group")).items()
        ]
        for strength, header, dependencies in tables:
            for name, value in _table(dependencies).items():
                if name.lower() != "torch":
                    continue
                place = self._place(path, text, header, r"""(?<![\w-])torch["']?\s*[=.\]]""")
                for constraint in value if isinstance(value, list) else [value]:
                    if isinstance(constraint, str):
                        self._add(strength, constraint, place, "poetry")
                    elif isinstance(constraint, dict) and isinstance(constraint.get("version"), str):
                        self._add(strength, constraint["version"], place, "poetry")
                    elif isinstance(constraint, dict):
                        address = constraint.get("url") or constraint.get("path") or constraint.get("file")
                        self._add(strength, f"torch @ {address}", place, "pip")

    def _tool_indexes(self, path: Path, text: str, tool: dict[str, Any]) -> None:
        uv = _table(tool.get("uv"))
        urls = [_table(item).get("url") for item in _list(uv.get("index"))]
        urls += [uv.get("index-url"), *_list(uv.get("extra-index-url")), *_list(uv.get("find-links"))]
        for name in ("poetry", "pdm"):
            urls += [_table(item).get("url") for item in _list(_table(tool.get(name)).get("source"))]
        for url in urls:
            if isinstance(url, str):
                self.indexes.append(PackageIndex(url, self._place(path, text, "tool", re.escape(url))))

    def _python(self, text: object, place: str) -> None:
        if isinstance(text, str) and text.strip():
            self.python.append(PythonDemand(text.strip(), place))

    def _setup_cfg(self, path: Path, text: str) -> None:
        from configparser import ConfigParser, Error

        parser = ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(text)
        except Error as error:
            reason = str(error).partition("\n")[0]
            self.notes.append(f"{self._name(path)} cannot be read ({reason}), so no torch version was read from it.")
            return
        values = [(Strength.RUNTIME, parser.get("options", "install_requires", fallback=""))]
        if parser.has_section("options.extras_require"):
            values += [(Strength.EXTRA, value) for value in parser["options.extras_require"].values()]
        wanted = parser.get("options", "python_requires", fallback="")
        self._python(wanted, self._place(path, text, "options", "python_requires"))
        for strength, value in values:
            if value.strip().startswith("file:"):
                self._files(strength, value.strip().removeprefix("file:").split(","))
                continue
            for line in value.splitlines():
                if line.strip():
                    place = self._place(path, text, "options", rf"\b{re.escape(line.strip())}")
                    self._add(strength, line, place, "pip")

    def _setup_py(self, path: Path, text: str) -> None:
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                literals = _Literals(ast.parse(text))
            found = [
                (keyword, *item) for keyword, node in literals.setup_arguments() for item in literals.strings(node)
            ]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.notes.append(f"{self._name(path)} cannot be parsed ({error}), so no torch version was read from it.")
            return
        strengths = {"install_requires": Strength.RUNTIME, "extras_require": Strength.EXTRA}
        for keyword, requirement, line in found:
            if keyword == "python_requires":
                self._python(requirement, f"{self._name(path)}:{line}")
            if keyword in strengths and requirement.endswith((".txt", ".in")):
                # `install_requires=read("requirements.txt")`, whatever `read` is called
                self._files(strengths[keyword], requirement)
            elif keyword in strengths:
                self._add(strengths[keyword], requirement, f"{self._name(path)}:{line}", "pip")

    def _requirements(self, path: Path, strength: Strength) -> None:
        data = self._bytes(path)
        if path in self.seen or data is None:
            return
        self.seen.add(path)
        for number, line in _logical_lines(_decoded(data)):
            place = f"{self._name(path)}:{number}"
            included = re.match(r"(?:-r|-c|--requirement|--constraint)[\s=]*(.+)", line)
            if included:
                self._include(path, included[1].strip("\"' "), place, strength)
            elif line.startswith("-"):
                self._index(line, place)
            else:
                self._add(strength, re.split(r"\s+--?[a-z]", line)[0], place, "pip")

    def _index(self, line: str, place: str) -> None:
        option = re.match(r"(?:-i|--index-url|--extra-index-url|-f|--find-links)[\s=]*(\S+)", line)
        if option:
            self.indexes.append(PackageIndex(option[1].strip("\"'"), place))

    def _include(self, path: Path, name: str, place: str, strength: Strength) -> None:
        if "://" in name:
            return
        target = real_path(path.parent / name)
        if self.root not in (target, *target.parents):
            self.notes.append(f"{place} includes {name}, which lies outside the project and was not read.")
        elif not target.is_file():
            self.notes.append(f"{place} includes {name}, which is no file.")
        else:
            self._requirements(target, strength)

    def _conda(self, path: Path) -> None:
        data = self._bytes(path)
        if data is None:
            return
        pip_column: int | None = None
        for number, line in enumerate(_decoded(data).splitlines(), 1):
            item = re.match(r"(\s*)-\s+(.+)", re.sub(r"(^|\s)#.*", "", line))
            if item is None:
                continue
            column, text = len(item[1]), item[2].strip().strip("\"'")
            place = f"{self._name(path)}:{number}"
            if pip_column is not None and column > pip_column:
                included = re.match(r"(?:-r|-c|--requirement|--constraint)[\s=]*(.+)", text)
                if included:
                    self._include(path, included[1].strip(), place, Strength.OTHER)
                elif text.startswith("-"):
                    self._index(text, place)
                else:
                    self._add(Strength.OTHER, text, place, "pip")
                continue
            pip_column = column if re.fullmatch(r"pip\s*:", text) else None
            self._add(Strength.OTHER, text, place, "conda")

    def _files(self, strength: Strength, names: object) -> None:
        """Requirement files that the metadata declares to be the requirements."""
        for name in [names] if isinstance(names, str) else _list(names):
            if isinstance(name, str):
                path = real_path(self.folder / name.strip())
                if self.root in path.parents:
                    self._requirements(path, strength)

    # Parts

    def _add(self, strength: Strength, text: str, place: str, notation: Notation) -> None:
        try:
            demand = _READERS[notation](text)
        except NotUnderstood as problem:
            self.notes.append(f"The torch requirement in {place} is not understood (`{problem}`) and was left out.")
            return
        if demand is not None:
            self.declarations.append(Declaration(strength, text, notation, demand, place))

    def _matching(self, patterns: Iterable[str]) -> list[Path]:
        found = {real_path(path) for pattern in patterns for path in self.folder.glob(pattern)}
        return sorted(path for path in found if self.root in path.parents)

    def _bytes(self, path: Path) -> bytes | None:
        if not os.path.isfile(path):  # noqa: PTH113 - not `Path.is_file`, which raises in a folder that may not be read
            return None
        try:
            return path.read_bytes()
        except OSError as error:
            self.notes.append(f"{self._name(path)} cannot be read ({error.strerror or error}).")
            return None

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _place(self, path: Path, text: str, header: str, pattern: str) -> str:
        """Where `pattern` stands behind the table `header`, as `file:line`; the file alone if it cannot be told."""
        dotted = r"\s*\.\s*".join(rf"""["']?{re.escape(part)}["']?""" for part in header.split("."))
        table = re.search(rf"^\s*\[\s*{dotted}\b", text, re.MULTILINE)
        expression = re.compile(pattern)
        found = expression.search(text, table.start() if table else 0) or expression.search(text)
        line = f":{text.count(chr(10), 0, found.start()) + 1}" if found else ""
        return f"{self._name(path)}{line}"


class _Literals:
    """Strings in `setup.py` as far as they stand there: literals, names for them, sums and appended items."""

    def __init__(self, tree: ast.Module) -> None:
        self._calls = [node for node in walk(tree) if isinstance(node, ast.Call)]
        self._assigned: dict[str, list[ast.expr]] = {}
        self._texts: dict[str, str | None] = {}
        for node in walk(tree):
            if isinstance(node, ast.Assign):
                self._assign(node.targets, node.value)
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                self._assign([node.target], node.value)
        for call in self._calls:
            function = call.func
            if isinstance(function, ast.Attribute) and function.attr in {"append", "extend"} and call.args:
                self._assign([function.value], call.args[0])

    def _assign(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                self._assigned.setdefault(target.id, []).append(value)

    def setup_arguments(self) -> Iterator[tuple[str, ast.expr]]:
        """Keyword arguments of every call of `setup`, those of `**names` included."""
        for call in self._calls:
            function = call.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name == "setup":
                yield from self._keywords(call.keywords)

    def _keywords(self, keywords: Iterable[ast.keyword]) -> Iterator[tuple[str, ast.expr]]:
        for keyword in keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value
                continue
            values = [keyword.value]
            if isinstance(keyword.value, ast.Name):
                values = self._assigned.get(keyword.value.id, [])
            for value in values:
                if isinstance(value, ast.Dict):
                    for key, item in zip(value.keys, value.values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            yield key.value, item
                elif isinstance(value, ast.Call):
                    yield from ((item.arg, item.value) for item in value.keywords if item.arg is not None)

    def strings(self, node: ast.expr) -> list[tuple[str, int]]:
        """The requirements in an expression, each with its line; every name is followed once."""
        result: list[tuple[str, int]] = []
        pending: list[ast.expr | None] = [node]
        followed: set[str] = set()
        while pending:
            part = pending.pop()
            if part is None:
                continue
            text = self._text(part)
            if text is not None:
                result += [(line.strip(), part.lineno) for line in text.splitlines() if line.strip()]
            elif isinstance(part, (ast.List, ast.Tuple, ast.Set)):
                pending += part.elts
            elif isinstance(part, ast.Dict):
                pending += part.values
            elif isinstance(part, ast.BinOp):
                pending += [part.left, part.right]
            elif isinstance(part, ast.IfExp):
                pending += [part.body, part.orelse]
            elif isinstance(part, (ast.Starred, ast.Attribute)):
                pending.append(part.value)
            elif isinstance(part, ast.Call):
                pending += [part.func, *part.args]
            elif isinstance(part, ast.Name) and part.id not in followed:
                followed.add(part.id)
                pending += self._assigned.get(part.id, ())
        return sorted(result, key=lambda item: item[1])

    def _text(self, node: ast.expr) -> str | None:
        """The string that an expression certainly is."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            if node.id not in self._texts:
                self._texts[node.id] = None  # until it is known: a name may be defined by itself
                values = self._assigned.get(node.id, ())
                self._texts[node.id] = self._text(values[0]) if len(values) == 1 else None
            return self._texts[node.id]
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        texts = []
        for part in parts:
            text = self._text(part)
            if text is None:
                return None
            texts.append(text)
        joined = "".join(texts)
        return joined if texts and len(joined) <= _LONGEST_TEXT else None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a requirement file with the number they begin at, continuations joined and comments removed."""
    begun, pending = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun if pending else number
        pending += line
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            pending = pending[:-1]
            continue
        content = re.sub(r"(^|\s)#.*", "", pending).strip()
        if content:
            yield begun, content
        pending = ""
    if pending.strip():
        yield begun, pending.strip()


def real_path(path: Path) -> Path:
    """A path without symbolic links. Not `Path.resolve`, which raises where a link leads back to itself."""
    return Path(os.path.realpath(os.fspath(path).replace("\0", "")))


def _decoded(data: bytes) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8-sig", "replace")


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
