"""The result of a run that looked at the same files in the same way: nothing is imported, parsed or asked again for it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence, Set
from dataclasses import field, fields
from typing import Any

from torchlift.file_bytes import file_bytes
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.cache.digests import digest, hashed
from torchlift.migrate.cache.folder import CacheFolder
from torchlift.migrate.cache.records import NotARecord, packed, unpacked
from torchlift.migrate.cache.request import Request
from torchlift.migrate.cache.tree import TooLarge, Tree, look_at
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.workspace.config import ConfigError
from torchlift.notebook import read_source
from torchlift.source import SourceText, UnreadableSource
from torchlift.view.text import read_text

_FORMAT = b"torchlift cache 1"
_ANEW = frozenset({"mode", "root", "outcomes"})


@dataclass(frozen=True)
class WholeRun:
    """A place for the result of one run.

    Attributes:
        folder: where entries lie.
        request: what is asked for.
        name: that of the entry.
        before: the files of the project before the run.
        unread: digests of those among them that have not changed since an earlier run, as far as one has left any.
    """

    folder: CacheFolder
    request: Request
    name: str
    before: Tree
    unread: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: CacheFolder, request: Request) -> WholeRun | None:
        """The place for a run; None where it has none.

        Raises:
            CacheRefused: the user named a folder that cannot be one.
        """
        root = request.found.root
        if request.found.failures or not folder.is_for(root):
            return None
        with contextlib.suppress(NotARecord, ConfigError, OSError, TooLarge):
            extra = [*request.found.files, *request.found.texts]
            if request.config.evidence is not None:
                extra.append(os.fspath(request.config.path_of(request.config.evidence)))
            tree = look_at(os.fspath(root), extra)
            return cls(folder, request, request.name(), tree.reading(tree.fresh))
        return None

    def result(self) -> RunResult | None:
        """What an earlier run came to; None where none did or a file has changed since."""
        data = self.folder.read(self.name)
        if data is None:
            return None
        try:
            return self._read(data)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError, OSError, UnreadableSource):
            self.folder.remove(self.name)  # nothing that was written here
            return None

    def _read(self, data: bytes) -> RunResult | None:
        head, *parts = data.split(b"\n")
        if head != _head(parts):
            raise NotARecord("it is damaged")
        listed, digest, result, rows = parts
        if listed != self._listed():
            return None
        if not self.before.digest or digest.decode() != self.before.digest:
            was = json.loads(rows)
            if not self.before.is_as_in(was):
                self.unread.update(self.before.unread(was))
                return None
            contents = {path: content for path, *_, content in was}
            self._write(listed, result, Tree(self.before.root, self.before.rows, contents, self.before.seen))
        return self._unpacked(json.loads(result))

    def now(self) -> Tree | None:
        """The files of the project with digests of all; None if one has changed since the run began."""
        before = self.before
        with contextlib.suppress(OSError, TooLarge):
            looked_at = look_at(before.root, (row[0] for row in before.rows))
            after = looked_at.reading(path for path in before.files if path not in self.unread)
            contents = {**self.unread, **after.contents}
            if after.rows == before.rows and before.contents.items() <= contents.items():
                return Tree(before.root, before.rows, contents, before.seen)
        return None

    def keep(self, result: RunResult, now: Tree) -> None:
        """Remember what a run came to, unless it wrote something."""
        if _is_pure(result):
            with contextlib.suppress(NotARecord, OSError):
                self._write(self._listed(), json.dumps(self._packed(result), separators=(",", ":")).encode(), now)

    def _listed(self) -> bytes:
        return digest(list(self.request.project_files())).encode()

    def _write(self, listed: bytes, result: bytes, tree: Tree) -> None:
        parts = [listed, tree.digest.encode(), result, json.dumps(tree.plain(), separators=(",", ":")).encode()]
        self.folder.write(self.name, b"\n".join((_head(parts), *parts)))

    def _packed(self, result: RunResult) -> dict[str, Any]:
        values = {field.name: getattr(result, field.name) for field in fields(result) if field.name not in _ANEW}
        outcomes = [
            packed((o.path, bool(o.source.text), o.left, o.fixed, o.new_text, o.edits)) for o in result.outcomes
        ]
        return {"values": {name: packed(value) for name, value in values.items()}, "outcomes": outcomes}

    def _unpacked(self, plain: dict[str, Any]) -> RunResult:
        values = {name: unpacked(value) for name, value in plain["values"].items()}
        known = {row[0] for row in self.before.rows}
        outcomes = tuple(self._outcome(known, *unpacked(one)) for one in plain["outcomes"])
        return RunResult(mode=self.request.mode, root=self.request.found.root, outcomes=outcomes, **values)

    def _outcome(
        self, known: Set[str], path: str, has_text: bool, left: Any, fixed: Any, new_text: str | None, edits: Any
    ) -> FileOutcome:
        if path not in known:
            raise NotARecord("no file of the project")
        source = SourceText("")
        if has_text:
            data = file_bytes(self.request.found.root / path)
            source = read_text(data) if path in self.request.found.texts else read_source(path, data)
        return FileOutcome(path, source, left, fixed, new_text, None, edits)


def _is_pure(result: RunResult) -> bool:
    """Whether a run did nothing but look, and all that it looked at told it something."""
    wrote = result.mode is Mode.WRITE and any(outcome.new_text is not None for outcome in result.outcomes)
    return not wrote and not result.failures and all(outcome.refused is None for outcome in result.outcomes)


def _head(parts: Sequence[bytes]) -> bytes:
    return b"%b %b" % (_FORMAT, hashed(b"\n".join(parts)).encode())
