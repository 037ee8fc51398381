"""Facts to JSON and back.

Reading is strict about what is there and lenient about what is not: a field that is missing takes its default, a key
that is not known is ignored (a later torchlift may have added it), anything of another type is refused with a sentence
that names its place. `doctor/facts.schema.json` accepts exactly what `from_json` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torchlift.doctor.facts import FACTS_SCHEMA, Facts
from torchlift.json_records.reading import RecordError, read_record, shown, whole_number
from torchlift.json_records.writing import plain


class FactsError(ValueError):
    """These are no facts that this torchlift can read; the text is a sentence that names the place and the reason."""


def to_json(facts: Facts) -> dict[str, Any]:
    """The facts as plain dictionaries, lists, strings, numbers, booleans and None, with every field present."""
    return plain(facts)


def from_json(value: object) -> Facts:
    """The facts that `to_json` gave, here or in another torchlift with the same schema number.

    Raises `FactsError` when the value is something else.
    """
    if not isinstance(value, Mapping):
        raise FactsError(f"Facts are a JSON object, but this is {shown(value)}.")
    if "schema" not in value:
        raise FactsError(
            "This JSON object has no `schema`, so it is no facts file: one is written by `torchlift doctor --save-facts FILE`."
        )
    schema = whole_number(value["schema"])
    if schema is None:
        raise FactsError(f"`schema` should be a whole number, but is {shown(value['schema'])}.")
    if schema > FACTS_SCHEMA:
        raise FactsError(
            f"These facts have schema {schema}, written by a newer torchlift; this one reads schema {FACTS_SCHEMA}. "
            "Upgrade torchlift: pip install --upgrade torchlift"
        )
    if schema < FACTS_SCHEMA:
        raise FactsError(
            f"These facts have schema {schema}, but this torchlift reads schema {FACTS_SCHEMA}: "
            "save them again with `torchlift doctor --save-facts FILE` on that machine."
        )
    try:
        return read_record(Facts, value)
    except RecordError as error:
        raise FactsError(str(error)) from None


def read_facts(path: Path) -> Facts:
    """The facts of a file. Raises `FactsError`, whose sentence names the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FactsError(f"The facts file {path} cannot be read: {error.strerror or error}.") from None
    try:
        # Bytes, not text: json sees by itself whether it is UTF-8 or the UTF-16 that PowerShell's `>` writes.
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FactsError(f"The facts file {path} is not JSON: {error}.") from None
    try:
        return from_json(value)
    except FactsError as error:
        raise FactsError(f"The facts file {path} cannot be used. {error}") from None
