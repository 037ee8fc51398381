"""The published JSON schemas, made from the records that are read and written:

python -m torchlift.doctor.schemas facts > doctor/facts.schema.json

and so for `report`, `fleet` and `error`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from torchlift.doctor.facts import FACTS_SCHEMA, Facts
from torchlift.doctor.fleet.json_report import FLEET_SCHEMA, FleetReport
from torchlift.doctor.report.explanation import ERROR_SCHEMA, ErrorReport
from torchlift.doctor.report.json_report import REPORT_SCHEMA, DoctorReport
from torchlift.json_records.schema import schema_of, schema_text


def facts_schema() -> dict[str, Any]:
    """The schema of `--save-facts`, and of what `--facts` takes."""
    return schema_of(Facts, f"torchlift doctor facts, schema {FACTS_SCHEMA}", readable=[Facts])


def report_schema() -> dict[str, Any]:
    """The schema of `--json`."""
    return schema_of(DoctorReport, f"torchlift doctor report, schema {REPORT_SCHEMA}", readable=[Facts])


def fleet_schema() -> dict[str, Any]:
    """The schema of `--json` under a launcher; the report of each machine is the one of `report_schema`."""
    return schema_of(
        FleetReport, f"torchlift doctor report of several machines, schema {FLEET_SCHEMA}", readable=[Facts]
    )


def error_schema() -> dict[str, Any]:
    """The schema of `--explain-error` with `--json`."""
    return schema_of(ErrorReport, f"torchlift doctor explanation of an error, schema {ERROR_SCHEMA}", readable=[])


PUBLISHED: Mapping[str, Callable[[], dict[str, Any]]] = {
    "facts": facts_schema,
    "report": report_schema,
    "fleet": fleet_schema,
    "error": error_schema,
}
"""By the name of the file `doctor/NAME.schema.json`."""

if __name__ == "__main__":
    sys.stdout.write(schema_text(PUBLISHED[sys.argv[1]]()))
