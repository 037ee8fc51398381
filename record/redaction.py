"""Leaves out of evidence what names other things than the project's source: tests, archives, the command, texts, errors."""

from __future__ import annotations

import hashlib
from typing import Any

from torchlift.evidence.records import RecordedCall, RecordedEvidence, RecordedValue
from torchlift.record.error_texts import kind_of_error, reworded


def redacted(evidence: RecordedEvidence) -> RecordedEvidence:
    """The same evidence, changed in place. Files, lines and names of classes stay: without them it could not be used."""
    evidence.command = [_hashed(word) for word in evidence.command]
    for site in evidence.sites:
        site.tests = [_hashed(test) for test in site.tests]
        for failed in site.failed:
            failed.message = ""
            failed.tests = [_hashed(test) for test in failed.tests]
        for value in site.values:
            _redact_value(value)
    for load in evidence.loads:
        _redact_calls(load.calls)
    reworded(evidence, kind_of_error)
    return evidence


def _redact_calls(calls: list[RecordedCall]) -> None:
    for call in calls:
        call.tests = [_hashed(test) for test in call.tests]
        call.args = [_without_texts(item) for item in call.args]
        call.kwargs = {name: _without_texts(item) for name, item in call.kwargs.items()}
        call.out = _without_texts(call.out)


def _redact_value(value: RecordedValue) -> None:
    _redact_calls(value.calls)
    if value.example is not None:
        value.example.args = [_without_texts(item) for item in value.example.args]
        value.example.kwargs = {name: _without_texts(item) for name, item in value.example.kwargs.items()}
    for written in value.wrote:
        written.path = None if written.path is None else _hashed(written.path)
        written.extra_files = [_hashed(name) for name in written.extra_files]


def _without_texts(item: Any) -> Any:
    if isinstance(item, list):
        return [_without_texts(one) for one in item]
    if isinstance(item, dict):
        if isinstance(item.get("str"), str):
            return {"str": len(item["str"])}
        return {key: _without_texts(one) if key != "namedtuple" else one for key, one in item.items()}
    return item


def _hashed(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
