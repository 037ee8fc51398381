"""Machines from files: facts that `--save-facts` wrote, or reports that `--json` wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from torchlift.doctor.facts.facts_json import FactsError, from_json
from torchlift.doctor.fleet.record import Record


def records_of(paths: Sequence[Path]) -> list[Record]:
    """One record a file, named after it. Raises `FactsError`, a sentence that names the file."""
    names = _names(paths)
    return [_record(path, name) for path, name in zip(paths, names, strict=True)]


def _record(path: Path, name: str) -> Record:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise FactsError(f"The file {path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise FactsError(f"The file {path} is not JSON: {error}.") from None
    smokes: list[object] = []
    if isinstance(value, dict) and isinstance(value.get("facts"), dict):
        found = value.get("smokes")
        smokes = found.get("results", []) if isinstance(found, dict) else []
        value = value["facts"]
    try:
        facts = from_json(value)
    except FactsError as error:
        raise FactsError(f"The file {path} cannot be used. {error}") from None
    return Record(name, None, facts, [smoke for smoke in smokes if isinstance(smoke, dict)])


def _names(paths: Sequence[Path]) -> list[str]:
    """As short as they can be while all differ: the name without its ending, else with its folder, else all of it."""
    for spelled in (lambda path: path.stem, lambda path: f"{path.parent.name}/{path.stem}", str):
        names = [spelled(path) for path in paths]
        if max(Counter(names).values(), default=0) <= 1:
            return names
    return [f"{path} ({number})" for number, path in enumerate(paths, 1)]
