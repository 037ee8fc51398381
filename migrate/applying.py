"""Applying fixes, state by state, until none is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from torchlift.finding import Finding, applied
from torchlift.migrate.document import texts_in
from torchlift.migrate.examine import Examiner, State
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.migrate.fix.promises import broken_promise
from torchlift.migrate.fix.settle import applicable, settle
from torchlift.migrate.fix.withheld import Withheld
from torchlift.migrate.options import RunOptions
from torchlift.migrate.outcomes import Applied
from torchlift.migrate.result import Mode
from torchlift.migrate.rewriting import rewritten, wishes_of

_MOST_PASSES = 20
_MOST_IN_ALL = 200  # of those that leave fewer findings each: what is left then waits for another run


def first_fixes(options: RunOptions, start: State) -> dict[str, list[Finding]]:
    """What is fixed before anything else can be, by path."""
    found, allowed = start.findings, applied(unsafe_fixes=options.unsafe_fixes)
    blocked: Mapping[str, str] = {}
    if options.guard is not None and options.mode is Mode.WRITE:
        chosen = applicable(settle(found, {}, {}), allowed, {})
        blocked = options.guard(sorted(wishes_of(chosen)))
    return applicable(settle(found, blocked, {}), allowed, blocked)


def apply_until_none_is_left(
    options: RunOptions, examiner: Examiner, start: State, withheld: Withheld
) -> tuple[Applied, Obstacles]:
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
    passes = done = 0
    while passes < _MOST_PASSES:
        found = now.state.findings
        left_out = withheld.held(found, partial(texts_in, (start.project, now.state.project)))
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
        broken = broken_promise(found, after.state.findings, chosen, partial(texts_in, states))
        if broken is not None:
            path, problem = broken
            return None, obstacles.blocking(path, "verify", problem)
        endless = _count(after.state) >= _count(now.state)  # what leaves fewer findings comes to an end by itself
        passes, done, now = passes + endless, done + 1, after
        if done == _MOST_IN_ALL:
            return now, obstacles
    for path in sorted(chosen):
        obstacles = obstacles.blocking(path, "verify", "its fixes do not come to an end")
    return None, obstacles


def _count(state: State) -> int:
    return sum(map(len, state.findings.values()))


def _guarded(options: RunOptions, chosen: Mapping[str, Sequence[Finding]], obstacles: Obstacles) -> Obstacles:
    """The obstacles with files that are about to change and may not be written; asked for every file once."""
    new = wishes_of(chosen).keys() - obstacles.guarded
    if options.guard is None or options.mode is not Mode.WRITE or not new:
        return obstacles
    return obstacles.refusing(frozenset(new), options.guard(sorted(new)))
