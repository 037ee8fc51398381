"""One run over a project: every stage in order, until no fix is left to apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from torchlift.finding import FileFailure, Finding, applied
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.document import open_document
from torchlift.migrate.examine import Examiner, State
from torchlift.migrate.find.newest_name import new_words, with_newest_name
from torchlift.migrate.find.selection import Selected, select_files, select_texts
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.migrate.fix.promises import broken_promise
from torchlift.migrate.fix.settle import applicable, settle
from torchlift.migrate.fix.withheld import Withheld
from torchlift.migrate.notes import notes_on, unanswered, why_min_torch
from torchlift.migrate.options import RunOptions
from torchlift.migrate.outcomes import Applied, outcomes_of, unreadable_outcomes
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.rewriting import rewritten, wishes_of
from torchlift.notebook import is_notebook
from torchlift.project import Deferred, Project
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Rule
from torchlift.source import SourceText
from torchlift.wrappers import Wrappers

__all__ = ["Alternatives", "KnownProject", "RunOptions", "analyse", "examine", "read"]

_MOST_PASSES = 20


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
        found, allowed = self._start.findings, applied(unsafe_fixes=self.options.unsafe_fixes)
        blocked: Mapping[str, str] = {}
        if self.options.guard is not None and self.options.mode is Mode.WRITE:
            chosen = applicable(settle(found, {}, {}), allowed, {})
            blocked = self.options.guard(sorted(wishes_of(chosen)))
        return applicable(settle(found, blocked, {}), allowed, blocked)

    def result(self, withheld: Withheld = Withheld()) -> RunResult:  # noqa: B008 - it is frozen
        """What a run comes to that leaves `withheld` out."""
        start, end, obstacles = self._start, None, Obstacles()
        if self._examiner is not None:
            end, obstacles = _applied(self.options, self._examiner, start, withheld)
        return _result(self.options, self.reading, start, end or Applied(start, {}, {}), obstacles, withheld)


def _rules_of(options: RunOptions) -> list[Rule]:
    return [rule for code, rule in rules_with(options.own_rules).items() if code in options.codes]


def _is_any_wanted(selected: Sequence[Selected]) -> bool:
    return any(file.wanted or file.wanted_if for file in selected)


def _whole_project(options: RunOptions, project: Project, selected: Sequence[Selected]) -> Project:
    """The project with those of its files that the run was not given, and what is known of the others."""
    files = options.project_files() if options.project_files else options.files
    known = {file.path: dict.fromkeys(file.collectors, Deferred.DEFERRED) for file in selected}
    return project.with_records(sorted({*files, *options.files}), known)


def _applied(options: RunOptions, examiner: Examiner, start: State, withheld: Withheld) -> tuple[Applied, Obstacles]:
    """Apply fixes until none is left. Where one meets an obstacle, everything starts over without it."""
    obstacles = Obstacles()
    while options.mode is not Mode.CHECK:
        end, obstacles = _attempt(options, examiner, start, obstacles, withheld)
        if end is not None:
            return end, obstacles
    return Applied(start, {}, {}), obstacles


def _attempt(
    options: RunOptions, examiner: Examiner, start: State, obstacles: Obstacles, withheld: Withheld
) -> tuple[Applied | None, Obstacles]:
    """The state in which no fix is left to apply; None, and one obstacle more, if it cannot be reached."""
    allowed = applied(unsafe_fixes=options.unsafe_fixes)
    now = Applied(start, {}, {})
    chosen: Mapping[str, Sequence[Finding]] = {}
    for _ in range(_MOST_PASSES):
        found = now.state.findings
        left_out = withheld.held(found, partial(_texts, (start.project, now.state.project)))
        settled = settle(found, obstacles.blocked, {**obstacles.held_in(now.state.project), **left_out})
        chosen = applicable(settled, allowed, obstacles.blocked)
        if not chosen:
            return now, obstacles
        known, obstacles = obstacles, _guarded(options, chosen, obstacles)
        if obstacles.blocked != known.blocked:
            return None, obstacles
        known = obstacles
        texts, obstacles = rewritten(now.state.project, chosen, obstacles, options.settings.torchscript)
        if obstacles is not known:
            return None, obstacles
        project = start.project.with_texts({**now.texts, **texts})
        after = now.and_then(chosen, texts, examiner.next(now.state, project))
        states = (now.state.project, project)
        broken = broken_promise(found, after.state.findings, chosen, partial(_texts, states))
        if broken is not None:
            path, problem = broken
            return None, obstacles.blocking(path, "verify", problem)
        now = after
    for path in sorted(chosen):
        obstacles = obstacles.blocking(path, "verify", "its fixes do not come to an end")
    return None, obstacles


def _texts(states: tuple[Project, Project], path: str) -> tuple[SourceText, SourceText]:
    before, after = (open_document(state, path).source for state in states)
    return before, after


def _guarded(options: RunOptions, chosen: Mapping[str, Sequence[Finding]], obstacles: Obstacles) -> Obstacles:
    """The obstacles with files that are about to change and may not be written; asked for every file once."""
    new = wishes_of(chosen).keys() - obstacles.guarded
    if options.guard is None or options.mode is not Mode.WRITE or not new:
        return obstacles
    return obstacles.refusing(frozenset(new), options.guard(sorted(new)))


def _result(
    options: RunOptions, reading: KnownProject, start: State, end: Applied, obstacles: Obstacles, withheld: Withheld
) -> RunResult:
    selected = reading.selected
    left_out = withheld.held(end.state.findings, partial(_texts, (start.project, end.state.project)))
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
