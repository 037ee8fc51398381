"""The evidence file on disk: read with a sentence for whatever is wrong with it, written so that diffs are small.

Keys are sorted and lists have an order of their own, so that equal evidence is equal bytes. Fields that have their
default are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

from torchlift.evidence.records import EVIDENCE_SCHEMA, RecordedCall, RecordedEvidence, RecordedSite
from torchlift.file_bytes import file_bytes
from torchlift.json_records.reading import RecordError, read_record, shown, whole_number
from torchlift.whole_file import write_whole


class EvidenceError(ValueError):
    """This is no evidence that can be used; the text is a sentence that names the file and the reason."""


def read_evidence(path: Path) -> RecordedEvidence:
    """The evidence of a file. Raises `EvidenceError`."""
    try:
        data = file_bytes(path)
    except OSError as error:
        raise EvidenceError(
            f"The evidence file {path} cannot be read: {error.strerror or error}. `torchlift record -- COMMAND` writes one."
        ) from None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"The evidence file {path} is not JSON: {error}.") from None
    try:
        return _evidence(value)
    except RecordError as error:
        raise EvidenceError(f"The evidence file {path} cannot be used. {error}") from None


def _evidence(value: object) -> RecordedEvidence:
    if not isinstance(value, Mapping):
        raise RecordError(f"Evidence is a JSON object, but this is {shown(value)}.")
    if "schema_version" not in value:
        raise RecordError("It has no `schema_version`: `torchlift record -- COMMAND` writes evidence files.")
    version = whole_number(value["schema_version"])
    if version is None:
        raise RecordError(f"`schema_version` should be a whole number, but is {shown(value['schema_version'])}.")
    if version != EVIDENCE_SCHEMA:
        raise RecordError(
            f"It has schema {version}, and this torchlift reads schema {EVIDENCE_SCHEMA}: "
            + ("upgrade torchlift." if version > EVIDENCE_SCHEMA else "record it again.")
        )
    return read_record(RecordedEvidence, value)


def evidence_text(evidence: RecordedEvidence) -> str:
    """The file's text, ASCII; equal evidence gives equal text. Puts lists into their order."""
    return json.dumps(_short(_ordered(evidence)), indent=1, sort_keys=True) + "\n"


def write_evidence(path: Path, evidence: RecordedEvidence) -> None:
    """Write the file: all of the new text or all of the old. Folders are made.

    Raises:
        OSError: it cannot be written.
    """
    write_whole(path, evidence_text(evidence).encode("ascii"))


def _ordered(evidence: RecordedEvidence) -> RecordedEvidence:
    evidence.sites.sort(key=lambda site: (site.file, site.line, site.column, site.api))
    for site in evidence.sites:
        _order_site(site)
    evidence.files.sort(key=lambda archive: archive.content)
    for archive in evidence.files:
        archive.writers.sort()
        archive.readers.sort()
    for load in evidence.loads:
        load.calls.sort(key=_order_of_call)
    evidence.loads.sort(key=lambda load: (load.site, load.content or ""))
    evidence.distributed.sort(key=lambda group: (group.site or "", group.world, group.backend or ""))
    evidence.problems.sort(key=lambda problem: (problem.what, problem.site or "", problem.error))
    return evidence


def _order_site(site: RecordedSite) -> None:
    site.tests.sort()
    site.keywords.sort()
    site.values.sort(key=lambda value: value.id)
    site.failed.sort(key=lambda capture: (capture.error, capture.message))
    for capture in site.failed:
        capture.tests.sort()
    for value in site.values:
        value.calls.sort(key=_order_of_call)
        value.operations.sort(key=lambda touch: (touch.name, touch.detail or ""))
        value.attributes.sort(key=lambda touch: touch.name)
        for touch in (*value.operations, *value.attributes):
            touch.sites.sort()
        value.wrote.sort(key=lambda written: (written.path or "", written.content))
        value.classes.sort(key=lambda source: source.name)


def _order_of_call(call: RecordedCall) -> str:
    call.tests.sort()
    return json.dumps([call.method, call.site, call.args, call.kwargs, call.via, call.training], sort_keys=True)


def _short(value: Any) -> Any:
    """The value as JSON, without fields that have their default."""
    if is_dataclass(value):
        kept = {}
        for field in fields(value):
            content = getattr(value, field.name)
            if field.metadata.get("required") or not _is_default(field, content):
                kept[field.name] = _short(content)
        return kept
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, (list, tuple)) else value


def _is_default(field: Field[Any], content: Any) -> bool:
    if field.default_factory is not MISSING:
        return bool(content == field.default_factory())
    return field.default is not MISSING and type(content) is type(field.default) and bool(content == field.default)
