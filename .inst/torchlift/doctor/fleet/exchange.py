"""All ranks' records on rank 0, through a child of the examined interpreter that has torch."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from torchlift.doctor.facts.facts_json import FactsError
from torchlift.doctor.fleet.launch import Launch
from torchlift.doctor.fleet.record import Record, from_object, to_object
from torchlift.doctor.probes.child import Child
from torchlift.lazy_dataclass import dataclass

_CHILD = Path(__file__).with_name("exchange_child.py")


_SIZES = {"gloo": [4 << 20], "nccl": [16 << 20, 128 << 20, 1 << 30]}
"""Bytes of an all_reduce whose rate is measured. A network of processors would take minutes for more."""


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds.

    Attributes:
        join: for a rank to appear at all.
        silent: for a sign of life of one that appeared (it gives one a second).
        examination: for a living rank to finish its examination, after rank 0 finished its own.
        collective: for one all_reduce, its rendezvous included.
    """

    join: float = 60.0
    silent: float = 30.0
    examination: float = 600.0
    collective: float = 60.0


@dataclass(frozen=True)
class Collective:
    """An all_reduce over all ranks; `failed` names the reason by rank, and is empty when the sum was right everywhere.

    `bus_bandwidth`, in bytes a second as nccl-tests count it, is there after a burn only.
    """

    backend: str
    ranks: int
    seconds: float
    failed: Mapping[int, str]
    bus_bandwidth: float | None = None


@dataclass
class Gathered:
    """What rank 0 got together.

    Attributes:
        records: one a rank that answered.
        missing: by rank, why there is none.
        collectives: in the order tried; none where a rank is missing, which would only wait for it.
        error: why there was no exchange at all, or why it ended early.
    """

    records: list[Record] = field(default_factory=list)
    missing: dict[int, str] = field(default_factory=dict)
    collectives: list[Collective] = field(default_factory=list)
    error: str | None = None


class FactsExchange:
    """Starts to meet the other ranks at once, so that they see this one live while it examines its machine."""

    def __init__(
        self, launch: Launch, python: str, environment: Mapping[str, str], patience: Patience, *, burn: bool = False
    ) -> None:
        """Start the child. `python` is an interpreter with torch; with `burn` the collectives' rates are measured."""
        self._launch = launch
        self._folder = tempfile.TemporaryDirectory(prefix="torchlift-fleet-", ignore_cleanup_errors=True)
        self._file = Path(self._folder.name, "record.json")
        job = {
            "rank": launch.rank,
            "world_size": launch.world_size,
            "local_rank": launch.local_rank,
            "host": launch.host,
            "port": launch.port,
            "store_is_up": launch.store_is_up,
            "run": launch.run,
            "record": str(self._file),
            "parent": os.getpid(),
            "join_timeout": patience.join,
            "dead_after": patience.silent,
            "deadline": patience.examination,
            "collective_timeout": patience.collective,
            "sizes": _SIZES if burn else {},
        }
        # Its own examination may take as long as that of the others.
        whole = 2 * patience.examination + patience.join + 3 * patience.collective + 30
        self._child = Child([python, str(_CHILD)], job, whole, environment).start()

    def finish(self, record: Record) -> Gathered:
        """Hand in this rank's record; on rank 0 all that came, elsewhere nothing but an error if there was one."""
        unfinished = self._file.with_suffix(".part")
        unfinished.write_text(json.dumps(to_object(record)), encoding="utf-8")
        unfinished.replace(self._file)
        try:
            result = self._child.result()
        finally:
            self._child.stop()
            self._folder.cleanup()
        value: dict[str, Any] = result.value if isinstance(result.value, dict) else {}
        error = value.get("error") or (None if result.outcome == "ok" else f"the exchange ended early: {result.detail}")
        gathered = _gathered(value, error)
        if self._launch.rank == 0 and not any(found.rank == 0 for found in gathered.records):
            gathered.records.insert(0, record)
        return gathered

    def stop(self) -> None:
        """Leave without a word."""
        self._child.stop()
        self._folder.cleanup()


def _gathered(value: Mapping[str, Any], error: str | None) -> Gathered:
    gathered = Gathered(error=error, missing={int(rank): why for rank, why in value.get("missing", {}).items()})
    for rank, text in value.get("records", {}).items():
        try:
            found = from_object(json.loads(text))
        except (FactsError, ValueError) as problem:
            gathered.missing[int(rank)] = f"sent a record that cannot be used: {problem}"
            continue
        found.rank = int(rank)
        gathered.records.append(found)
    for item in value.get("collectives", []):
        failed = {int(rank): why for rank, why in item["failed"].items()}
        tried = Collective(item["backend"], item["ranks"], item["seconds"], failed, item.get("bus_bandwidth"))
        gathered.collectives.append(tried)
    return gathered
