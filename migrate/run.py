"""One run over a project: every stage in order, until no fix is left to apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from torchlift.finding import FileFailure, Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.document import texts_in
from torchlift.migrate.examine import Examiner, State
from torchlift.migrate.find.newest_name import new_words, with_newest_name
from torchlift.migrate.find.selection import Selected, select_files, select_texts
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.migrate.fix.withheld import Withheld
from torchlift.migrate.notes import notes_on, unanswered, why_min_torch
from torchlift.migrate.options import RunOptions
from torchlift.migrate.outcomes import Applied, outcomes_of, unreadable_outcomes
from torchlift.migrate.result import Mode, RunResult
from torchlift.notebook import is_notebook
from torchlift.project import Deferred, Project
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Rule
from torchlift.wrappers import Wrappers

__all__ = ["Alternatives", "KnownProject", "RunOptions", "analyse", "examine", "read"]


@dataclass(frozen=True)
class KnownProject:
    """What is known of a project before anything in it is checked.

    Attributes:
        options: what was to be done, with the lowest torch that the code leaves where nothing else tells it.
        selected: which files rules want to see.
        project: the project with all its files.
        failures: what could not be listed.
    """

    options: RunOptions
    selected: tuple[Selected, ...]
    project: Project
    failures: tuple[FileFailure, ...] = ()


def analyse(options: RunOptions) -> RunResult:
    """Everything but writing: findings, fixes applied in memory, checks. Never raises for what a file holds."""
    reading = read(options)
    return examine(reading.options, reading)


def read(options: RunOptions) -> KnownProject:
    """Look which files a run has to check."""
    rules = _rules_of(options)
    project = Project(options.root, options.files, options.overlay, wrappers=Wrappers(options.settings.wrappers))
    noting = new_words() if options.ask_code else frozenset()
    python = select_files(project, options.files, rules, options.settings, options.progress, noting)
    asked = [rule for rule in rules if rule.wants is None or rule.wants(options.settings)]
    notebooks = [path for path in options.files if is_notebook(path)]  # which hold commands, too
    selected = (*python, *select_texts(project, (*options.texts, *notebooks), asked, options.named))
    if _is_any_wanted(selected):
        project = _whole_project(options, project, python)
        options = with_newest_name(options, project, python)
    return KnownProject(options, selected, project)


def examine(options: RunOptions, reading: KnownProject) -> RunResult:
    """What a run over a project comes to.

    Args:
        options: what to do. Of those that `reading` has, the files may be fewer, and all may differ that have no part in
            which files there are and which rules want to see them.
        reading: the project; several runs over it share what they learn.
    """
    return Alternatives(options, reading).result()


class Alternatives:
    """Runs over one project that differ in the fixes they leave out; what is found in it as it was read is found once.

    Args:
        options, reading: as for `examine`.
    """

    def __init__(self, options: RunOptions, reading: KnownProject) -> None:
        self.options = options
        self.reading = reading
        self._start = State(reading.project, {}, {})
        self._examiner: Examiner | None = None
        if _is_any_wanted(reading.selected):
            self._examiner = Examiner(options, _rules_of(options), reading.selected)
            self._start = self._examiner.first(reading.project)

    def first_fixes(self) -> dict[str, list[Finding]]:
        """What is fixed before anything else can be, by path: what it makes possible follows in the same run."""
        if self._examiner is None or self.options.mode is Mode.CHECK:
            return {}
        from torchlift.migrate.applying import first_fixes

        return first_fixes(self.options, self._start)

    def result(self, withheld: Withheld = Withheld()) -> RunResult:  # noqa: B008 - it is frozen
        """What a run comes to that leaves `withheld` out."""
        start, end, obstacles = self._start, None, Obstacles()
        if self._examiner is not None:
            from torchlift.migrate.applying import apply_until_none_is_left

            end, obstacles = apply_until_none_is_left(self.options, self._examiner, start, withheld)
        return _result(self.options, self.reading, start, end or Applied(start, {}, {}), obstacles, withheld)


def _rules_of(options: RunOptions) -> list[Rule]:
    return [rule for code, rule in rules_with(options.own_rules).items() if code in options.running]


def _is_any_wanted(selected: Sequence[Selected]) -> bool:
    return any(file.wanted or file.wanted_if for file in selected)


def _whole_project(options: RunOptions, project: Project, selected: Sequence[Selected]) -> Project:
    """The project with those of its files that the run was not given, and what is known of the others."""
    files = options.project_files() if options.project_files else options.files
    known = {file.path: dict.fromkeys(file.collectors, Deferred.DEFERRED) for file in selected}
    return project.with_records(sorted({*files, *options.files}), known)


def _result(
    options: RunOptions, reading: KnownProject, start: State, end: Applied, obstacles: Obstacles, withheld: Withheld
) -> RunResult:
    selected = reading.selected
    left_out = withheld.held(end.state.findings, partial(texts_in, (start.project, end.state.project)))
    for (path, key), why in left_out.items():
        obstacles = replace(obstacles, held={**obstacles.held, (path, key, end.state.project.data(path)): why})
    outcomes, obstacles = outcomes_of(options, start, end, obstacles)
    outcomes = {path: withheld.marked(outcome) for path, outcome in outcomes.items()}
    unreadable = {file.path: file.unreadable for file in selected if file.unreadable is not None}
    outcomes.update(unreadable_outcomes(options, {**unreadable, **start.unreadable, **end.state.unreadable}))
    failures = [*reading.failures, *(file.failure for file in selected if file.failure is not None)]
    failures += [*start.failures, *obstacles.failures]
    told = [finding for outcome in outcomes.values() for finding in (*outcome.fixed, *outcome.left)]
    left = [finding for outcome in outcomes.values() for finding in outcome.left]
    return RunResult(
        mode=options.mode,
        unsafe_fixes=options.unsafe_fixes,
        target=options.settings.target,
        min_torch=options.settings.min_torch,
        min_torch_source=options.min_torch_source,
        files_seen=len(options.files) + len(options.texts),
        files_analysed=len(start.files.keys() | end.state.files.keys()),
        outcomes=tuple(outcomes[path] for path in sorted(outcomes)),
        failures=tuple(sorted(failures, key=lambda failure: (failure.path, failure.stage, failure.reason))),
        suppressed=end.state.suppressed,
        notes=(
            *notes_on(end.state.kept, end.state.project),
            *unanswered(left, options.settings.torchscript),
            *why_min_torch(options, told),
        ),
        root=options.root,
        evidence=options.settings.evidence.name if options.settings.evidence is not None else None,
    )
