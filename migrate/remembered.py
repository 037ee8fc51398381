"""What an earlier run knew of single files, as far as nothing has changed that it rests on.

An entry has the text of every Python file of the project as that run saw it. Whoever comes later makes that state of the project
again, compares it with the present one as a run does with its own states (`search.changes`), and takes over what was found in the files
whose questions have the same answers; shared ones are worked out anew for that where they must be (`earlier_answers`). Who wants to see
a file rests on that file, and on which files there are.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from torchlift.finding import FileFailure, Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.cache.digests import digest, hashed
from torchlift.migrate.cache.folder import CacheFolder
from torchlift.migrate.cache.records import NotARecord, described, packed, unpacked
from torchlift.migrate.cache.tree import Tree
from torchlift.migrate.earlier_answers import Beneath, EarlierAnswers, Row, Teller, asked_plain, plain_asked, written
from torchlift.migrate.find.selection import Selected
from torchlift.migrate.options import RunOptions
from torchlift.notebook import read_source
from torchlift.project import Collector, Project
from torchlift.rules.rule import Settings
from torchlift.search.asked import Asked
from torchlift.search.changes import Changes
from torchlift.source import UnreadableSource

_FORMAT = b"torchlift checks 4"
# Their text decides what is found elsewhere, and is read without asking the project.
_ASKED_BY_NAME = ("setup.py", "noxfile.py")
_MOST_CHANGED = 200
_UNWANTED: list[Any] = [False, [], [], []]
_NOT_WRITTEN_HERE = (ValueError, KeyError, TypeError, IndexError, zlib.error, RecursionError)


@dataclass(frozen=True)
class Examined:
    """One file after the rules and its suppressions.

    Attributes:
        findings: those that are reported, in source order.
        suppressed: number of those that comments silence.
        failures: rules that crashed.
        unreadable: why there are no findings: a sentence without its end.
        asked: what its findings rest on.
        told: what the shared answers rest on that were asked for, where it is to be remembered.
    """

    findings: tuple[Finding, ...]
    suppressed: int
    failures: tuple[FileFailure, ...]
    unreadable: str | None
    asked: Asked
    told: Beneath | None = None


@dataclass(frozen=True)
class _Entry:
    """What lies in the cache, of a project whose other files are as they were.

    Attributes:
        listed: a digest of the names of its Python files.
        settings: under which its files were checked.
        asked: what was asked for as the files were looked at.
        selected: who wanted to see which of the files as Python, and as texts.
        examined: what was found, unread.
        answers: what else was known, unread.
        places: where the text of each Python file is in `stored`.
        changed: the Python files that are others now.
    """

    listed: str
    settings: Any
    asked: Any
    selected: Sequence[Mapping[str, Any]]
    examined: bytes
    answers: bytes
    places: Mapping[str, Any]
    stored: bytes
    changed: frozenset[str]

    def compressed(self, path: str) -> bytes:
        """The text of a Python file, as it lies in `stored`."""
        start, length = self.places[path][-2:]
        return self.stored[int(start) : int(start) + int(length)]


class EarlierChecks:
    """What is known of one project under one configuration.

    Args:
        folder: where entries lie.
        name: that of the entry.
        tree: the files as they are, with digests of those that were written just before.
    """

    def __init__(self, folder: CacheFolder, name: str, tree: Tree) -> None:
        self._folder = folder
        self._name = name
        self._tree = tree
        self._known: dict[str, Examined] = {}
        self._told: dict[str, Row] = {}
        self._files: tuple[str, ...] = ()
        self._settings: Any = None
        self._asked: Any = None
        self._project: Project | None = None
        self._earlier: EarlierAnswers | None = None
        self._seen: list[dict[str, Any]] = [{}, {}]

    def selected(
        self, options: RunOptions, texts: Sequence[str]
    ) -> tuple[Mapping[str, Selected], Mapping[str, Selected]]:
        """Who wants to see which files, as Python and as texts, as far as an earlier run tells."""
        with contextlib.suppress(*_NOT_WRITTEN_HERE):
            self._asked = _asked_for(options)
            entry = self._entry
            if entry is not None and entry.asked == self._asked:
                known = [
                    {
                        path: plain
                        for path in paths
                        if path not in entry.changed and (plain := seen.get(path, _UNWANTED))
                    }
                    for paths, seen in zip((options.files, texts), entry.selected, strict=True)
                ]
                python, others = ({path: _selected(path, plain) for path, plain in one.items()} for one in known)
                self._seen = known
                return python, others
        return {}, {}

    def note_selected(self, files: Iterable[Selected], texts: Iterable[Selected]) -> None:
        """Note who wants to see files that were looked at; texts that nobody wants to see are not among `texts`."""
        for known, found in zip(self._seen, (files, texts), strict=True):
            known.update((file.path, _plain_selected(file)) for file in found)

    def unchanged(
        self, project: Project, settings: Settings, collectors: Mapping[str, Collector]
    ) -> Mapping[str, Examined]:
        """What was found, by path, in files of which it would be found again; what else is known is told to the project."""
        with contextlib.suppress(NotARecord):
            self._project = project
            self._files, self._settings = project.files, described(settings)
            if self._entry is not None:
                with contextlib.suppress(*_NOT_WRITTEN_HERE):
                    self._known = self._still(self._entry, project, collectors)
        return self._known

    @cached_property
    def _entry(self) -> _Entry | None:
        data = self._folder.read(self._name)
        if data is not None:
            with contextlib.suppress(*_NOT_WRITTEN_HERE):
                return self._read(data)
        return None

    def _read(self, data: bytes) -> _Entry | None:
        head, about, selected, examined, answers, texts, stored = data.split(b"\n", 6)
        if head != _head((about, selected, examined, answers, texts, stored)):
            raise NotARecord("it is damaged")
        listed, settings, others, asked = json.loads(about)
        places = json.loads(texts)
        if not self._tree.others_are_as_in(others, places):
            return None
        changed = frozenset(self._tree.changed(places))
        if len(changed) > _MOST_CHANGED or any(path.rpartition("/")[2] in _ASKED_BY_NAME for path in changed):
            return None
        return _Entry(listed, settings, asked, json.loads(selected), examined, answers, places, stored, changed)

    def _still(self, entry: _Entry, project: Project, collectors: Mapping[str, Collector]) -> dict[str, Examined]:
        if entry.listed != digest(list(project.files)) or entry.settings != self._settings:
            return {}
        try:
            old = {path: read_source(path, zlib.decompress(entry.compressed(path))) for path in entry.changed}
        except UnreadableSource:
            return {}
        changes = Changes(Project(project.root, project.files, old, None, project.wrappers), project, collectors)
        earlier = self._earlier = EarlierAnswers(json.loads(entry.answers), entry.changed, changes, project)
        project.take_over(earlier)
        known = {}
        for path, (found, plain, numbers) in json.loads(entry.examined).items():
            asked, keys = plain_asked(plain), [earlier.keys[number] for number in numbers]
            if not changes.concern(asked) and all(map(earlier.holds, keys)):
                asked.earlier = set(keys)
                findings, suppressed, failures, unreadable = unpacked(found)
                known[path] = Examined(findings, suppressed, failures, unreadable, asked)
        return known

    def _stored(self, path: str) -> bytes | None:
        """The text of a file as the entry has it, if that is still its text."""
        entry = self._entry
        if entry is None or path in entry.changed or path not in entry.places:
            return None
        return entry.compressed(path)

    def note(self, found: Mapping[str, Examined]) -> None:
        """Note what was found in files as they were read."""
        self._known = {**self._known, **found}
        for one in found.values():
            self._told.update(one.told.rows if one.told is not None else {})

    def keep(self, now: Tree) -> None:
        """Remember what was noted, with `now` being the same files as before the run."""
        if self._settings is None or self._project is None:
            return
        with contextlib.suppress(NotARecord, OSError):
            taken = Asked()
            taken.earlier.update(*(one.asked.earlier for one in self._known.values()))
            told = {**self._told, **Teller(self._project).told(taken).rows}
            asked = {path: keys for path, one in self._known.items() if (keys := _keys(one)) is not None}
            answers, rows = written(self._project.knowledge, told, self._earlier, asked.values())
            examined = {
                path: plain
                for path, keys in asked.items()
                if rows.keys() >= keys
                and (plain := _plain_examined(self._known[path], sorted(map(rows.__getitem__, keys))))
            }
            python = frozenset(self._files)
            places, stored = now.stored(python, self._stored)
            if places.keys() != python:
                return
            others = [row for row in now.plain() if row[0] not in python]
            about = [digest(list(self._files)), self._settings, others, self._asked]
            selected = [{path: one for path, one in known.items() if one != _UNWANTED} for known in self._seen]
            stated = (about, selected, examined, answers, places)
            parts = [json.dumps(part, separators=(",", ":")).encode() for part in stated]
            self._folder.write(self._name, b"\n".join((_head((*parts, stored)), *parts, stored)))


def _asked_for(options: RunOptions) -> Any:
    """What decides who wants to see a file, but for what the file holds."""
    return [
        digest([options.files, options.texts, sorted(options.named)]),
        described(options.settings),
        sorted(options.codes),
        options.ask_code,
    ]


def _selected(path: str, plain: Sequence[Any]) -> Selected:
    wanted, wanted_if, collectors, noted = plain
    words = frozenset(str(word).encode("latin-1") for word in noted)
    return Selected(path, bool(wanted), frozenset(wanted_if), frozenset(collectors), noted=words)


def _plain_selected(file: Selected) -> list[Any] | None:
    if file.failure is not None or file.unreadable is not None:
        return None  # whoever comes later looks again
    noted = sorted(word.decode("latin-1") for word in file.noted)
    return [file.wanted, sorted(file.wanted_if), sorted(file.collectors), noted]


def _keys(one: Examined) -> frozenset[str] | None:
    """What the findings in one file rest on besides its own questions; None where nobody could tell whether they still hold."""
    if one.failures or one.asked.unbounded or (one.told is None and one.asked.answers):
        return None
    keys = one.told.keys if one.told is not None else one.asked.earlier
    return frozenset(keys) if keys is not None else None


def _plain_examined(one: Examined, rows: Sequence[int]) -> list[Any] | None:
    """What is written of one file; None where it cannot be."""
    with contextlib.suppress(NotARecord):
        return [packed((one.findings, one.suppressed, one.failures, one.unreadable)), asked_plain(one.asked), rows]
    return None


def _head(parts: Sequence[bytes]) -> bytes:
    return b"%b %b" % (_FORMAT, hashed(b"\n".join(parts)).encode())
