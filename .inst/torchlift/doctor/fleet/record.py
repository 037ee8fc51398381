"""What one rank tells rank 0."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from torchlift.doctor.facts import Facts
from torchlift.doctor.facts.facts_json import FactsError, from_json
from torchlift.json_records.writing import plain
from torchlift.lazy_dataclass import dataclass

RECORD_SCHEMA = 1
"""Version of the JSON form: ranks with different torchlifts still understand each other, or say that they do not."""


@dataclass
class Record:
    """A rank, its machine and what it tried there.

    Attributes:
        node: the name of the machine.
        rank: among all processes; None for a machine whose facts came as a file.
        facts: None where another rank of the same machine has them.
        smokes: results as JSON objects.
        nccl: this rank has a GPU of its own and a torch for CUDA.
        error: why there are no facts, where nobody has them.
    """

    node: str
    rank: int | None = None
    facts: Facts | None = None
    smokes: list[dict[str, Any]] = field(default_factory=list)
    nccl: bool = False
    error: str | None = None


def to_object(record: Record) -> dict[str, Any]:
    """As a JSON object."""
    return {"record": RECORD_SCHEMA, **plain(record)}


def from_object(value: object) -> Record:
    """What `to_object` gave. Raises `FactsError`, a sentence, when it is something else."""
    if not isinstance(value, dict) or value.get("record") != RECORD_SCHEMA:
        found = value.get("record") if isinstance(value, dict) else None
        raise FactsError(
            f"This is no record of schema {RECORD_SCHEMA} but of {found!r}: run the same torchlift everywhere."
        )
    smokes = value.get("smokes")
    facts = value.get("facts")
    return Record(
        node=str(value.get("node") or "unknown"),
        rank=value["rank"] if isinstance(value.get("rank"), int) else None,
        facts=None if facts is None else from_json(facts),
        smokes=[smoke for smoke in smokes if isinstance(smoke, dict)] if isinstance(smokes, list) else [],
        nccl=value.get("nccl") is True,
        error=None if value.get("error") is None else str(value["error"]),
    )
