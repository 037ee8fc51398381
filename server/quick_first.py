"""Rules asked in the order of what they cost, so that most is known before what takes its time: an editor shows it meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from time import thread_time

from torchlift.finding import Finding
from torchlift.migrate.find.check import Checked, Dispatcher, FileCheck
from torchlift.project import Project
from torchlift.rules.rule import Rule, Settings
from torchlift.search.changes import same_ends
from torchlift.source import Span
from torchlift.view import ModuleView, Use

_DEAR = 0.03
"""Seconds of one rule on one file from which nobody waits for it."""


class Stopped(BaseException):
    """Nobody wants to know any more. No `Exception`: a rule that swallows those must not swallow this."""


class QuickFirst(Dispatcher):
    """Asks rules that were dear on some file before, or were never asked, after all others, and tells then what is known.

    Args:
        rules: as of `Dispatcher`.

    Attributes:
        tell: is told what is known of a file before the dear rules are asked; the codes of those are its `crashed`.
        stop: asked now and then whether nobody wants to know any more.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__(rules)
        self._dearest: dict[str, float] = {}
        self.tell: Callable[[Checked], None] = lambda checked: None
        self.stop: Callable[[], bool] = lambda: False

    def check(self, project: Project, view: ModuleView, settings: Settings) -> Checked:
        """Run every rule on every use in `view`.

        Raises:
            Stopped: nobody wants to know any more.
        """
        check = FileCheck(self, project, view, settings)
        questions: dict[str, list[tuple[Rule, Use | None]]] = {}
        for rule, use in check.questions():
            questions.setdefault(rule.code, []).append((rule, use))
        order = sorted(questions, key=self._cost)
        quick = sum(self._cost(code) <= _DEAR for code in order)
        for number, code in enumerate(order):
            if self.stop():
                raise Stopped
            if number == quick > 0:
                self.tell(check.checked(frozenset(order[quick:])))
            begun = thread_time()
            for rule, use in questions[code]:
                check.ask(rule, use)
            self._dearest[code] = max(thread_time() - begun, self._dearest.get(code, 0.0))
        return check.checked()

    def _cost(self, code: str) -> float:
        return self._dearest.get(code, inf)


def moved(findings: Iterable[Finding], before: str, after: str) -> Iterator[Finding]:
    """Findings in a text where they stand after an edit of it; without those in what the edit changed."""
    start, end = same_ends(before, after)
    for finding in findings:
        span = finding.span
        if span.end <= start:
            yield finding
        elif span.start >= len(before) - end:
            by = len(after) - len(before)
            yield replace(finding, span=Span(span.start + by, span.end + by))
