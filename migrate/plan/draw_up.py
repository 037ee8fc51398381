"""Draws up a plan: the project is migrated several times in memory, with different answers, and the results compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from torchlift import __version__
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.library import listed_files, migrate
from torchlift.migrate.plan.artifacts_and_options import artifacts_of, options_in, other_readers
from torchlift.migrate.plan.counting import Found, gone_in, held_by_place, left_in
from torchlift.migrate.plan.folders_of_tests import tests_by_folder
from torchlift.migrate.plan.questions import artifact_questions, ranked, support_question, tests_question
from torchlift.migrate.plan.report import SCHEMA_VERSION, Left, PlanReport, Stated
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.tell.report.paths import from_here
from torchlift.migrate.workspace.config import Config
from torchlift.project import Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.torchscript_intent import Tests

Step = Callable[[str], Callable[[str, int, int], None] | None]
"""Told about every run before it begins, in words; returns what is told about its files."""

_UNREADABLE = "TL902"
"""The rule about files that could not be analysed: nothing is known of the TorchScript in them."""


@dataclass(frozen=True)
class _Runs:
    """Runs over one project that write nothing.

    Attributes:
        paths: what the user named.
        config: the configuration, with rules about TorchScript alone.
        step: told about every run.
    """

    paths: tuple[Path, ...]
    config: Config
    step: Step

    def as_it_stands(self) -> RunResult:
        """Nothing is rewritten, and what the user keeps as a whole is counted all the same."""
        intent = self.config.torchscript
        counted = replace(intent, support=None) if intent.support == "keep" else intent
        config = replace(self.config, torchscript=counted)
        return migrate(self.paths, config, mode=Mode.CHECK, progress=self.step("as it stands"))

    def dropped(self, tests: Tests | None = None, paths: Sequence[Path] = ()) -> RunResult:
        """All fixes that are right, or right after review, when support for TorchScript ends."""
        stated = self.config.torchscript
        intent = replace(stated, support="drop", tests=tests or stated.tests)
        config = replace(self.config, torchscript=intent, unsafe_fixes=True)
        name = "without TorchScript" if tests is None else f'with tests = "{tests}"'
        return migrate(list(paths) or self.paths, config, mode=Mode.DIFF, progress=self.step(name))


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
    runs = _Runs(tuple(paths), replace(config, select=("TL1", _UNREADABLE), output_format="full"), step)
    stated = config.torchscript
    before = runs.as_it_stands()
    found = left_in(before)
    after = runs.dropped() if found and stated.support != "keep" else None
    gone = gone_in(after, found) if after is not None else None
    left = left_in(after) if after is not None else []
    files = listed_files(config, paths)
    project = Project(before.root, files)
    artifacts = artifacts_of(found)
    questions = []
    if found and stated.support is None and gone is not None:
        questions.append(support_question(found, gone))
    if after is not None and stated.tests is None:
        questions += tests_question(before, after, _with_tests(runs, before.root, found))
    if after is not None:
        questions += artifact_questions(artifacts, left)
    fixable = sum(item.finding.fix is not None for item in found)
    settled = gone.roots + gone.hints - fixable if gone is not None else 0
    return PlanReport(
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
        other_readers=other_readers(project) if found else (),
        options=options_in(project) if found else (),
        tests=tests_by_folder(before, found, after),
        held=held_by_place(found),
        left=_left(left),
        failures=_failures(before, after or before),
    )


def _failures(before: RunResult, last: RunResult) -> tuple[str, ...]:
    """What could not be done, and files that could not be analysed."""
    failed = [f"{failure.path}: {failure.stage}: {failure.reason}" for failure in last.failures]
    for outcome in before.outcomes:
        failed += [f"{outcome.path}: {item.message}" for item in outcome.left if item.code == _UNREADABLE]
    return tuple(failed)


def _with_tests(runs: _Runs, root: Path, found: Sequence[Found]) -> dict[Tests, RunResult]:
    """The files of tests alone, by what becomes of a test that tests nothing but scripting."""
    tests = sorted({item.finding.path for item in found if not item.is_hint and is_test_file(item.finding.path)})
    if not tests:
        return {}
    paths = [root / path for path in tests]
    return {"delete": runs.dropped("delete", paths), "successor": runs.dropped("successor", paths)}


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
