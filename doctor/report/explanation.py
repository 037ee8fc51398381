"""What `--explain-error` answers: the error, where it stands, and what this machine has to do with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.errors.first_cause import Assessment, Place, Recognised, Verdict
from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.facts import Facts
from torchlift.doctor.report.json_report import ListedResult, listed_result
from torchlift.documentation import page_of
from torchlift.json_records.writing import plain
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.answer import Answer

ERROR_SCHEMA: Final = 1
"""Version of the JSON form. Added keys do not change it; removed or re-interpreted ones do."""


@dataclass(frozen=True)
class Explanation:
    """What is known about a text.

    Attributes:
        finding: what stands in it.
        facts: the machine that was asked, None where no check has to do with the error.
        results: what its checks say about the first error.
        answer: the wheel that fits a machine that is only described, where another wheel mends the error.
    """

    finding: Assessment
    facts: Facts | None = None
    results: tuple[Diagnosed, ...] = ()
    answer: Answer | None = None

    @property
    def exit_code(self) -> int:
        """0 when the text is explained, 1 when torchlift's table does not have it."""
        return 1 if self.finding.verdict == "unknown" else 0


@dataclass(frozen=True)
class ReportedCause:
    """One of several things that print the same message."""

    what: str
    """One sentence without a full stop."""
    tell: str
    """How one sees that it is this one."""
    remedy: str
    speaks: Annotated[str | None, {"enum": ["machine", "text", None]}]
    """What speaks for it: a check of this machine, the text around the message, or nothing."""


@dataclass(frozen=True)
class ReportedError:
    """A known error in the text; docs/errors.md has all of them."""

    id: str
    cause: str
    """One sentence without a full stop."""
    likely: bool
    """The cause is a common one, not a certain one."""
    stops: Annotated[str, {"enum": ["cause", "vague", "warning"]}]
    """"vague": it says that something failed, another line says why. "warning": nothing stops for it."""
    remedy: str
    command: str | None
    """The remedy as a line for a shell."""
    causes: tuple[ReportedCause, ...]
    """Where several things print this message, each of them, first those for which something speaks, then by frequency; `cause` says then what the message itself says."""
    checks: tuple[str, ...]
    """Ids of the checks that look at it."""
    sources: tuple[str, ...]
    url: str | None
    """Address of the error's page, where TORCHLIFT_DOCUMENTATION says where the pages are."""
    place: Place


@dataclass(frozen=True)
class ErrorReport:
    """What `--explain-error` found in one text."""

    schema: Literal[1]
    torchlift: str
    """Version of torchlift."""
    verdict: Verdict
    exit_code: Annotated[int, {"enum": [0, 1]}]
    lines: int
    """How many lines the text has."""
    first: ReportedError | None
    """What came first; null when nothing in the text is known."""
    others: tuple[ReportedError, ...]
    """Everything else that is known, by its first place."""
    unexplained: tuple[Place, ...]
    """The first exceptions that the table does not have."""
    results: list[ListedResult]
    """What checks of the machine say about the first error."""
    answer: Answer | None
    """For a machine that is only described: which wheel would be right."""


def render(explanation: Explanation) -> str:
    """The explanation as ASCII JSON."""
    import json

    from torchlift import __version__

    finding = explanation.finding
    report = ErrorReport(
        schema=ERROR_SCHEMA,
        torchlift=__version__,
        verdict=finding.verdict,
        exit_code=explanation.exit_code,
        lines=finding.lines,
        first=None if finding.first is None else _reported(finding.first, explanation.results),
        others=tuple(_reported(each, ()) for each in finding.others),
        unexplained=finding.unexplained,
        results=[listed_result(each) for each in explanation.results],
        answer=explanation.answer,
    )
    # Azure and GitHub carry out orders that stand in a log, also inside of JSON.
    return json.dumps(plain(report), indent=2).replace("##", "#\\u0023") + "\n"


def causes_by_evidence(row: KnownError, results: Iterable[Diagnosed]) -> tuple[ReportedCause, ...]:
    """The causes of a row: those that a check finds on the machine, those of which the text speaks, the others."""
    found = {each.check.id for each in results if each.result.status in ("problem", "warning")}
    causes = [
        ReportedCause(
            each.what,
            each.tell,
            each.remedy,
            "machine" if found & {*each.checks} else "text" if each.spoken else None,
        )
        for each in row.causes
    ]
    return tuple(sorted(causes, key=lambda each: ("machine", "text", None).index(each.speaks)))


def _reported(found: Recognised, results: Iterable[Diagnosed]) -> ReportedError:
    row = found.row
    causes = causes_by_evidence(row, results)
    url = page_of("errors", row.id)
    return ReportedError(
        row.id,
        row.cause,
        row.likely,
        row.level,
        row.remedy,
        row.command,
        causes,
        row.checks,
        row.sources,
        url,
        found.place,
    )
