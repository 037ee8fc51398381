"""What the findings of a run are about, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from torchlift.finding import Finding, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.plan.report import Effort, Held, Unlocked
from torchlift.migrate.result import FileOutcome, RunResult

_HINTS = frozenset(f"TL{number}" for number in range(110, 122))
_OPTION = "TL122"
"""An option without effect, which is none before the answer."""


@dataclass(frozen=True)
class Found:
    """A finding about TorchScript with its place.

    Attributes:
        finding: the finding.
        place: where it is, as `path:line`.
    """

    finding: Finding
    place: str

    @property
    def is_hint(self) -> bool:
        """Whether it only speaks to the compiler, and goes when nothing compiles."""
        return self.finding.code in _HINTS


def left_in(result: RunResult) -> list[Found]:
    """What a run leaves."""
    return [
        Found(finding, f"{outcome.path}:{outcome.shown.location(finding.span.start)[0]}")
        for outcome in result.outcomes
        for finding in outcome.left
        if finding.code.startswith("TL1") and finding.code != _OPTION
    ]


def gone_in(result: RunResult, before: Sequence[Found]) -> Unlocked:
    """What a run takes away of that what was found `before`."""
    left = left_in(result)
    roots, hints = _split(before)
    roots_left, hints_left = _split(left)
    fixed = [finding for outcome in result.outcomes for finding in outcome.fixed]
    options = sum(finding.code == _OPTION for finding in fixed)
    review = sum(finding.safety is Safety.UNSAFE and finding.code != _OPTION for finding in fixed)
    gone_roots, gone_hints = max(0, roots - roots_left), max(0, hints - hints_left)
    review = min(review, gone_roots + gone_hints)
    safe = gone_roots + gone_hints - review
    return Unlocked(gone_roots, gone_hints, options, safe, review, effort_of(result.outcomes))


def _split(found: Iterable[Found]) -> tuple[int, int]:
    hints = [item.is_hint for item in found]
    return len(hints) - sum(hints), sum(hints)


def effort_of(outcomes: Iterable[FileOutcome]) -> Effort:
    """Files and lines that outcomes change."""
    files = added = removed = 0
    for outcome in outcomes:
        if outcome.new_text is None:
            continue
        files += 1
        old, new = outcome.source.text.splitlines(), outcome.new_text.splitlines()
        for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                removed += end - start
                added += new_end - new_start
    return Effort(files, added, removed)


def held_by_place(found: Iterable[Found]) -> tuple[Held, ...]:
    """Findings that wait, counted under the place that they wait for, the most first; then hints that wait for none."""
    waiting: dict[str, list[Finding]] = {}
    for item in found:
        if item.finding.waits_for or item.is_hint:
            waiting.setdefault(item.finding.waits_for, []).append(item.finding)
    order = sorted(waiting, key=lambda place: (not place, -len(waiting[place]), place))
    return tuple(Held(place, len(waiting[place]), len({item.path for item in waiting[place]})) for place in order)
