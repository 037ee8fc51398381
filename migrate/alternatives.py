"""Runs over one project that differ in what they apply: what is found in it as it was read is found once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from torchlift.finding import Finding
from torchlift.migrate.document import texts_in
from torchlift.migrate.examine import Examiner, State
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.migrate.fix.withheld import Withheld
from torchlift.migrate.notes import left_behind, notes_on, rested_on, unanswered, why_min_torch
from torchlift.migrate.options import RunOptions
from torchlift.migrate.outcomes import Applied, outcomes_of, unreadable_outcomes
from torchlift.migrate.reading import KnownProject, result_of
from torchlift.migrate.result import Mode, RunResult


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
        if reading.is_any_wanted:
            self._examiner = Examiner(options, options.rules, reading.selected)
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
    failures = [*reading.all_failures, *start.failures, *obstacles.failures]
    told = [finding for outcome in outcomes.values() for finding in (*outcome.fixed, *outcome.left)]
    left = [finding for outcome in outcomes.values() for finding in outcome.left]
    fixed = [finding for outcome in outcomes.values() for finding in outcome.fixed]
    nothing_found = result_of(options, failures)
    return replace(
        nothing_found,
        files_analysed=len(start.files.keys() | end.state.files.keys()),
        outcomes=tuple(outcomes[path] for path in sorted(outcomes)),
        suppressed=end.state.suppressed,
        notes=(
            *notes_on(end.state.kept, end.state.project),
            *rested_on(start.findings, fixed),
            *left_behind(fixed),
            *unanswered(left, options.settings.torchscript),
            *why_min_torch(options, told),
            *nothing_found.notes,
        ),
    )
