"""The machine format: everything a run found out. `torchlift.doctor.schemas` publishes its shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Annotated, Final, Literal

from torchlift import __version__
from torchlift.doctor.check import GROUPS, Result
from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.examination import Examination, Health
from torchlift.doctor.facts import Facts
from torchlift.doctor.report.verdict import verdict
from torchlift.doctor.smoke.parent.report import ReportedSmokes
from torchlift.documentation import page_of
from torchlift.json_records import FLATTENED
from torchlift.json_records.writing import plain
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.answer import Answer

REPORT_SCHEMA: Final = 1
"""Version of the JSON form. Added keys do not change it; removed or re-interpreted ones do."""


@dataclass(frozen=True)
class ListedResult:
    """A result, and the check it is from."""

    check: str
    """Id of the check."""
    group: Annotated[str, {"enum": list(GROUPS)}]
    result: Result = field(metadata=FLATTENED)
    below: str | None
    """Id of the check whose result the text report puts this one under."""
    url: str | None
    """Address of the check's page, where TORCHLIFT_DOCUMENTATION says where the pages are."""


@dataclass(frozen=True)
class ReportedProject:
    """What the project of `--repo` asks for, and whether this machine can give it."""

    path: str
    results: tuple[Result, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class DoctorReport:
    """Everything that one run of `torchlift doctor` found out."""

    schema: Literal[1]
    torchlift: str
    """Version of torchlift."""
    verdict: str
    """The first line of the text report."""
    health: Health
    exit_code: Annotated[int, {"enum": [0, 1, 2]}]
    strict: bool
    """Warnings count as problems."""
    wanted: str | None
    """The requirement of --for."""
    facts: Facts
    results: list[ListedResult]
    answer: Answer | None
    """Which wheel would be right."""
    project: ReportedProject | None
    smokes: ReportedSmokes | None
    """What --smoke found out."""


def render(examination: Examination) -> str:
    """The report as ASCII text; the same examination gives the same bytes."""
    return json.dumps(plain(report(examination)), indent=2) + "\n"


def report(examination: Examination) -> DoctorReport:
    """The report as a record."""
    project, smokes = examination.project, examination.smokes
    return DoctorReport(
        schema=REPORT_SCHEMA,
        torchlift=__version__,
        verdict=verdict(examination),
        health=examination.health,
        exit_code=examination.exit_code,
        strict=examination.strict,
        wanted=examination.wanted,
        facts=examination.facts,
        results=list(_results(examination.findings)),
        answer=examination.answer,
        project=None if project is None else ReportedProject(project.root, project.results, project.notes),
        smokes=None if smokes is None else smokes.reported(),
    )


def listed_result(finding: Diagnosed, cause: str | None = None) -> ListedResult:
    """What a check found, put under the check `cause`."""
    check = finding.check
    return ListedResult(check.id, check.group, finding.result, cause, page_of("checks", check.id))


def _results(findings: tuple[Diagnosed, ...], cause: str | None = None) -> Iterator[ListedResult]:
    for finding in findings:
        # The cause as a check names it may not be there; `below` says under which result this one was put.
        yield listed_result(finding, cause)
        yield from _results(finding.consequences, finding.check.id)
