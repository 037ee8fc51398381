"""What was found in single files by an earlier run, as far as nothing has changed that it rests on.

An entry has the text of every Python file of the project as that run saw it. Whoever comes later makes that state of the project
again, compares it with the present one as a run does with its own states (`search.changes`), and takes over what was found in the files
whose questions have the same answers. What a shared answer was made from counts as asked by everybody who asked for it.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from torchlift.finding import FileFailure, Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.cache.digests import digest, hashed
from torchlift.migrate.cache.folder import CacheFolder
from torchlift.migrate.cache.records import NotARecord, described, packed, unpacked
from torchlift.migrate.cache.tree import Tree
from torchlift.notebook import read_source
from torchlift.project import Collector, Project
from torchlift.rules.rule import Settings
from torchlift.search.asked import Asked
from torchlift.search.changes import Changes
from torchlift.source import UnreadableSource

_FORMAT = b"torchlift checks 1"
# Their text decides what is found elsewhere, and is read without asking the project.
_ASKED_BY_NAME = ("setup.py", "noxfile.py")
_MOST_CHANGED = 200


@dataclass(frozen=True)
class Examined:
    """One file after the rules and its suppressions.

    Attributes:
        findings: those that are reported, in source order.
        suppressed: number of those that comments silence.
        failures: rules that crashed.
        unreadable: why there are no findings: a sentence without its end.
        asked: what its findings rest on.
        beneath: what the shared answers rest on that were asked for, where it is to be remembered.
    """

    findings: tuple[Finding, ...]
    suppressed: int
    failures: tuple[FileFailure, ...]
    unreadable: str | None
    asked: Asked
    beneath: Asked | None = None


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
        self._files: tuple[str, ...] = ()
        self._settings: Any = None

    def unchanged(
        self, project: Project, settings: Settings, collectors: Mapping[str, Collector]
    ) -> Mapping[str, Examined]:
        """What was found, by path, in files of which it would be found again."""
        with contextlib.suppress(NotARecord):
            self._files, self._settings = project.files, described(settings)
            data = self._folder.read(self._name)
            if data is not None:
                with contextlib.suppress(ValueError, KeyError, TypeError, IndexError, zlib.error, RecursionError):
                    self._known = self._still(data, project, collectors)
        return self._known

    def _still(self, data: bytes, project: Project, collectors: Mapping[str, Collector]) -> dict[str, Examined]:
        head, about, examined, texts, stored = data.split(b"\n", 4)
        if head != _head((about, examined, texts, stored)):
            raise NotARecord("it is damaged")
        listed, settings, others = json.loads(about)
        if listed != digest(list(project.files)) or settings != self._settings:
            return {}
        places = json.loads(texts)
        if not self._tree.others_are_as_in(others, places):
            return {}
        changed = self._tree.changed(places)
        if len(changed) > _MOST_CHANGED or any(path.rpartition("/")[2] in _ASKED_BY_NAME for path in changed):
            return {}
        try:
            old = {path: read_source(path, _text(stored, places[path])) for path in changed}
        except UnreadableSource:
            return {}
        changes = Changes(Project(project.root, project.files, old, None, project.wrappers), project, collectors)
        known = {path: _examined(*one) for path, one in json.loads(examined).items()}
        return {path: one for path, one in known.items() if not changes.concern(one.asked)}

    def note(self, found: Mapping[str, Examined]) -> None:
        """Note what was found in files as they were read."""
        self._known = {**self._known, **found}

    def keep(self, now: Tree) -> None:
        """Remember what was noted, with `now` being the same files as before the run."""
        if self._settings is None:
            return
        with contextlib.suppress(NotARecord, OSError):
            examined = {
                path: [packed((one.findings, one.suppressed, one.failures, one.unreadable)), _plain(_all_asked(one))]
                for path, one in self._known.items()
                if not one.failures and not _all_asked(one).unbounded
            }
            python = frozenset(self._files)
            places, stored = now.stored(python)
            if places.keys() != python:
                return
            about = [digest(list(self._files)), self._settings, [row for row in now.plain() if row[0] not in python]]
            parts = [json.dumps(part, separators=(",", ":")).encode() for part in (about, examined, places)]
            self._folder.write(self._name, b"\n".join((_head((*parts, stored)), *parts, stored)))


def _examined(plain: Any, asked: Sequence[Any]) -> Examined:
    findings, suppressed, failures, unreadable = unpacked(plain)
    return Examined(findings, suppressed, failures, unreadable, _asked(asked))


def _text(stored: bytes, place: Sequence[Any]) -> bytes:
    start, length = int(place[-2]), int(place[-1])
    return zlib.decompress(stored[start : start + length])


def _all_asked(one: Examined) -> Asked:
    every = Asked()
    every.add(one.asked)
    every.answers = set()
    if one.beneath is not None:
        every.add(one.beneath)
    elif one.asked.answers:
        every.unbounded = True  # nobody listened
    return every


def _plain(asked: Asked) -> list[Any]:
    return [
        sorted(asked.files),
        sorted([text.decode("latin-1"), whole] for text, whole in asked.texts),
        sorted(text.decode("latin-1") for text in asked.places),
        sorted(asked.records),
    ]


def _asked(plain: Sequence[Any]) -> Asked:
    asked = Asked()
    files, texts, places, records = plain
    asked.files = set(map(str, files))
    asked.texts = {(str(text).encode("latin-1"), bool(whole)) for text, whole in texts}
    asked.places = {str(text).encode("latin-1") for text in places}
    asked.records = set(map(str, records))
    return asked


def _head(parts: Sequence[bytes]) -> bytes:
    return b"%b %b" % (_FORMAT, hashed(b"\n".join(parts)).encode())
