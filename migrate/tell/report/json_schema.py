"""The shape of the `json` report, and its JSON schema.

`schema_version` rises when a key goes away or changes its meaning. New keys may come at any time: a reader ignores what it
does not know.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from torchlift.finding import Safety, Severity
from torchlift.json_records.schema import schema_of
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.result import Mode

SCHEMA_VERSION: Final = 1

Count = Annotated[int, {"minimum": 0}]
Ordinal = Annotated[int, {"minimum": 1}]


@dataclass(frozen=True)
class Location:
    """A place between characters."""

    row: Ordinal
    """Line; lines end at LF, CRLF and lone CR, as in Python."""
    column: Ordinal
    """Column in code points; a byte-order mark is not counted."""


@dataclass(frozen=True)
class ReportedEdit:
    """One replacement."""

    content: str
    """New text."""
    location: Location
    end_location: Location


@dataclass(frozen=True)
class ReportedFix:
    """A change that makes the finding go away."""

    applicability: Annotated[Safety, {"enum": ["safe", "proven", "unsafe"]}]
    """`proven` fixes rest on recorded runs, which the notes of the finding tell of. `unsafe` fixes rest on an assumption that the
    finding names, and are applied only on demand."""
    message: str
    """What applying it does."""
    edits: list[ReportedEdit]
    """Replacements in the text that the finding's locations refer to, in ascending order and without overlap. Empty where
    they were not made: for fixed findings, and in files where nothing can be applied."""


@dataclass(frozen=True)
class ReportedDrop:
    """What stands against a fix that `--verify` tried and left out."""

    by: str
    """What fails with it: a test, a function that returns something else, or the command."""
    error: str
    """The line that says how."""


@dataclass(frozen=True)
class ReportedFinding:
    """One place that breaks, or will."""

    code: str
    """Stable rule code, such as `TL101`."""
    name: str | None
    """Name of the rule."""
    message: str
    """What is wrong and why."""
    help: str | None
    """What to do where there is no fix, or what the fix assumes."""
    notes: tuple[str, ...]
    """What the message rests on, step by step."""
    waits_for: str | None
    """`path:line` of the place that has to change before anything can be done here; null if there is none."""
    dropped: ReportedDrop | None
    """What stands against its fix, which was tried and left out; null if it was not."""
    severity: Severity
    """How much it matters at the target release."""
    filename: str
    """Path relative to `root`, with forward slashes."""
    cell: int | None
    """In a notebook the number of the cell among all its cells, from 1; rows are counted in it. Null elsewhere."""
    location: Location
    end_location: Location
    fixed: bool
    """Whether its fix is part of the file's new text: written in mode `write`, shown as a patch in mode `diff`. Locations of
    fixed findings are in the text as it was read, those of other findings in the new text, if any."""
    fix: ReportedFix | None
    url: str | None
    """Where the rule is explained."""


@dataclass(frozen=True)
class RefusedFile:
    """A file left as it was although there was something to write."""

    path: str
    """Path relative to `root`, with forward slashes."""
    reason: str
    """Why, and what would allow it."""


@dataclass(frozen=True)
class ReportedFailure:
    """One failure."""

    path: str
    """Path relative to `root`, with forward slashes."""
    stage: str
    """What was being done: `read`, `parse`, `rule TL101`, `verify`, `write`."""
    reason: str
    """What happened."""
    ours: bool
    """Whether it is a defect of torchlift and not of the input."""


@dataclass(frozen=True)
class Counts:
    """Counts."""

    files_seen: Count
    """Files looked at."""
    files_analysed: Count
    """Files that mention something a rule knows, and were parsed."""
    files_changed: Count
    """Files with fixes written, or shown as a patch."""
    fixed: Count
    """Findings whose `fixed` is true."""
    left: Count
    """Findings whose `fixed` is false."""
    safe: Count
    """Findings left with a safe fix."""
    proven: Count
    """Findings left with a fix that recorded runs prove."""
    unsafe: Count
    """Findings left with a fix that needs review."""
    manual: Count
    """Findings left without a fix."""
    suppressed: Count
    """Findings silenced by comments; they are not listed."""
    known: Count
    """Findings that the baseline has; they are not listed."""


@dataclass(frozen=True)
class MigrateReport:
    """What one run of `torchlift migrate` found and did."""

    schema_version: Literal[1]
    torchlift_version: str
    """Version of torchlift."""
    mode: Mode
    """What was asked for."""
    unsafe_fixes: bool
    """Whether fixes that need review were to be applied too."""
    evidence: str | None
    """The file of recorded runs that was taken into account, as it was named."""
    target: str
    """torch release the project moves to."""
    min_torch: str
    """Lowest torch release the project supports."""
    min_torch_source: str | None
    """Where that bound was read, or what needs it; null where it is assumed."""
    root: str
    """Project root as seen from the working directory of the run."""
    findings: list[ReportedFinding]
    """Fixed findings and those that are left, by file and place."""
    refused: list[RefusedFile]
    """Files left as they were although there was something to write."""
    failures: list[ReportedFailure]
    """What torchlift could not do; any failure makes the exit code 2."""
    notes: tuple[str, ...]
    """Remarks on the whole run."""
    summary: Counts


def migrate_schema() -> dict[str, Any]:
    """The schema (JSON Schema, draft 2020-12)."""
    return schema_of(MigrateReport, "torchlift migrate report")
