"""What rank 0 makes of what comes, comes late, comes broken or does not come; no process is started."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from doctor_machines import healthy

from torchlift.doctor.fleet.exchange import _gathered
from torchlift.doctor.fleet.exchange_child import bus_bandwidths, gather
from torchlift.doctor.fleet.record import Record, to_object

JOB = {"world_size": 2, "join_timeout": 60.0, "dead_after": 60.0, "deadline": 600.0}


class Store:
    """Rank 1 shows signs of life, and has its record after some looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def check(self, keys: list[str]) -> bool:
        if keys == ["record/1"]:
            self.looks -= 1
            return self.looks < 0
        return True

    def get(self, key: str) -> bytes:
        return b"{}" if key == "record/1" else str(self.looks).encode()


def test_a_rank_that_takes_its_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    records: dict[int, str] = {0: "{}"}
    assert (gather(Store(3), JOB, records), records) == ({}, {0: "{}", 1: "{}"})


@pytest.mark.parametrize(
    ("limit", "why"), [("dead_after", "no sign of life for -1 s"), ("deadline", "was not done after -1 s")]
)
def test_a_rank_is_given_up_at_its_limit(limit: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert why in gather(Store(3), {**JOB, limit: -1.0}, {0: "{}"})[1]


def test_a_record_that_cannot_be_used_is_told_and_the_others_are_taken() -> None:
    good = json.dumps(to_object(Record("n1", 1, healthy("healthy_h100"))))
    found = _gathered({"records": {"0": "no json", "1": good, "2": '{"record": 99}'}}, None)
    assert [(record.node, record.rank) for record in found.records] == [("n1", 1)]
    assert found.missing.keys() == {0, 2} and "same torchlift" in found.missing[2]


def test_bandwidth_is_told_for_each_size() -> None:
    torch = pytest.importorskip("torch")

    class Dist:
        class ReduceOp:
            MAX = "max"

        @staticmethod
        def all_reduce(values: Any, op: str = "sum") -> None:
            """Alone, a rank has the sum already."""

    found = bus_bandwidths(torch, Dist, "cpu", 2, [64, 128])
    assert found.keys() == {"64", "128"} and all(rate > 0 for rate in found.values())
