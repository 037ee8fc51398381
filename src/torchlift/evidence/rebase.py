"""Evidence as it reads from another folder: a run is recorded for a repository, of which a project may be one folder."""

from __future__ import annotations

import posixpath
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from torchlift.evidence.records import RecordedEvidence

# Fields that hold a path, a place (`path:line:column`) or an id that begins with one; `sites` also holds records.
_PLACES: Final = frozenset({"file", "path", "site", "sites", "id", "readers", "writers"})


def seen_from(evidence: RecordedEvidence, folder: str) -> RecordedEvidence:
    """A copy whose paths are relative to `folder`, a path below the root of the recording; what is elsewhere gets `../`."""
    moved: RecordedEvidence = _moved(evidence, folder)
    return moved


def _moved(record: Any, folder: str) -> Any:
    changed = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if is_dataclass(value):
            changed[field.name] = _moved(value, folder)
        elif isinstance(value, str) and field.name in _PLACES:
            changed[field.name] = posixpath.relpath(value, folder)
        elif isinstance(value, list):
            changed[field.name] = [_item(item, field.name, folder) for item in value]
    return replace(record, **changed)


def _item(item: Any, field: str, folder: str) -> Any:
    if is_dataclass(item):
        return _moved(item, folder)
    return posixpath.relpath(item, folder) if isinstance(item, str) and field in _PLACES else item
