"""Requirements that are installed together, and where they are taken from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from torchlift.dependencies.pin import Pin
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span

_INDEX = lazy_pattern(
    r"https?://download\.pytorch\.org/whl/(?P<channel>nightly/|test/|lts/[\d.]+/)?(?P<build>cu\d{2,3})(?![\w.])"
)
_BOUND = lazy_pattern(r"cu1?\d{2}|torch-?\d")


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
class PackageSource:
    """An address that packages are taken from.

    Attributes:
        text: the address.
        span: where it stands.
        find_links: whether it is a page of links, not an index.
        alone: whether packages come from nowhere else, as with `--index-url`.
    """

    text: str
    span: Span
    find_links: bool = False
    alone: bool = False


def source_of(option: str, value: str, span: Span) -> PackageSource:
    """What an option of pip's or uv's names."""
    return PackageSource(
        value, span, option in {"-f", "--find-links"}, option in {"-i", "--index-url", "--default-index"}
    )


@dataclass(frozen=True, slots=True)
class Include:
    """A further file that belongs to a list: its path relative to the file that names it, and that list."""

    path: str
    span: Span
    group: str = ""


@dataclass
class PinSet:
    """What one reader found; afterwards nobody changes it.

    Attributes:
        span: all of it.
        conda: whether it is conda that installs.
        pins: the requirements.
        python: the Pythons that metadata asks for, as requirements of "python".
        sources: addresses that packages are taken from.
        includes: further files that belong to it.
        names: names of an index that hold its build, such as "pytorch-cu118": the build and its place.
        channels: conda's channels.
        variables: whether it has parts that are only known when it runs.
        no_deps: whether what packages require is ignored.
        problem: why nothing could be read, "" where it could.
    """

    span: Span
    conda: bool = False
    pins: list[Pin] = field(default_factory=list)
    python: list[Pin] = field(default_factory=list)
    sources: list[PackageSource] = field(default_factory=list)
    includes: list[Include] = field(default_factory=list)
    names: list[tuple[str, Span]] = field(default_factory=list)
    channels: list[tuple[str, Span]] = field(default_factory=list)
    variables: bool = False
    no_deps: bool = False
    problem: str = ""

    def add(self, pin: Pin | None) -> None:
        """Take a requirement, if it is one."""
        if pin is not None:
            self.pins.append(pin)

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

    @property
    def indexes(self) -> list[Index]:
        """PyTorch's indexes among the sources."""
        return [index for source in self.sources for index in _indexes_of(source)]

    @property
    def other_sources(self) -> list[Span]:
        """Other sources that are bound to a CUDA or a torch release."""
        return [source.span for source in self.sources if not _indexes_of(source) and _BOUND.search(source.text)]


def _indexes_of(source: PackageSource) -> list[Index]:
    return list(indexes_in(source.text, source.span.start, find_links=source.find_links))


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
