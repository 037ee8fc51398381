"""Draws up a plan: the project is migrated several times in memory, with different answers, and the results compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift import __version__
from torchlift.finding import Safety
from torchlift.migrate.cell_places import record_in_cells
from torchlift.migrate.library import read_project
from torchlift.migrate.options import RunOptions
from torchlift.migrate.plan.artifacts_and_options import artifacts_of, options_in, other_readers
from torchlift.migrate.plan.counting import Found, gone_in, held_by_place, left_in
from torchlift.migrate.plan.folders_of_tests import tests_by_folder
from torchlift.migrate.plan.questions import (
    artifact_questions,
    files_with_undecided_tests,
    ranked,
    speed_question,
    support_question,
    tests_question,
)
from torchlift.migrate.plan.report import SCHEMA_VERSION, Left, PlannedEvidence, PlanReport, Stated
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import examine
from torchlift.migrate.tell.report.paths import from_here
from torchlift.migrate.workspace.config import Config
from torchlift.torchscript_intent import TorchScriptIntent

if TYPE_CHECKING:
    from torchlift.evidence.known import KnownRuns
    from torchlift.project import Project

Step = Callable[[str], Callable[[str, int, int], None] | None]
"""Told about every run before it begins, in words; returns what is told about its files."""

_UNREADABLE = "TL902"
"""The rule about files that could not be analysed: nothing is known of the TorchScript in them."""


class _Runs:
    """Runs over one project that write nothing and share what they learn of it.

    Args:
        paths: what the user named.
        config: the configuration, with rules about TorchScript alone.
        step: told about every run.
    """

    def __init__(self, paths: Sequence[Path], config: Config, step: Step) -> None:
        self._step = step
        # What one run learns in this process serves the next one, which other processes would have to find out anew.
        self._reading = read_project(paths, replace(config, jobs=config.jobs or 1), step("as it stands"))
        self.stated = config.torchscript
        self.project = self._reading.project
        self.recorded = self._reading.options.settings.evidence

    def as_it_stands(self) -> RunResult:
        """Nothing is rewritten, and what the user keeps as a whole is counted all the same."""
        counted = replace(self.stated, support=None) if self.stated.support == "keep" else self.stated
        return examine(self._options(counted, Mode.CHECK, "as it stands"), self._reading)

    def dropped(self) -> RunResult:
        """All fixes that are right, or right after review, when support for TorchScript ends."""
        intent = replace(self.stated, support="drop")
        return examine(self._options(intent, Mode.DIFF, "without TorchScript"), self._reading)

    def with_successors(self, paths: Collection[str]) -> RunResult:
        """The same of some files only, where tests of the successor take the place of tests of scripting."""
        intent = replace(self.stated, support="drop", tests="successor")
        options = self._options(intent, Mode.DIFF, 'with tests = "successor"')
        selected = tuple(file for file in self._reading.selected if file.path in paths)
        files = tuple(path for path in options.files if path in paths)
        return examine(replace(options, files=files, texts=()), replace(self._reading, selected=selected))

    def _options(self, intent: TorchScriptIntent, mode: Mode, name: str) -> RunOptions:
        options = self._reading.options
        settings = replace(options.settings, torchscript=intent)
        drops = mode is Mode.DIFF
        return replace(options, settings=settings, mode=mode, unsafe_fixes=drops, progress=self._step(name))


def draw_up(paths: Sequence[Path], config: Config, step: Step = lambda name: None) -> PlanReport:
    """The plan for `paths`.

    Args:
        paths: files and folders, at least one.
        config: how torchlift is to work on the project; of its rules those about TorchScript run.
        step: told about every run before it begins.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
    """
    runs = _Runs(paths, replace(config, select=("TL1", _UNREADABLE), output_format="full"), step)
    stated, project = runs.stated, runs.project
    before = runs.as_it_stands()
    found = left_in(before)
    after = runs.dropped() if found and stated.support != "keep" else None
    gone = gone_in(after, found) if after is not None else None
    left = left_in(after) if after is not None else []
    artifacts = artifacts_of(found, project)
    readers = other_readers(project) if found else ()
    questions = []
    if found and stated.support is None and gone is not None:
        questions.append(support_question(found, gone))
    if after is not None and stated.tests is None and (undecided := files_with_undecided_tests(after)):
        questions += tests_question(before, after, runs.with_successors(undecided))
    if after is not None and stated.speed is None:
        questions += speed_question(after)
    if after is not None:
        questions += artifact_questions(artifacts, readers, left)
    fixable = sum(item.finding.fix is not None for item in found)
    settled = gone.roots + gone.hints - fixable if gone is not None else 0
    report = PlanReport(
        schema_version=SCHEMA_VERSION,
        torchlift_version=__version__,
        root=from_here(before.root),
        stated=Stated(stated.support, stated.tests, stated.speed, stated.keep),
        roots=sum(not item.is_hint for item in found),
        hints=sum(item.is_hint for item in found),
        files=len({item.finding.path for item in found}),
        fixable=fixable,
        decided=min(
            len(found) - fixable, max(0, settled) + sum(item.decides for item in questions if item.about == "artifact")
        ),
        questions=ranked(questions),
        gone=gone,
        artifacts=artifacts,
        other_readers=readers,
        options=options_in(project) if found else (),
        tests=tests_by_folder(before, found, after),
        held=held_by_place(found),
        left=_left(left),
        evidence=_evidence(runs.recorded, project, found),
        failures=_failures(before, after or before),
    )
    return record_in_cells(report, project)


def _evidence(runs: KnownRuns | None, project: Project, found: Sequence[Found]) -> PlannedEvidence | None:
    if runs is None:
        return None
    from torchlift.migrate.evidence.reach import places_in

    places = places_in(project, runs)
    return PlannedEvidence(
        known=len(places),
        reached=sum(place.reached for place in places),
        proven=sum(item.finding.safety is Safety.PROVEN for item in found),
        unreached=tuple(place.place for place in places if not place.reached),
        outdated=tuple(f"{known.site.file}:{known.site.line}" for known in runs if known.changed),
    )


def _failures(before: RunResult, last: RunResult) -> tuple[str, ...]:
    """What could not be done, and files that could not be analysed."""
    failed = [f"{failure.path}: {failure.stage}: {failure.reason}" for failure in last.failures]
    for outcome in before.outcomes:
        failed += [f"{outcome.path}: {item.message}" for item in outcome.left if item.code == _UNREADABLE]
    return tuple(failed)


def _left(left: Sequence[Found]) -> tuple[Left, ...]:
    """Places that wait for nothing else, each with the number of those that wait for it."""
    waiting: dict[str, int] = {}
    for item in left:
        if item.finding.waits_for:
            waiting[item.finding.waits_for] = waiting.get(item.finding.waits_for, 0) + 1
    rows: dict[str, Left] = {}
    for item in left:
        if not item.finding.waits_for:
            here = rows.get(item.place)
            count = here.findings if here is not None else waiting.pop(item.place, 0)
            rows[item.place] = Left(item.place, item.finding.code, item.finding.message, count + 1)
    for place, count in waiting.items():
        if place not in rows:
            message = "It compiles or runs TorchScript, and is not a finding itself."
            rows[place] = Left(place, "", message, count)
    return tuple(sorted(rows.values(), key=lambda row: (-row.findings, row.place)))
