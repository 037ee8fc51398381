"""The burn tier runs for real on the CPU, with small sizes; what breaks under load is told."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from torchlift.doctor.smoke.bench import Bench
from torchlift.doctor.smoke.loading import load_smoke
from torchlift.doctor.smoke.parent.runner import Plan, choose
from torchlift.doctor.smoke.smoke import tiers_of
from torchlift.doctor.smoke.smokes import burn_collectives, burn_matmul, burn_memory
from torchlift.doctor.smoke.sustained import Course, sustained

pytestmark = pytest.mark.xdist_group("smokes")


def _bench(kind: str = "cpu", version: str = "2.13.0", **facts: Any) -> Bench:
    name = "cpu" if kind == "cpu" else "cuda:0"
    module = torch if kind == "cpu" else SimpleNamespace(__version__=version)
    return Bench(module, {"name": name, "kind": kind, **facts}, seconds=0.3)


def test_a_burn_is_the_quick_tier_and_its_own_smokes_and_no_compilers() -> None:
    assert tiers_of("burn") == ("quick", "burn")
    assert tiers_of("full") == ("quick", "default", "full")
    assert {each.smoke.tier for each in choose(Plan("", tier="burn"))} == {"quick", "burn"}
    assert "burn" not in {each.smoke.tier for each in choose(Plan("", tier="full"))}


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(("burn-matmul", "burn-memory"), id="one process"),
        pytest.param(("burn-matmul", "burn-memory", "burn-collectives"), id="ranks, too", marks=pytest.mark.exhaustive),
    ],
)
def test_a_burn_on_the_cpu_passes_and_tells_its_rates(ids: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", "doctor", "--device", "cpu", "--burn-seconds", "1", "--json"]
        + [f"--smoke-only={id}" for id in ids],
        capture_output=True,
        text=True,
        check=False,
    )
    results = {each["id"]: each for each in json.loads(done.stdout)["smokes"]["results"]}
    assert {id: results[id]["outcome"] for id in ids} == dict.fromkeys(ids, "pass"), done.stdout
    assert set(results["burn-matmul"]["details"]["rates"]) == {"fp64", "fp32", "bf16"}
    assert results["burn-memory"]["details"]["tested"] > 0
    assert all(rate["rate"] > 0 for each in results.values() for rate in each["details"]["rates"].values())


@pytest.mark.parametrize(
    ("facts", "types"),
    [
        ({"capability": [6, 1]}, "fp64 fp32 fp16"),
        ({"capability": [7, 0]}, "fp64 fp32 fp16"),
        ({"capability": [8, 0]}, "fp64 tf32 fp16 bf16"),
        ({"capability": [8, 9]}, "fp64 tf32 fp16 bf16 fp8"),
        ({"capability": [9, 0]}, "fp64 tf32 fp16 bf16 fp8"),
        ({"capability": [9, 0], "version": "2.1.2"}, "fp64 tf32 fp16 bf16"),
        ({"kind": "rocm", "architecture": "gfx942:sramecc+:xnack-"}, "fp64 fp32 fp16 bf16 fp8"),
        ({"kind": "rocm", "architecture": "gfx90a"}, "fp64 fp32 fp16 bf16"),
    ],
)
def test_a_card_is_burnt_in_the_types_it_has(facts: dict[str, Any], types: str) -> None:
    assert burn_matmul.types_of(_bench(**{"kind": "cuda", **facts})) == types.split()


def test_a_rate_that_falls_is_told_by_what_it_kept() -> None:
    course = Course(0.0, 1.0, [100.0] * 10 + [40.0] * 10)
    assert course.kept_up == 40.0
    assert course.told()["best"] == 100.0
    assert len(Course(0.0, 1.0, [1.0] * 1000).told()["course"]) <= 60


def test_a_load_lasts_as_long_as_asked_and_is_checked_between_windows() -> None:
    checks: list[int] = []
    course = sustained(
        _bench(), lambda: sum(range(1000)), amount=1.0, seconds=0.2, check=lambda: checks.append(1), window=0.02
    )
    assert 0.2 <= course.ended - course.begun < 2
    assert len(checks) == len(course.rates) + 1 and len(checks) >= 4


def test_a_product_that_changes_under_load_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    real = torch.mm

    def sometimes_wrong(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        found = real(*arguments, **options)
        found[3, 5] += calls
        return found

    monkeypatch.setattr(torch, "mm", sometimes_wrong)
    measured = burn_matmul.run(_bench())
    assert measured.error is not None and measured.limit is not None and measured.error > measured.limit
    assert "under load" in measured.details["worst"]


def test_a_word_that_does_not_keep_its_bits_fails_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    real = torch.Tensor.fill_

    def stuck_bit(block: Any, value: Any) -> Any:
        real(block, value)
        block[7] |= 1 << 9
        return block

    monkeypatch.setattr(torch.Tensor, "fill_", stuck_bit)
    measured = burn_memory.run(_bench())
    assert measured.error is not None and measured.error > 0 and measured.limit == 0
    assert any(place.startswith("0x00: 1 words, first 7 of block 0") for place in measured.details["wrong"])


def test_bus_bandwidth_is_counted_as_nccl_tests_count_it() -> None:
    assert burn_collectives.bus_bandwidth(1 << 30, 8, 0.01) == pytest.approx((1 << 30) / 0.01 * 1.75)
    assert burn_collectives.bus_bandwidth(1 << 30, 2, 0.01) == pytest.approx((1 << 30) / 0.01)


@pytest.mark.parametrize("id", ["burn-matmul", "burn-memory", "burn-pcie", "burn-peers", "burn-collectives"])
def test_every_burn_has_time_beyond_its_load(id: str) -> None:
    smoke = load_smoke(id)
    assert smoke.tier == "burn" and smoke.loads and smoke.timeout >= 120


def test_the_way_through_pcie_is_measured_with_what_any_device_has() -> None:
    smoke = load_smoke("burn-pcie")
    measured = smoke.run(_bench())
    assert measured.error == 0.0 and set(measured.details["rates"]) == {"host to device", "device to host"}
