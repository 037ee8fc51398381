"""Runs of the user's command on the project with some of the fixes, counted and remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

from torchlift.finding import DroppedFix
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.alternatives import Alternatives
from torchlift.migrate.result import FileOutcome, RunResult
from torchlift.migrate.verification.baseline import Baseline
from torchlift.migrate.verification.changed_code import ChangedCode
from torchlift.migrate.verification.clusters import (
    Cluster,
    FixedFile,
    functions_in,
    withheld,
)
from torchlift.migrate.verification.command_run import CommandRun, run_command
from torchlift.migrate.verification.complaint import Complaint, CopiedLine
from torchlift.migrate.verification.search import Groups, OutOfRuns, Units
from torchlift.migrate.verification.tree_copy import TreeCopy

_SHORTEST_LIMIT = 60.0
_TIMES_SLOWER = 10


@dataclass(frozen=True)
class Verification:
    """What the user asked for.

    Attributes:
        command: what has to run with the fixes as it does without, for the shell.
        runs: most runs, those without any fix included.
        timeout: most seconds one of them may take.
        flaky: whether the command is known to hold tests that fail now and then.
        say: told what is being done, a sentence at a time.
    """

    command: str
    runs: int = 30
    timeout: float = 600.0
    flaky: bool = False
    say: Callable[[str], None] = lambda sentence: None


class CommandTrials:
    """The runs; see `search.Trials`.

    Args:
        verification: what to run.
        copy: where.
        alternatives: what makes the texts.
        clusters: the fixes, by their numbers.
    """

    def __init__(
        self, verification: Verification, copy: TreeCopy, alternatives: Alternatives, clusters: Sequence[Cluster]
    ) -> None:
        self.verification = verification
        self.copy = copy
        self.alternatives = alternatives
        self.clusters = clusters
        self.inside = os.path.relpath(os.path.realpath(alternatives.reading.project.root), copy.tree)
        self.working = os.path.relpath(os.path.realpath(os.curdir), copy.tree)
        if self.working.startswith(os.pardir):
            self.working = self.inside
        self.baseline = Baseline(0, 0.0)
        self.notes_returns = True
        self.counted = 0
        self.seconds = 0.0
        self.reached: Mapping[tuple[str, str], frozenset[str]] = {}
        self.result_of = lru_cache(maxsize=4)(self._result_of)

    def without_fixes(self) -> CommandRun:
        """A run of the whole command on the project as it is."""
        self.copy.prepare({})
        return self._counted("without any fix", None, self.verification.timeout)

    def whole(self, groups: Groups) -> Sequence[Complaint]:
        """See `search.Trials`; of the same groups it runs again."""
        self._allowed()
        return self._tried(groups, None)

    def last(self, groups: Groups) -> Sequence[Complaint]:
        """See `search.Trials`."""
        return self._tried(groups, None)

    def again(self, groups: Groups, about: Sequence[Complaint]) -> Sequence[Complaint]:
        """See `search.Trials`."""
        if not about:
            return []
        tests = frozenset(test for complaint in about for test in complaint.tests)
        if not tests or not all(complaint.tests for complaint in about):
            self._allowed()
            found = self._tried(groups, None)
            return _heard(about, found)
        self._allowed()
        found = self._tried(groups, tests)
        return _heard(about, found)

    def suspects(self, groups: Groups, complaint: Complaint) -> Sequence[Units]:
        """See `search.Trials`: what changes a line that the failure went through, then its file, then what the tests ran."""
        files = self._files(self.result_of(groups))
        exact: list[Units] = []
        around: set[int] = set()
        for place in complaint.places:
            file = files.get((place.path if place.line else self._file_of(place)) or "")
            if file is None:
                continue
            around |= file.all_clusters & groups
            statement = file.import_at(place.line) if place.line else ""
            if statement:
                bring = [other.adding(statement) & groups for other in files.values()]
                exact += [(file.adding(statement) & groups,), tuple(filter(None, bring))]
            exact += [_one_by_one(found & groups) for found in self._pointed(file, place)]
        ordered = list(dict.fromkeys(units for units in exact if any(units)))
        found = [*ordered[:2], _one_by_one(around), *map(_one_by_one, self._linked(groups, complaint))]
        return list(dict.fromkeys(units for units in found if units))

    def _linked(self, groups: Groups, complaint: Complaint) -> Iterator[Groups]:
        """What changes code that ran in the tests of a complaint, where that is no more than halves would tell."""
        recorded = self.alternatives.options.settings.evidence
        if recorded is not None:
            yield self.changed_code.recorded_in(complaint.tests, recorded) & groups
        ran = self.changed_code.run_in(complaint.tests, self.baseline.returns) & groups
        if 2 * len(ran) <= len(groups):
            yield ran

    @cached_property
    def changed_code(self) -> ChangedCode:
        """What the fixes change, seen from the modules of the runs without any."""
        project = self.alternatives.reading.project
        folder = os.path.join(self.copy.folder, self.inside)
        return ChangedCode(self.clusters, project, self.baseline.modules, folder)

    def _pointed(self, file: FixedFile, place: CopiedLine) -> Iterator[Groups]:
        if place.line:
            yield from file.behind(place.line)
            return
        wanted = place.path.partition(":")[2]
        yield from (file.changing(lines) for name, lines, _ in functions_in(file.before.text) if name == wanted)

    def _file_of(self, place: CopiedLine) -> str | None:
        known = self.baseline.modules.get(place.path.partition(":")[0])
        return os.path.relpath(known, self.copy.folder) if known is not None else None

    def _allowed(self) -> None:
        if self.counted >= self.verification.runs - 1:
            raise OutOfRuns

    def _tried(self, groups: Groups, tests: frozenset[str] | None) -> tuple[Complaint, ...]:
        result = self.result_of(groups)
        texts = {
            os.path.normpath(os.path.join(self.inside, outcome.path)): _bytes(outcome) for outcome in _changed(result)
        }
        self.copy.prepare(texts)
        limit = min(self.verification.timeout, _SHORTEST_LIMIT + _TIMES_SLOWER * self.baseline.seconds)
        about = f"with {len(groups)} of {len(self.clusters)} groups of fixes" if groups else "without any fix"
        run = self._counted(about, tests, limit)
        found = self.baseline.complaints(run, self.copy.folder, self._rewritten(result), tests)
        if tests is None:
            self.reached = {
                (module, function): frozenset(test for test, *key in run.returns if key == [module, function])
                for _, module, function in run.returns
            }
        said = f"{len(found)} that {'fails' if len(found) == 1 else 'fail'}: {found[0].by}" if found else "as before"
        self.verification.say(f"  {said} ({run.seconds:.1f} s)")
        return tuple(found)

    def _counted(self, about: str, tests: frozenset[str] | None, limit: float) -> CommandRun:
        self.counted += 1
        only = "" if tests is None else f", {len(tests)} test{'s' if len(tests) > 1 else ''} only"
        self.verification.say(f"Run {self.counted} (of {self.verification.runs} at most) {about}{only}")
        run = run_command(
            self.verification.command, self.copy, self.working, limit=limit, tests=tests, returns=self.notes_returns
        )
        self.seconds += run.seconds
        return run

    def _result_of(self, groups: Groups) -> RunResult:
        out = {index: DroppedFix("", "") for index in range(len(self.clusters)) if index not in groups}
        return self.alternatives.result(withheld(self.clusters, out))

    def _files(self, result: RunResult) -> dict[str, FixedFile]:
        """Changed files by their paths in the copy."""
        return {
            os.path.normpath(os.path.join(self.inside, outcome.path)): FixedFile(
                outcome.path, outcome.source, None if outcome.is_removed else outcome.shown, self.clusters
            )
            for outcome in _changed(result)
        }

    def _rewritten(self, result: RunResult) -> frozenset[str]:
        """Functions that the fixes change or take away, as ids of tests, as seen from wherever pytest may have its root."""
        names = set()
        for outcome in _changed(result):
            if not outcome.path.endswith(".py"):
                continue
            new = {name: _shape(node) for name, _, node in functions_in(outcome.shown.text)}
            gone = [name for name, _, node in functions_in(outcome.source.text) if new.get(name) != _shape(node)]
            path = Path(os.path.normpath(os.path.join(self.inside, outcome.path)))
            for name in gone:
                inside = name.replace(".", "::")
                names |= {f"{'/'.join(path.parts[start:])}::{inside}" for start in range(len(path.parts))}
        return frozenset(names)


def _one_by_one(groups: Collection[int]) -> Units:
    return tuple(frozenset({group}) for group in sorted(groups))


def _shape(node: object) -> str:
    import ast

    assert isinstance(node, ast.AST)
    return ast.dump(node)


def _changed(result: RunResult) -> Iterator[FileOutcome]:
    return (outcome for outcome in result.outcomes if outcome.new_text is not None and outcome.refused is None)


def _bytes(outcome: FileOutcome) -> bytes | None:
    return None if outcome.is_removed else outcome.shown.to_bytes()


def _heard(about: Sequence[Complaint], found: Sequence[Complaint]) -> list[Complaint]:
    heard = []
    for known in about:
        same = [other for other in found if other.key == known.key]
        alike = same or [other for other in found if not set(known.tests).isdisjoint(other.tests)]
        if alike:
            heard.append(replace(known, by=alike[0].by, error=alike[0].error, places=alike[0].places))
    return heard
