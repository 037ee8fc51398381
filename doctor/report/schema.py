"""The published JSON schema of the report:

python -m torchlift.doctor.report.schema > doctor/report.schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any, get_args

from torchlift.doctor.check import GROUPS, Confidence, Status
from torchlift.doctor.examination import Health
from torchlift.doctor.facts.facts_schema import facts_schema
from torchlift.doctor.report.json_report import REPORT_SCHEMA
from torchlift.doctor.smoke.parent.schema import smoke_properties, smokes_properties
from torchlift.wheels.answer import Kind

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_TEXTS = {"type": "array", "items": _TEXT}


def report_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12)."""
    facts = facts_schema()
    definitions = facts.pop("$defs")
    del facts["$schema"]
    result = {
        "status": {"enum": list(get_args(Status))},
        "summary": {"type": "string", "description": "One sentence without a final full stop."},
        "evidence": {"type": "array", "items": {"$ref": "#/$defs/Evidence"}},
        "remedy": _or_null("Remedy"),
        "confidence": {"enum": list(get_args(Confidence))},
        "link": _TEXT_OR_NULL,
        "cause": {**_TEXT_OR_NULL, "description": "Id of the check whose problem explains this one."},
    }
    checked = {
        "check": {"type": "string", "description": "Id of the check."},
        "group": {"enum": list(GROUPS)},
        **result,
        "below": {**_TEXT_OR_NULL, "description": "Id of the check whose result the text report puts this one under."},
    }
    choice = {
        "torch": _TEXT,
        "build": _TEXT,
        "index": _TEXT_OR_NULL,
        "pip": _TEXT,
        "uv": _TEXT,
        "reasons": _TEXTS,
        "warnings": _TEXTS,
        "sources": _TEXTS,
        "measured": {"type": "boolean"},
    }
    part = {"type": "array", "prefixItems": [_TEXTS, {"$ref": "#/$defs/Choice"}], "minItems": 2, "maxItems": 2}
    answer = {
        "kind": {"enum": list(get_args(Kind))},
        "summary": _TEXT,
        "choice": _or_null("Choice"),
        "alternatives": {"type": "array", "items": {"$ref": "#/$defs/Choice"}},
        "upgrade_driver": _TEXT_OR_NULL,
        "then": _or_null("Choice"),
        "parts": {"type": "array", "items": part, "description": "Names of GPUs, and the wheel for these."},
        "reasons": _TEXTS,
        "data_note": _TEXT_OR_NULL,
    }
    definitions |= {
        "Facts": facts,
        "Evidence": _object({"what": _TEXT, "seen": _TEXT, "needed": _TEXT_OR_NULL, "source": _TEXT}),
        "Remedy": _object({"text": _TEXT, "command": _TEXT_OR_NULL}),
        "Result": _object(checked),
        "ProjectResult": _object(result),
        "Choice": _object(choice),
        "Answer": _object(answer),
        "Smoke": _object(smoke_properties()),
        "Smokes": _object({**smokes_properties(), "results": {"type": "array", "items": {"$ref": "#/$defs/Smoke"}}}),
        "Project": _object(
            {"path": _TEXT, "results": {"type": "array", "items": {"$ref": "#/$defs/ProjectResult"}}, "notes": _TEXTS}
        ),
    }
    whole = {
        "schema": {"const": REPORT_SCHEMA},
        "torchlift": {"type": "string", "description": "Version of torchlift."},
        "verdict": {"type": "string", "description": "The first line of the text report."},
        "health": {"enum": list(get_args(Health))},
        "exit_code": {"enum": [0, 1, 2]},
        "strict": {"type": "boolean"},
        "wanted": {**_TEXT_OR_NULL, "description": "The requirement of --for."},
        "facts": {"$ref": "#/$defs/Facts"},
        "results": {"type": "array", "items": {"$ref": "#/$defs/Result"}},
        "answer": _or_null("Answer"),
        "project": _or_null("Project"),
        "smokes": _or_null("Smokes"),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"torchlift doctor report, schema {REPORT_SCHEMA}",
        **_object(whole),
        "$defs": definitions,
    }


def schema_text() -> str:
    """The schema as the file has it."""
    return json.dumps(report_schema(), indent=2) + "\n"


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _or_null(name: str) -> dict[str, Any]:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]}


if __name__ == "__main__":
    sys.stdout.write(schema_text())
