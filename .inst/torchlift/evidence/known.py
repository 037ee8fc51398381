"""Recorded runs as rules ask about them: what was seen at this call, and whether that still holds for the source as it is.

A recorded place holds as long as the text of its call, the outermost function around it and the classes that it
captured are what they were. Which of them changed is found once, in the project as it stands before anything is
rewritten; afterwards a place is known by the text of its call alone, and only where no other call has that text.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from torchlift.evidence.places import PlacesOf, SourcePlace, text_sha
from torchlift.evidence.records import (
    RecordedArchive,
    RecordedEvidence,
    RecordedJob,
    RecordedLoad,
    RecordedSite,
    SourceDefinition,
)
from torchlift.lazy_dataclass import dataclass
from torchlift.source import SourceText

ReadText = Callable[[str], SourceText | None]
"""The text of a file of the project by its path; None if it is not there or cannot be read."""


@dataclass(frozen=True)
class KnownSite:
    """A recorded site and where it stands now.

    Attributes:
        site: what was recorded.
        place: where its call stands now; None if it stands nowhere.
        changed: what is no longer as it was recorded, as the subject of a clause; empty if nothing is.
        alone: whether no other call in its file has the same text.
    """

    site: RecordedSite
    place: SourcePlace | None
    changed: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Ends:
    """Both ends of archives, as recorded.

    Attributes:
        writers: sites whose values were written.
        readers: places that read them: `path:line:column:api`.
        number_of_writers: how many sites wrote, also those that are not known.
    """

    writers: tuple[KnownSite, ...]
    readers: tuple[str, ...]
    number_of_writers: int


@dataclass(frozen=True, eq=False)
class KnownRuns:
    """Evidence, tied to the source of a project.

    Attributes:
        name: the file, as the user named it.
        sites: captures by file.
        files: archives by content.
        loads: what was loaded, by `path:line:column` as recorded.
        jobs: process groups.
        hashes: of the texts that `sites` were found in, by path.
        torch: release that the runs used.
    """

    name: str
    sites: Mapping[str, tuple[KnownSite, ...]] = field(default_factory=dict)
    files: Mapping[str, RecordedArchive] = field(default_factory=dict)
    loads: Mapping[str, tuple[RecordedLoad, ...]] = field(default_factory=dict)
    jobs: tuple[RecordedJob, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    torch: str = ""

    def __iter__(self) -> Iterator[KnownSite]:
        """All sites, by file and place."""
        for path in sorted(self.sites):
            yield from self.sites[path]

    def at(
        self, path: str, source: SourceText, node: ast.expr, decorated: ast.ClassDef | ast.FunctionDef | None = None
    ) -> KnownSite | None:
        """What was recorded of a call; None if nothing was.

        Args:
            path: the file.
            source: its text, maybe rewritten since.
            node: the call, or the expression of a decorator.
            decorated: the definition that `node` decorates.
        """
        known = [site for site in self.sites.get(path, ()) if site.place is not None]
        if not known:
            return None
        span = source.span(node)
        if self.hashes.get(path) == _exact(source.text):
            here = source.location(span.start)
            return next((k for k in known if k.place is not None and (k.place.line, k.place.column) == here), None)
        start, end = span.start, span.end
        if decorated is not None:
            first = min([decorated.lineno, *(decorator.lineno for decorator in decorated.decorator_list)])
            line = source.line(first)
            start = source.line_starts[first - 1] + len(line) - len(line.lstrip(" \t\f"))
            end = source.span(decorated).end
        sha = text_sha(source.text, start, end)
        return next((k for k in known if k.place is not None and k.place.text_sha == sha and k.alone), None)

    def lost_at(self, path: str, qualname: str, api: str) -> KnownSite | None:
        """The recorded site in the function `qualname` whose call stands nowhere any more, if there is one only."""
        lost = [
            known
            for known in self.sites.get(path, ())
            if known.place is None and known.site.qualname == qualname and known.site.api == api
        ]
        return lost[0] if len(lost) == 1 else None

    def ends_of(self, site: RecordedSite) -> Ends:
        """Who writes and reads the archives that a site writes, and those that they write and read besides."""
        return self._ends({site.id}, set())

    def ends_at(self, path: str, line: int, column: int) -> Ends:
        """The same for the archives that the load at a place reads."""
        here = f"{path}:{line}:{column}"
        readers = {reader for archive in self.files.values() for reader in archive.readers}
        return self._ends(set(), {reader for reader in readers if reader == here or reader.startswith(f"{here}:")})

    def _ends(self, writers: set[str], readers: set[str]) -> Ends:
        found = -1
        while found != len(writers) + len(readers):
            found = len(writers) + len(readers)
            for archive in self.files.values():
                ids = {writer.rpartition("#")[0] for writer in archive.writers}
                if ids and (ids & writers or readers.intersection(archive.readers)):
                    writers |= ids
                    readers.update(archive.readers)
        return Ends(tuple(known for known in self if known.site.id in writers), tuple(sorted(readers)), len(writers))


def known_runs(evidence: RecordedEvidence, name: str, read: ReadText) -> KnownRuns:
    """The evidence, with the source as `read` gives it."""
    files = _Files(read)
    sites: dict[str, list[KnownSite]] = {}
    for site in evidence.sites:
        sites.setdefault(site.file, []).append(files.known(site))
    loads: dict[str, list[RecordedLoad]] = {}
    for load in evidence.loads:
        loads.setdefault(load.site, []).append(load)
    return KnownRuns(
        name,
        {path: tuple(sorted(some, key=lambda k: (k.site.line, k.site.column))) for path, some in sites.items()},
        {archive.content: archive for archive in evidence.files},
        {place: tuple(some) for place, some in loads.items()},
        tuple(evidence.distributed),
        {path: _exact(places.text) for path in sites if (places := files.places(path)) is not None},
        evidence.torch,
    )


def _exact(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _Files:
    def __init__(self, read: ReadText) -> None:
        self._read = read
        self._places: dict[str, PlacesOf | None] = {}

    def places(self, path: str) -> PlacesOf | None:
        """What stands in a file; None if it cannot be read or parsed."""
        if path not in self._places:
            source = self._read(path)
            try:
                self._places[path] = PlacesOf(source.text, source.parse()) if source is not None else None
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._places[path] = None
        return self._places[path]

    def known(self, site: RecordedSite) -> KnownSite:
        """A site with the place that it has now."""
        places = self.places(site.file)
        if places is None:
            return KnownSite(site, None, f"`{site.file}`")
        same = [place for place in places.all() if place.text_sha == site.text_sha]
        fitting = [place for place in same if (place.qualname, place.nth) == (site.qualname, site.nth)]
        place = fitting[0] if fitting else same[0] if len(same) == 1 and same[0].qualname == site.qualname else None
        if place is None:
            return KnownSite(site, None, "this call")
        return KnownSite(site, place, self._changed(site, place), alone=len(same) == 1)

    def _changed(self, site: RecordedSite, place: SourcePlace) -> str:
        if place.scope_sha != site.scope_sha:
            return f"`{site.qualname}`" if site.qualname else "this file"
        for value in site.values:
            for source in (value.of, *value.classes):
                if source.source_sha is not None and not self._is_same(source):
                    return f"`{source.name.rpartition(':')[2]}`"
        return ""

    def _is_same(self, source: SourceDefinition) -> bool:
        places = self.places(source.file) if source.file is not None else None
        now = places.definition(source.name.rpartition(":")[2], source.line) if places is not None else None
        return now is not None and now[1] == source.source_sha
