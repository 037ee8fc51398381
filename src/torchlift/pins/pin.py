"""Requirements and package indexes with the place of every part, so that a part can be exchanged and nothing else.

Grammars: PEP 508 and PEP 440 for pip, "Dependency specification" of Poetry's documentation, "Package match
specifications" of conda's. Only what these have in common with a plain pin is taken apart; everything else is kept as one
piece that nobody edits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.source import Span

Notation = Literal["pip", "poetry", "conda"]

_NAME = re.compile(r"\s*((?:[\w./-]+::)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*")
_CLAUSE = re.compile(r"(===|==|~=|>=|<=|!=|>|<|=|\^|~|)\s*(\*|v?\d[\w.*+!-]*)\s*")
_LOCAL = re.compile(r"([^+]*)\+([A-Za-z0-9][A-Za-z0-9.]*)\Z")
_INDEX = re.compile(
    r"https?://download\.pytorch\.org/whl/(?P<channel>nightly/|test/|lts/[\d.]+/)?(?P<build>cu\d{2,3})(?![\w.])"
)
_BUILD = re.compile(r"([^=<>!~\s]+={1,2}[^=\s]+)=[^=\s]+\s*\Z")
_TEMPLATE = re.compile(r"[${}%`]|<<|\[\[")


@dataclass(frozen=True, slots=True)
class Clause:
    """One comparison: `==2.3.1+cu118`.

    Attributes:
        operator: as written; in Poetry and conda also `^`, `~`, `=` or nothing.
        version: what follows it, local part included.
        span: where `version` stands.
    """

    operator: str
    version: str
    span: Span

    @property
    def public(self) -> str:
        """The version without its local part."""
        return self.version.partition("+")[0]

    @property
    def build(self) -> str | None:
        """The local part, "cu118"."""
        match = _LOCAL.match(self.version)
        return match[2].lower() if match else None

    @property
    def exact(self) -> bool:
        """Whether it allows one release only."""
        return self.operator in {"==", "===", "="} and "*" not in self.version


@dataclass(frozen=True, slots=True)
class Pin:
    """One requirement.

    Attributes:
        name: in lower case, with hyphens.
        span: all of it.
        clauses: its versions; empty where it names none.
        notation: whose grammar it is in.
        group: the list it stands in, "" where a file or a command is one list.
        conditional: whether it holds under an environment marker, a factor or the like only.
        opaque: whether it has parts that nobody edits: an address, a template, a build string.
        hashed: whether hashes of its files stand beside it.
    """

    name: str
    span: Span
    clauses: tuple[Clause, ...] = ()
    notation: Notation = "pip"
    group: str = ""
    conditional: bool = False
    opaque: bool = False
    hashed: bool = False

    @property
    def exact(self) -> Clause | None:
        """The clause of a requirement that allows one release only."""
        return self.clauses[0] if len(self.clauses) == 1 and self.clauses[0].exact else None

    @property
    def specifier(self) -> str | None:
        """The versions as pip writes them, without local parts; None where they have no such form."""
        if self.opaque and not self.clauses:
            return None
        written = []
        for clause in self.clauses:
            found = _as_pip(clause.operator, clause.public, self.notation)
            if found is None:
                return None
            written.append(found)
        return ",".join(part for part in written if part)


def _as_pip(operator: str, version: str, notation: Notation) -> str | None:
    if version == "*":
        return ""
    if notation == "pip":
        return None if operator in {"", "=", "^", "~"} else f"{operator}{version}"
    if operator == "=" or (operator == "" and notation == "conda"):
        return f"=={version}" if version.endswith("*") or version.count(".") >= 2 else f"=={version}.*"
    if operator == "":
        return f"=={version}"
    if operator in {"^", "~"}:
        numbers = [int(part) for part in re.findall(r"\d+", version)]
        if not numbers or not re.fullmatch(r"[\d.]+", version):
            return None
        kept = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1) if operator == "^" else 1
        kept = min(kept, len(numbers) - 1)
        above = [*numbers[:kept], numbers[kept] + 1]
        return f">={version},<{'.'.join(map(str, above))}"
    return f"{operator}{version}"


@dataclass(frozen=True, slots=True)
class Index:
    """An address of PyTorch's wheels for one CUDA.

    Attributes:
        span: the whole address as far as it was read.
        build: "cu118".
        place: where `build` stands.
        channel: "" for releases, else "nightly", "test" or "lts/1.8".
        find_links: whether it is a page of links, not an index.
        file: whether it is the address of one wheel.
    """

    span: Span
    build: str
    place: Span
    channel: str = ""
    find_links: bool = False
    file: bool = False


@dataclass(frozen=True, slots=True)
class PinSet:
    """Requirements that are installed together, and where they are taken from.

    Attributes:
        what: for messages, "this file" or "this command".
        span: all of it.
        pins: the requirements.
        indexes: PyTorch's indexes among the sources.
        other_sources: other addresses that are bound to a CUDA or a torch release.
        includes: further files that belong to it: path relative to this file's folder.
        names: places of names of an index that hold its build, such as "pytorch-cu118".
        variables: whether it has parts that are only known when it runs.
        conda: whether it is conda that installs.
        channels: conda's channels.
        no_deps: whether what packages require is ignored.
    """

    what: str
    span: Span
    pins: tuple[Pin, ...] = ()
    indexes: tuple[Index, ...] = ()
    other_sources: tuple[Span, ...] = ()
    includes: tuple[str, ...] = ()
    names: tuple[tuple[str, Span], ...] = ()
    variables: bool = False
    conda: bool = False
    channels: tuple[tuple[str, Span], ...] = ()
    no_deps: bool = False

    def named(self, *names: str) -> list[Pin]:
        """The requirements of these packages."""
        return [pin for pin in self.pins if pin.name in names]

    @property
    def groups(self) -> dict[str, list[Pin]]:
        """The requirements by the list they stand in."""
        found: dict[str, list[Pin]] = {}
        for pin in self.pins:
            found.setdefault(pin.group, []).append(pin)
        return found


@dataclass
class Draft:
    """A `PinSet` in the making."""

    what: str
    span: Span
    pins: list[Pin] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    other_sources: list[Span] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)
    names: list[tuple[str, Span]] = field(default_factory=list)
    variables: bool = False
    conda: bool = False
    channels: list[tuple[str, Span]] = field(default_factory=list)
    no_deps: bool = False

    def source(self, text: str, start: int, *, find_links: bool = False) -> None:
        """Take an address that packages come from."""
        found = list(indexes_in(text, start, find_links=find_links))
        self.indexes += found
        if not found and re.search(r"cu1?\d{2}|torch-?\d", text):
            self.other_sources.append(Span(start, start + len(text)))

    def done(self) -> PinSet:
        """The finished set."""
        return PinSet(
            self.what,
            self.span,
            tuple(self.pins),
            tuple(self.indexes),
            tuple(self.other_sources),
            tuple(self.includes),
            tuple(self.names),
            self.variables,
            self.conda,
            tuple(self.channels),
            self.no_deps,
        )


def is_template(text: str) -> bool:
    """Whether a part of `text` is only known when something fills it in."""
    return _TEMPLATE.search(text) is not None


def indexes_in(text: str, start: int, *, find_links: bool = False) -> Iterator[Index]:
    """PyTorch's indexes whose addresses stand in `text`, which begins at `start`."""
    for match in _INDEX.finditer(text):
        rest = re.match(r"[^\s\"'<>)\]}]*", text[match.end() :])
        tail = rest[0] if rest else ""
        yield Index(
            Span(start + match.start(), start + match.end() + len(tail)),
            match["build"],
            Span(start + match.start("build"), start + match.end("build")),
            (match["channel"] or "").rstrip("/"),
            find_links or tail.endswith(".html"),
            tail.endswith(".whl"),
        )


def read_pin(text: str, start: int, notation: Notation = "pip", group: str = "", hashed: bool = False) -> Pin | None:
    """The requirement that `text`, which stands at `start`, is; None if it is none."""
    match = _NAME.match(text)
    if match is None:
        return None
    name = re.sub(r"[-_.]+", "-", match[1].rpartition("::")[2]).lower()
    end = start + len(text.rstrip())
    span = Span(start + match.start(1), max(end, start + match.end(1)))
    body = text[match.end() :].rstrip()
    versions, semicolon, _ = body.partition(";")
    template = is_template(text)
    if template or body.startswith("@"):
        return Pin(name, span, (), notation, group, bool(semicolon), True, hashed)
    offset = start + match.end()
    clauses = _clauses(versions, offset, notation)
    if clauses is None:
        return Pin(name, span, (), notation, group, bool(semicolon), True, hashed)
    return Pin(name, span, clauses, notation, group, bool(semicolon), False, hashed)


def read_conda_spec(text: str, start: int) -> Pin | None:
    """The match specification that `text`, which stands at `start`, is, grouped as "conda"; its build is left out."""
    build = _BUILD.match(text)
    pin = read_pin(build[1] if build else text, start, "conda", "conda")
    return pin if pin is None or build is None else replace(pin, opaque=True)


def read_versions(name: str, text: str, start: int, notation: Notation = "poetry", group: str = "") -> Pin:
    """The requirement of a package whose versions stand alone, as in Poetry's tables."""
    clauses = None if is_template(text) else _clauses(text, start, notation)
    span = Span(start, start + len(text))
    plain = re.sub(r"[-_.]+", "-", name).lower()
    return Pin(plain, span, clauses or (), notation, group, opaque=clauses is None)


def _clauses(text: str, start: int, notation: Notation) -> tuple[Clause, ...] | None:
    """The comparisons of a version part; None where it is something else."""
    body = text.strip()
    if not body:
        return ()
    position = len(text) - len(text.lstrip())
    end = position + len(body)
    if body.startswith("(") and body.endswith(")"):
        position, end = position + 1, end - 1
    found = []
    while position < end:
        match = _CLAUSE.match(text, position, end)
        if match is None or (notation == "pip" and match[1] in {"", "=", "^", "~"}):
            return None
        version = match[2]
        found.append(Clause(match[1], version, Span(start + match.start(2), start + match.end(2))))
        position = match.end()
        if position < end:
            if text[position] != ",":
                return None
            position += 1 + len(text[position + 1 : end]) - len(text[position + 1 : end].lstrip())
    return tuple(found)
