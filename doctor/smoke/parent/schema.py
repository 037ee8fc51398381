"""The shape of the smokes' part of the JSON report."""

from __future__ import annotations

from typing import Any, get_args

from torchlift.doctor.smoke.parent.outcome import Outcome
from torchlift.doctor.smoke.parent.report import SMOKE_SCHEMA
from torchlift.doctor.smoke.smoke import TIERS

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_NUMBER_OR_NULL = {"type": ["number", "null"]}


def smoke_properties() -> dict[str, Any]:
    """Properties of one result."""
    return {
        "id": _TEXT,
        "device": _TEXT,
        "tier": {"enum": list(TIERS)},
        "title": _TEXT,
        "outcome": {"enum": list(get_args(Outcome))},
        "seconds": {**_NUMBER_OR_NULL, "description": "Of the smoke itself; null when it did not end."},
        "wall": {**_NUMBER_OR_NULL, "description": "From the request to the answer."},
        "error": _NUMBER_OR_NULL,
        "limit": {**_NUMBER_OR_NULL, "description": "It passes while the error is at most this."},
        "reason": _TEXT_OR_NULL,
        "signature": {**_TEXT_OR_NULL, "description": "Id of the known failure."},
        "cause": _TEXT_OR_NULL,
        "remedy": _TEXT_OR_NULL,
        "likely": {"type": "boolean", "description": "The cause is a common one, not a certain one."},
        "signal": _TEXT_OR_NULL,
        "details": {"type": "object"},
        "output": {**_TEXT_OR_NULL, "description": "The last that it printed, for failures only."},
    }


def smokes_properties() -> dict[str, Any]:
    """Properties of the whole, without the results."""
    return {
        "schema": {"const": SMOKE_SCHEMA},
        "tier": {"enum": [*TIERS, None]},
        "python": _TEXT,
        "torch": _TEXT_OR_NULL,
        "import_seconds": _NUMBER_OR_NULL,
        "devices": {"type": "object", "additionalProperties": _TEXT_OR_NULL},
        "note": _TEXT_OR_NULL,
        "problem": _TEXT_OR_NULL,
        "signature": _TEXT_OR_NULL,
        "cause": _TEXT_OR_NULL,
        "remedy": _TEXT_OR_NULL,
        "failed": {"type": "boolean"},
    }
