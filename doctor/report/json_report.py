"""The machine format: everything a run found out. `schema.report_schema` is its shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from torchlift import __version__
from torchlift.doctor.check import Result
from torchlift.doctor.diagnose import Finding
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts.facts_json import to_json
from torchlift.doctor.report.verdict import verdict

REPORT_SCHEMA = 1
"""Version of the JSON form. Added keys do not change it; removed or re-interpreted ones do."""


def render(examination: Examination) -> str:
    """The report as ASCII text; the same examination gives the same bytes."""
    return json.dumps(report(examination), indent=2) + "\n"


def report(examination: Examination) -> dict[str, Any]:
    """The report as plain data."""
    project = examination.project
    return {
        "schema": REPORT_SCHEMA,
        "torchlift": __version__,
        "verdict": verdict(examination),
        "health": examination.health,
        "exit_code": examination.exit_code,
        "strict": examination.strict,
        "wanted": examination.wanted,
        "facts": to_json(examination.facts),
        "results": list(_results(examination.findings)),
        "answer": None if examination.answer is None else _plain(asdict(examination.answer)),
        "project": None
        if project is None
        else {
            "path": project.root,
            "results": [_result(result) for result in project.results],
            "notes": list(project.notes),
        },
        "smokes": None if examination.smokes is None else examination.smokes.as_json(),
    }


def _results(findings: tuple[Finding, ...], cause: str | None = None) -> Iterator[dict[str, Any]]:
    for finding in findings:
        # The cause as a check names it may not be there; `below` says under which result this one was put.
        yield {
            "check": finding.check.id,
            "group": finding.check.group,
            **_result(finding.result),
            "below": cause,
        }
        yield from _results(finding.consequences, finding.check.id)


def _result(result: Result) -> dict[str, Any]:
    data: dict[str, Any] = _plain(asdict(result))
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
