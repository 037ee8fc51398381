"""What collectors note of the files of a project, each file read for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any

from torchlift.lazy_dataclass import dataclass
from torchlift.search.asked import Earlier
from torchlift.search.parties import Sighting
from torchlift.search.prefilter import GroupedPrefilter
from torchlift.source import SourceText, UnreadableSource
from torchlift.view import ModuleView


@dataclass(frozen=True)
class Collector:
    """Facts that one family of rules wants from every file of the project.

    Attributes:
        name: key of the facts.
        triggers: words of which a file must hold at least one, as `Prefilter` takes them.
        collect: from one file to a picklable record, or None if there is nothing to record; the text of the file is enough
            for it where `reads_text` is set.
        targets: names of which every file with a record uses one, or one of `text`; empty where words alone decide.
        matters: which uses of them count; all unless given.
        text: whether the bytes of a file hold something else that may lead to a record.
    """

    name: str
    triggers: tuple[str, ...]
    collect: Callable[[Any], Any]
    targets: frozenset[str] = frozenset()
    matters: Callable[[Sighting], bool] | None = None
    text: Callable[[bytes], bool] | None = None
    reads_text: bool = False


class Deferred(Enum):
    """Stands for the record of a file that may have one and has not been read for it yet."""

    DEFERRED = "deferred"


class Records:
    """Records in one state of a project.

    Args:
        files: its Python files, in order.
        indexed: records that are already known, by path and collector; a path in it is not read for records again, but
            for those that are `Deferred`.
        triggers: the triggers of a collector as this project may spell them.
        data, source, view: the bytes of a file, its text, and its view, None if there is none.
        before: those of an earlier state with the same files.
        changed: files that have other texts now.
    """

    def __init__(
        self,
        files: tuple[str, ...],
        indexed: Mapping[str, Mapping[str, Any]],
        triggers: Callable[[tuple[str, ...]], tuple[str, ...]],
        data: Callable[[str], bytes],
        source: Callable[[str], SourceText],
        view: Callable[[str], ModuleView | None],
        before: Records | None = None,
        changed: frozenset[str] = frozenset(),
    ) -> None:
        self.indexed = dict(indexed)
        self._files = files
        self._triggers = triggers
        self._data = data
        self._source = source
        self._view = view
        self._all: dict[str, dict[str, Any]] = {}
        # Nobody may have asked in the state before: what an earlier one found holds but for all that changed since.
        self._before: Mapping[str, Mapping[str, Any]] = {**before._before, **before._all} if before is not None else {}
        self._changed: frozenset[str] = changed | before._changed if before is not None else changed
        self._together: Mapping[str, Collector] = before._together if before is not None else {}
        self._sieve: GroupedPrefilter | None = before._sieve if before is not None else None
        self._alone: dict[str, GroupedPrefilter] = before._alone if before is not None else {}
        self.earlier: Earlier | None = None
        """What an earlier run knew."""
        self.collectors: dict[str, Collector] = before.collectors if before is not None else {}
        """Whoever's records were asked for, by name."""

    @property
    def read(self) -> dict[str, dict[str, Any]]:
        """Records that were read, by path and collector."""
        return {
            path: {name: record for name, record in one.items() if record is not Deferred.DEFERRED}
            for path, one in self.indexed.items()
        }

    def collect_together(self, collectors: Iterable[Collector]) -> None:
        """A file that is parsed for the record of one of these is read for all of them."""
        together = {collector.name: collector for collector in collectors}
        if together != self._together:
            self._together, self._sieve = together, None

    def of_all(self, collector: Collector) -> Mapping[str, Any]:
        """Records of all files that have one, by path, in the order of the files."""
        name = collector.name
        if name not in self._all:
            self.collectors[name] = collector
            earlier = self._before.get(name)
            asked = self._files if earlier is None else self._changed.intersection(self._files)
            now = {path: record for path in asked if (record := self.of(collector, path)) is not None}
            if earlier is not None:
                found = {path: record for path, record in earlier.items() if path not in self._changed} | now
                now = {
                    path: found[path]
                    for path in (earlier if found.keys() == earlier.keys() else self._files)
                    if path in found
                }
            self._all[name] = now
        return self._all[name]

    def of(self, collector: Collector, path: str) -> Any:
        """What a collector records of one file; None if nothing."""
        name = collector.name
        if path not in self.indexed:
            try:
                data = self._data(path)
            except OSError:
                return None
            if name not in self._together:
                if name not in self._alone:
                    self._alone[name] = GroupedPrefilter({name: self._triggers(collector.triggers)})
                return self._read(collector, path) if self._alone[name].found(data) else None
            if self._sieve is None:
                self._sieve = GroupedPrefilter(
                    {each: self._triggers(one.triggers) for each, one in self._together.items()}
                )
            self.indexed[path] = dict.fromkeys(self._sieve.found(data), Deferred.DEFERRED)
        known = self.indexed[path]
        earlier = self.earlier.record(name, path) if self.earlier is not None and name in known else None
        if known.get(name) is Deferred.DEFERRED and earlier is not None:
            known = self.indexed[path] = {**known, name: earlier[0]}
        elif known.get(name) is Deferred.DEFERRED:
            known = self.indexed[path] = {**known, name: self._read(collector, path)}
            for other, one in self._together.items() if name in self._together and not collector.reads_text else ():
                if known.get(other) is Deferred.DEFERRED and not one.reads_text:
                    with suppress(Exception):  # whoever asks for it is told
                        known[other] = self._read(one, path)
        return known.get(name)

    def _read(self, collector: Collector, path: str) -> Any:
        """What a collector records of one file; None too if the file cannot be read or parsed."""
        if collector.reads_text:
            try:
                return collector.collect(self._source(path))
            except (OSError, UnreadableSource):
                return None
        view = self._view(path)
        return collector.collect(view) if view is not None else None
