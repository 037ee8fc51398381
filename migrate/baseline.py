"""A baseline: findings that a project knows and lives with, so that only new ones fail.

It is a JSON file with a line for each finding, to be committed. A finding stands in it by rule, file and the text of its line, so
that lines may move; where its line has changed, as by the fix of another rule, it is known by the words that it is about.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from torchlift.file_bytes import file_bytes
from torchlift.finding import FileFailure, Finding
from torchlift.json_records.reading import RecordError, read_record
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import FileOutcome, RunResult
from torchlift.migrate.tell.identity import identities, what_it_names
from torchlift.migrate.workspace.config import Config, ConfigError
from torchlift.source import SourceText
from torchlift.whole_file import write_whole

BASELINE_SCHEMA: Final = 2
_READABLE: Final = (1, BASELINE_SCHEMA)
"""The first schema had no words: what it knows is known by its line alone."""
_DEFAULT_NAME: Final = ".torchlift-baseline.json"

_Entries = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class BaselineFile:
    """What the file holds.

    Attributes:
        schema_version: rises when a key goes away or changes its meaning.
        findings: for each file, relative to the project root and with forward slashes, `CODE identity words` of each finding.
    """

    schema_version: int
    findings: dict[str, list[str]] = field(default_factory=dict)


class KnownFindings:
    """The findings that are known when a run begins.

    Args:
        path: the file.
        known: what it holds.
        options: the run.
    """

    def __init__(self, path: Path, known: _Entries, options: RunOptions) -> None:
        self._path = path
        self._known = known
        self._options = options
        self._files = frozenset((*options.files, *options.texts))

    def leaving_out(self, result: RunResult) -> RunResult:
        """The result without the findings that are known, and with a remark on those that are gone."""
        entries = _entries(result)
        gone = sum(self._was_looked_for(file, entry) for file, entry in _gone(entries, self._known))
        left = _without(result, entries, self._known)
        if not gone:
            return left
        they, them = (
            ("1 finding of the baseline is", "it") if gone == 1 else (f"{gone} findings of the baseline are", "them")
        )
        return replace(left, notes=(*left.notes, f"{they} gone: `--write-baseline` takes {them} out."))

    def new_in(self, path: str, findings: Sequence[Finding], source: SourceText) -> tuple[Finding, ...]:
        """The findings in one file, in source order, that are not known."""
        known, _ = _matched(_named([(one, source) for one in findings]), self._known.get(path, ()))
        return tuple(one for index, one in enumerate(findings) if index not in known)

    def recording(self, result: RunResult) -> RunResult:
        """The result without any finding that is left, since all of them are written to the file and known from now on.

        What the file had of files and rules that this run did not look at stays in it. A file that cannot be written is a failure of
        the result.
        """
        entries = _entries(result)
        kept = {pair for pair in _pairs(self._known) if not self._was_looked_for(*pair)}
        findings: dict[str, list[str]] = {}
        for file, entry in sorted(kept | _pairs(entries)):
            findings.setdefault(file, []).append(entry)
        text = json.dumps({"schema_version": BASELINE_SCHEMA, "findings": findings}, indent=1) + "\n"
        try:
            write_whole(self._path, text.encode("ascii"))
        except OSError as error:
            failure = FileFailure(str(self._path), "baseline", f"it cannot be written: {error.strerror or error}")
            return replace(result, failures=(*result.failures, failure))
        number = len(_pairs(findings))
        gone = sum(self._was_looked_for(file, entry) for file, entry in _gone(entries, self._known))
        pruned = (
            f"; {gone} that {'is' if gone == 1 else 'are'} gone {'was' if gone == 1 else 'were'} taken out"
            if gone
            else ""
        )
        note = f"The baseline {self._path.name} has {number} finding{'' if number == 1 else 's'}{pruned}."
        return replace(_without(result, entries, findings), notes=(*result.notes, note))

    def _was_looked_for(self, file: str, entry: str) -> bool:
        """Whether this run would have found it, were it there."""
        # A run over files outside of the project whose baseline it is says nothing of the project's own.
        if not any(os.path.lexists(folder / file) for folder in (self._options.root, self._path.parent)):
            return True
        return file in self._files and entry.partition(" ")[0] in self._options.running


def known_findings(config: Config, options: RunOptions, *, write: bool) -> KnownFindings:
    """What the baseline knows that `config` names, or else the usual one, which need not be there yet if it is to be written.

    Raises:
        ConfigError: it cannot be used.
    """
    path = config.path_of(config.baseline) if config.baseline is not None else options.root / _DEFAULT_NAME
    return KnownFindings(path, {} if write and not path.exists() else _read(path).findings, options)


def _read(path: Path) -> BaselineFile:
    try:
        baseline = read_record(BaselineFile, json.loads(file_bytes(path)))
    except FileNotFoundError:
        raise ConfigError(f"There is no baseline {path}; `--write-baseline` makes one.") from None
    except OSError as error:
        raise ConfigError(f"The baseline {path} cannot be read: {error.strerror or error}.") from None
    except RecordError as error:
        raise ConfigError(f"The baseline {path} cannot be used. {error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The baseline {path} is not JSON ({error}); remove it and `--write-baseline`.") from None
    if baseline.schema_version not in _READABLE:
        raise ConfigError(
            f"The baseline {path} has schema {baseline.schema_version}, and this torchlift reads schema {BASELINE_SCHEMA}; "
            "remove it and `--write-baseline`."
        )
    return baseline


def _pairs(entries: _Entries) -> set[tuple[str, str]]:
    return {(file, entry) for file, listed in entries.items() for entry in listed}


def _entries(result: RunResult) -> dict[str, list[str]]:
    """For each file, what stands in a baseline for the findings that are left in it, in their order."""
    listed: list[tuple[FileOutcome, Finding]] = [
        (outcome, item) for outcome in result.outcomes for item in outcome.left
    ]
    named = _named([(item, outcome.shown) for outcome, item in listed])
    entries: dict[str, list[str]] = {outcome.path: [] for outcome in result.outcomes}
    for (outcome, _), entry in zip(listed, named, strict=True):
        entries[outcome.path].append(entry)
    return entries


def _named(listed: Sequence[tuple[Finding, SourceText]]) -> list[str]:
    """What stands in a baseline for findings."""
    lines = identities(listed)
    return [f"{one.code} {line} {what_it_names(one, text)}" for (one, text), line in zip(listed, lines, strict=True)]


def _matched(entries: Sequence[str], known: Iterable[str]) -> tuple[set[int], list[str]]:
    """Which of a file's `entries` the baseline knows, by their index, and what it knows that is not there any more.

    First those whose line is the same; then, one for one, those that are about the same words as one whose line is gone.
    """
    by_line = {_line_of(entry): entry for entry in known}
    found = {index for index, entry in enumerate(entries) if by_line.pop(_line_of(entry), None) is not None}
    gone: dict[str, list[str]] = {}
    for entry in by_line.values():
        gone.setdefault(_words_of(entry), []).append(entry)
    for index, entry in enumerate(entries):
        if index not in found and gone.get(_words_of(entry)):
            gone[_words_of(entry)].pop()
            found.add(index)
    return found, [entry for left in gone.values() for entry in left]


def _line_of(entry: str) -> str:
    return " ".join(entry.split(" ")[:2])


def _words_of(entry: str) -> str:
    """The rule and the words; an entry of the first schema has none, and is like no other."""
    code, _, words = entry.partition(" ")
    return f"{code} {words.rpartition(' ')[2]}"


def _gone(entries: _Entries, known: _Entries) -> list[tuple[str, str]]:
    """What the baseline knows that is not there any more, with its file."""
    return [(file, entry) for file, here in known.items() for entry in _matched([*entries.get(file, ())], here)[1]]


def _without(result: RunResult, entries: Mapping[str, list[str]], known: _Entries) -> RunResult:
    outcomes, hidden = [], 0
    for outcome in result.outcomes:
        here, _ = _matched(entries[outcome.path], known.get(outcome.path, ()))
        hidden += len(here)
        outcomes.append(outcome.keeping([index for index in range(len(entries[outcome.path])) if index not in here]))
    left = tuple(outcome for outcome in outcomes if outcome.has_something_to_say)
    return replace(result, outcomes=left, known=hidden)
