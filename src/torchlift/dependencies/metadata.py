"""What the metadata of a project says about torch: requirements, package indexes and the Python it wants.

Read are `pyproject.toml` (PEP 621, dependency groups, Poetry, PDM, uv), `setup.cfg`, `setup.py`, requirement files and
conda environments. Nothing is executed: `setup.py` is read as syntax.
"""

from __future__ import annotations

import codecs
import fnmatch
import os
import re
from dataclasses import field, replace
from pathlib import Path

from torchlift.dependencies.conda_file import read_conda
from torchlift.dependencies.ini_file import read_ini
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import Include, PackageSource, PinSet
from torchlift.dependencies.pyproject_file import read_pyproject
from torchlift.dependencies.requirements_file import read_requirements
from torchlift.dependencies.setup_file import read_setup, setup_calls
from torchlift.dependencies.strength import Strength, strength_of
from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText
from torchlift.view.text import TextKind, TextView

# What says who needs torch for what. `setup.py` is no text.
_DISTRIBUTION: tuple[tuple[str, TextKind | None], ...] = (
    ("pyproject.toml", "toml"),
    ("setup.cfg", "ini"),
    ("setup.py", None),
)
_ENVIRONMENTS: tuple[tuple[TextKind, tuple[str, ...]], ...] = (
    (
        "requirements",
        (
            "requirements*.txt",
            "requirements*.in",
            "*[-_]requirements.txt",
            "requirements/*.txt",
            "requirements/*.in",
            "conda*.txt",
        ),
    ),
    ("yaml", ("environment*.yml", "environment*.yaml")),
)


_NAMES = lazy_pattern(
    "|".join(
        [re.escape(name) for name, _ in _DISTRIBUTION]
        + [fnmatch.translate(pattern.partition("/")[0]) for _, patterns in _ENVIRONMENTS for pattern in patterns]
    )
)


def names_metadata(name: str) -> bool:
    """Whether a file or folder of this name may say something about the folder that it lies in."""
    return _NAMES.fullmatch(name) is not None


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
        packages: names of all packages that are asked for, whatever for.
        notes: sentences about what was not understood.
    """

    declarations: list[Declaration] = field(default_factory=list)
    indexes: list[PackageIndex] = field(default_factory=list)
    python: list[Declaration] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def read_metadata(root: Path, folder: Path, *, torch_only: bool = False) -> Metadata:
    """Read the files of one folder. Never raises for what a file holds.

    Args:
        root: the project: nothing outside of it is read.
        folder: the folder, `root` or below it.
        torch_only: leave out files that cannot say anything about a requirement of torch, for speed.
    """
    reader = _Reader(real_path(root), torch_only)
    folder = real_path(folder)
    for name, kind in _DISTRIBUTION:
        reader.read(folder / name, kind)
    for kind, patterns in _ENVIRONMENTS:
        for path in sorted({real_path(path) for pattern in patterns for path in folder.glob(pattern)}):
            if reader.root in path.parents:
                reader.read(path, kind, Strength.OTHER)
    return reader.found


@dataclass
class _Reader:
    """Collects what the files of one folder say; paths are without symbolic links."""

    root: Path
    torch_only: bool
    found: Metadata = field(default_factory=Metadata)
    seen: set[Path] = field(default_factory=set)

    def read(self, path: Path, kind: TextKind | None, given: Strength | None = None) -> None:
        """Read a file, and what it includes, once; `given` is the strength of one that is a single list."""
        # Not `Path.is_file`, which raises in a folder that may not be read
        if path in self.seen or not os.path.isfile(path):  # noqa: PTH113
            return
        self.seen.add(path)
        name = self._name(path)
        try:
            data = file_bytes(path)
        except OSError as error:
            self.found.notes.append(f"{name} cannot be read ({error.strerror or error}).")
            return
        # A file that never says torch can still say which requirement files count.
        if self.torch_only and given is None and b"torch" not in data and b"file" not in data:
            return
        source = SourceText(_decoded(data))
        try:
            read = _sets(name, source, kind)
        except ValueError as error:
            self.found.notes.append(f"{name} {error}, so no torch version was read from it.")
            return
        for item in read:
            self._take(path, source, item, given)

    def _take(self, path: Path, source: SourceText, read: PinSet, given: Strength | None) -> None:
        def place(part: Pin | PackageSource | Include) -> str:
            return f"{self._name(path)}:{source.location(part.span.start)[0]}"

        def strength(group: str) -> Strength | None:
            return strength_of(group) if given is None else given

        found = self.found
        found.python += [Declaration(pin, Strength.RUNTIME, place(pin)) for pin in read.python]
        found.indexes += [PackageIndex(item.text, place(item)) for item in read.sources]
        for pin in read.pins:
            asks = strength(pin.group)
            found.packages.add(pin.name)
            if pin.is_torch and pin.unread:
                found.notes.append(
                    f"The torch requirement in {place(pin)} is not understood (`{pin.unread}`) and was left out."
                )
            elif pin.is_torch and asks is not None:
                found.declarations.append(Declaration(pin, asks, place(pin)))
        named = [(asks, item) for item in read.includes if (asks := strength(item.group)) is not None]
        for asks, item in sorted(named, key=lambda pair: pair[0]):
            target = real_path(path.parent / item.path)
            inside = self.root in (target, *target.parents)
            if inside and target.is_file():
                self.read(target, "requirements", asks)
            elif given is not None and "://" not in item.path:
                problem = "is no file" if inside else "lies outside the project and was not read"
                found.notes.append(f"{place(item)} includes {item.path}, which {problem}.")

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def _sets(name: str, source: SourceText, kind: TextKind | None) -> list[PinSet]:
    """What a file says.

    Raises:
        ValueError: nothing can be read; the text goes on behind the name of the file.
    """
    if kind is None:
        try:
            tree = source.parse()
            return [read_setup(tree, source, call) for call in setup_calls(tree)]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"cannot be parsed ({error})") from None
    view = TextView(name, kind, source)
    if kind == "toml":
        read = read_pyproject(view)
        if read.problem:
            raise ValueError(f"is not valid TOML ({read.problem})")
        return [read]
    if kind == "ini":
        _check_ini(source.text)
        return [read_ini(view)]
    if kind == "requirements":
        read = read_requirements(view)
        if name.rpartition("/")[2].startswith("conda"):  # what `conda install --file` is given
            read = replace(read, pins=[replace(pin, notation="conda") for pin in read.pins])
        return [read]
    environment = read_conda(view)
    return [environment] if environment is not None else []


def _check_ini(text: str) -> None:
    from configparser import ConfigParser, Error

    try:
        ConfigParser(interpolation=None, strict=False).read_string(text)
    except Error as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"cannot be read ({reason})") from None


def real_path(path: Path) -> Path:
    """A path without symbolic links. Not `Path.resolve`, which raises where a link leads back to itself."""
    return Path(os.path.realpath(os.fspath(path).replace("\0", "")))


def _decoded(data: bytes) -> str:
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return data.decode(encoding, "replace")
