"""The published JSON schema of a fleet's report:

python -m torchlift.doctor.fleet.schema > doctor/fleet.schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

from torchlift.doctor.fleet.json_report import FLEET_SCHEMA
from torchlift.doctor.report.schema import report_schema

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_NUMBER = {"type": "integer"}


def fleet_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12); the report of each machine is the one of `doctor/report.schema.json`."""
    machine = report_schema()
    definitions = machine.pop("$defs")
    del machine["$schema"]
    definitions["Report"] = machine
    reasons = _list({"rank": _NUMBER, "reason": _TEXT})
    properties = {
        "fleet_schema": {"const": FLEET_SCHEMA},
        "torchlift": {**_TEXT, "description": "Version of torchlift."},
        "verdict": _TEXT,
        "health": {"enum": ["healthy", "problems"]},
        "exit_code": {"enum": [0, 1]},
        "strict": {"type": "boolean", "description": "Differences of weight count as problems."},
        "machines": _list(
            {
                "name": _TEXT,
                "ranks": {"type": "array", "items": _NUMBER},
                "fit": {"type": "boolean", "description": "Whether the machine, taken alone, is healthy."},
                "error": {**_TEXT_OR_NULL, "description": "Why there is no report."},
                "report": {"anyOf": [{"$ref": "#/$defs/Report"}, {"type": "null"}]},
                "smokes": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"rank": {"type": ["integer", "null"]}, "id": _TEXT, "outcome": _TEXT},
                        "required": ["rank", "id", "outcome"],
                    },
                },
            }
        ),
        "differences": _list(
            {
                "aspect": {**_TEXT, "description": "Stable id."},
                "title": _TEXT,
                "weight": {"enum": ["warning", "note"]},
                "majority": {**_TEXT_OR_NULL, "description": "What more than half of the machines have."},
                "machines": {**_TEXTS, "description": "Those of the majority."},
                "others": _list({"value": _TEXT, "machines": _TEXTS}),
            }
        ),
        "missing": reasons,
        "collectives": _list({"backend": _TEXT, "ranks": _NUMBER, "seconds": {"type": "number"}, "failed": reasons}),
        "skipped_collectives": {**_TEXT_OR_NULL, "description": "Why none was tried, where one was due."},
        "error": {**_TEXT_OR_NULL, "description": "What cut the exchange short."},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"torchlift doctor report of several machines, schema {FLEET_SCHEMA}",
        **_object(properties),
        "$defs": definitions,
    }


def schema_text() -> str:
    """The schema as the file has it."""
    return json.dumps(fleet_schema(), indent=2) + "\n"


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


if __name__ == "__main__":
    sys.stdout.write(schema_text())
