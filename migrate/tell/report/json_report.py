"""The machine format: all that a run has to say, in ruff's keys where ruff has them. `json_schema` has its shape.

File names are relative to the project root where ruff's are absolute, so the same project gives the same report on
every machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from torchlift import __version__
from torchlift.finding import Safety
from torchlift.json_records.writing import plain
from torchlift.migrate.result import RunResult
from torchlift.migrate.tell.report.groups import row_of
from torchlift.migrate.tell.report.items import Item, items
from torchlift.migrate.tell.report.json_schema import (
    SCHEMA_VERSION,
    Counts,
    Location,
    MigrateReport,
    RefusedFile,
    ReportedDrop,
    ReportedEdit,
    ReportedFailure,
    ReportedFinding,
    ReportedFix,
)
from torchlift.migrate.tell.report.paths import from_here
from torchlift.source import SourceText


def render(result: RunResult, *, root: Path, names: Mapping[str, str], urls: Mapping[str, str]) -> str:
    """The report as ASCII text; the same run gives the same bytes.

    Args:
        result: the run.
        root: project root.
        names: rule names by code.
        urls: documentation addresses by code.
    """
    return json.dumps(plain(report(result, root=root, names=names, urls=urls)), indent=2) + "\n"


def report(result: RunResult, *, root: Path, names: Mapping[str, str], urls: Mapping[str, str]) -> MigrateReport:
    """The report as a record; arguments as for `render`."""
    listed = sorted(items(result), key=lambda item: (item.finding.sort_key(), item.fixed))
    return MigrateReport(
        schema_version=SCHEMA_VERSION,
        torchlift_version=__version__,
        mode=result.mode,
        unsafe_fixes=result.unsafe_fixes,
        evidence=result.evidence,
        target=str(result.target),
        min_torch=str(result.min_torch),
        min_torch_source=result.min_torch_source,
        root=from_here(root),
        findings=[_finding(item, names, urls) for item in listed],
        refused=[
            RefusedFile(outcome.path, outcome.refused) for outcome in result.outcomes if outcome.refused is not None
        ],
        failures=[
            ReportedFailure(failure.path, failure.stage, failure.reason, failure.ours) for failure in result.failures
        ],
        notes=result.notes,
        summary=_counts(result, listed),
    )


def _finding(item: Item, names: Mapping[str, str], urls: Mapping[str, str]) -> ReportedFinding:
    finding = item.finding
    fix = None
    if finding.fix is not None:
        edits = [_edit(item.source, edit.span.start, edit.span.end, edit.text) for edit in item.edits]
        fix = ReportedFix(finding.fix.safety, finding.fix.title, edits)
    return ReportedFinding(
        code=finding.code,
        name=names.get(finding.code),
        message=finding.message,
        help=finding.help or None,
        notes=finding.notes,
        waits_for=finding.waits_for or None,
        dropped=ReportedDrop(finding.dropped.by, finding.dropped.error) if finding.dropped is not None else None,
        severity=finding.severity,
        filename=finding.path,
        cell=item.source.part(row_of(item)).number,
        location=_location(item.source, item.span.start),
        end_location=_location(item.source, item.span.end),
        fixed=item.fixed,
        fix=fix,
        url=urls.get(finding.code),
    )


def _edit(source: SourceText, start: int, end: int, text: str) -> ReportedEdit:
    return ReportedEdit(text, _location(source, start), _location(source, end))


def _location(source: SourceText, offset: int) -> Location:
    row = source.location(offset)[0]
    return Location(row - source.part(row).first + 1, source.column(offset))


def _counts(result: RunResult, listed: list[Item]) -> Counts:
    safeties = [item.finding.safety for item in listed if not item.fixed]
    return Counts(
        files_seen=result.files_seen,
        files_analysed=result.files_analysed,
        files_changed=len({item.finding.path for item in listed if item.fixed}),
        fixed=len(listed) - len(safeties),
        left=len(safeties),
        safe=safeties.count(Safety.SAFE),
        proven=safeties.count(Safety.PROVEN),
        unsafe=safeties.count(Safety.UNSAFE),
        manual=safeties.count(Safety.MANUAL),
        suppressed=result.suppressed,
        known=result.known,
    )
