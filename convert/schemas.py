"""The published JSON schemas, made from the records that are written:

python -m torchlift.convert.schemas inspect > convert/inspect.schema.json

and so for `convert` and `manifest`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from torchlift.convert.inspection.record import INSPECTION_SCHEMA, Inspections
from torchlift.convert.road.record import CONVERSION_SCHEMA, Conversions, Manifest
from torchlift.json_records.schema import schema_of, schema_text


def inspect_schema() -> dict[str, Any]:
    """The schema of `torchlift inspect --json`."""
    return schema_of(Inspections, f"torchlift inspect, schema {INSPECTION_SCHEMA}")


def convert_schema() -> dict[str, Any]:
    """The schema of `torchlift convert --json`."""
    return schema_of(Conversions, f"torchlift convert, schema {CONVERSION_SCHEMA}")


def manifest_schema() -> dict[str, Any]:
    """The schema of the manifest beside a program."""
    return schema_of(Manifest, f"torchlift convert manifest, schema {CONVERSION_SCHEMA}")


PUBLISHED: Mapping[str, Callable[[], dict[str, Any]]] = {
    "inspect": inspect_schema,
    "convert": convert_schema,
    "manifest": manifest_schema,
}
"""By the name of the file `convert/NAME.schema.json`."""

if __name__ == "__main__":
    sys.stdout.write(schema_text(PUBLISHED[sys.argv[1]]()))
