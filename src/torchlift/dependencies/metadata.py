"""What the metadata of a project says about torch: requirements, package indexes and the Python it wants.

Read are `pyproject.toml` (PEP 621, dependency groups, Poetry, PDM, uv), `setup.cfg`, `setup.py`, requirement files and
conda environments. Nothing is executed: `setup.py` is read as syntax.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from torchlift.dependencies.conda_file import read_conda
from torchlift.dependencies.ini_file import read_ini
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import Include, PinSet
from torchlift.dependencies.pyproject_file import read_pyproject
from torchlift.dependencies.requirements_file import read_requirements
from torchlift.dependencies.setup_file import read_setup, setup_calls
from torchlift.dependencies.strength import Strength, strength_of
from torchlift.lazy_dataclass import dataclass
from torchlift.source import SourceText
from torchlift.view.text import TextKind, TextView

_REQUIREMENTS = (
    "requirements*.txt",
    "requirements*.in",
    "*[-_]requirements.txt",
    "requirements/*.txt",
    "requirements/*.in",
)
_CONDA = ("environment*.yml", "environment*.yaml")


@dataclass(frozen=True)
class Declaration:
    """A requirement of torch, or of a Python.

    Attributes:
        pin: what is asked for.
        strength: who asks.
        place: where it is, such as `pyproject.toml:12`, relative to the project root.
    """

    pin: Pin
    strength: Strength
    place: str


@dataclass(frozen=True)
class PackageIndex:
    """An address that packages are taken from, and where it is named."""

    url: str
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

    declarations: list[Declaration] = field(default_factory=list)
    indexes: list[PackageIndex] = field(default_factory=list)
    python: list[Declaration] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_metadata(root: Path, folder: Path, *, torch_only: bool = False) -> Metadata:
    """Read the files of one folder. Never raises for what a file holds.

    Args:
        root: the project: nothing outside of it is read.
        folder: the folder, `root` or below it.
        torch_only: leave out files that cannot say anything about a requirement of torch, for speed.
    """
    reader = _Reader(real_path(root))
    folder = real_path(folder)
    for name, read in (
        ("pyproject.toml", reader.pyproject),
        ("setup.cfg", reader.setup_cfg),
        ("setup.py", reader.setup_py),
    ):
        data = reader.data(folder / name)
        # A file that never says torch can still say which requirement files count.
        if data is not None and (not torch_only or b"torch" in data or b"file" in data):
            read(folder / name, SourceText(_decoded(data)))
    for path in reader.matching(folder, _REQUIREMENTS):
        reader.requirements(path, Strength.OTHER)
    for path in reader.matching(folder, _CONDA):
        reader.conda(path)
    return reader.found


@dataclass
class _Reader:
    """Collects what the files of one folder say; paths are without symbolic links."""

    root: Path
    found: Metadata = field(default_factory=Metadata)
    seen: set[Path] = field(default_factory=set)

    def pyproject(self, path: Path, source: SourceText) -> None:
        read = read_pyproject(self._view(path, "toml", source))
        if read.problem:
            self._note(path, f"is not valid TOML ({read.problem}), so no torch version was read from it.")
        self._take(path, source, read)

    def setup_cfg(self, path: Path, source: SourceText) -> None:
        from configparser import ConfigParser, Error

        try:
            ConfigParser(interpolation=None, strict=False).read_string(source.text)
        except Error as error:
            reason = str(error).partition("\n")[0]
            self._note(path, f"cannot be read ({reason}), so no torch version was read from it.")
            return
        self._take(path, source, read_ini(self._view(path, "ini", source)))

    def setup_py(self, path: Path, source: SourceText) -> None:
        try:
            tree = source.parse()
            read = [read_setup(tree, source, call) for call in setup_calls(tree)]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._note(path, f"cannot be parsed ({error}), so no torch version was read from it.")
            return
        for item in read:
            self._take(path, source, item)

    def requirements(self, path: Path, strength: Strength) -> None:
        """Read a requirement file, and what it includes, once."""
        data = self.data(path)
        if path in self.seen or data is None:
            return
        self.seen.add(path)
        source = SourceText(_decoded(data))
        self._take(path, source, read_requirements(self._view(path, "requirements", source)), strength)

    def conda(self, path: Path) -> None:
        data = self.data(path)
        source = SourceText(_decoded(data or b""))
        read = read_conda(self._view(path, "yaml", source))
        if read is not None:
            self._take(path, source, read, Strength.OTHER)

    def matching(self, folder: Path, patterns: Iterable[str]) -> list[Path]:
        found = {real_path(path) for pattern in patterns for path in folder.glob(pattern)}
        return sorted(path for path in found if self.root in path.parents)

    def data(self, path: Path) -> bytes | None:
        if not os.path.isfile(path):  # noqa: PTH113 - not `Path.is_file`, which raises in a folder that may not be read
            return None
        try:
            return path.read_bytes()
        except OSError as error:
            self._note(path, f"cannot be read ({error.strerror or error}).")
            return None

    def _take(self, path: Path, source: SourceText, read: PinSet, given: Strength | None = None) -> None:
        """Take what a file says; `given` is the strength of a file that is one list."""

        def place(pin: Pin | Include) -> str:
            return f"{self._name(path)}:{source.location(pin.span.start)[0]}"

        self.found.python += [Declaration(pin, Strength.RUNTIME, place(pin)) for pin in read.python]
        self.found.indexes += [
            PackageIndex(item.text, f"{self._name(path)}:{source.location(item.span.start)[0]}")
            for item in read.sources
        ]
        for pin in read.pins:
            strength = strength_of(pin.group) if given is None else given
            if pin.unread and pin.is_torch:
                self.found.notes.append(
                    f"The torch requirement in {place(pin)} is not understood (`{pin.unread}`) and was left out."
                )
            elif pin.is_torch and strength is not None:
                self.found.declarations.append(Declaration(pin, strength, place(pin)))
        named = [
            (strength, item)
            for item in read.includes
            if (strength := given if given is not None else strength_of(item.group)) is not None
        ]
        for strength, item in sorted(named, key=lambda pair: pair[0]):
            target = real_path(path.parent / item.path)
            problem = self._problem(target)
            if not problem:
                self.requirements(target, strength)
            elif given is not None and "://" not in item.path:
                self.found.notes.append(f"{place(item)} includes {item.path}, which {problem}.")

    def _problem(self, path: Path) -> str:
        """Why an included file is not read."""
        if self.root not in (path, *path.parents):
            return "lies outside the project and was not read"
        return "" if path.is_file() else "is no file"

    def _note(self, path: Path, text: str) -> None:
        self.found.notes.append(f"{self._name(path)} {text}")

    def _view(self, path: Path, kind: TextKind, source: SourceText) -> TextView:
        return TextView(self._name(path), kind, source)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def real_path(path: Path) -> Path:
    """A path without symbolic links. Not `Path.resolve`, which raises where a link leads back to itself."""
    return Path(os.path.realpath(os.fspath(path).replace("\0", "")))


def _decoded(data: bytes) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8-sig", "replace")
