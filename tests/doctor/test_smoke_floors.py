"""What a measured rate says about a card, and the datasheets it is held against."""

from __future__ import annotations

import pytest

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.parent.datasheet import cards, find_card
from torchlift.doctor.smoke.parent.floor import held_back, judge
from torchlift.doctor.smoke.parent.nvml_watch import Sample
from torchlift.doctor.smoke.parent.outcome import SmokeResult

H200 = {"title": "NVIDIA H200", "memory": 150_000_000_000}


def _rate(id: str, rate: float) -> SmokeResult:
    return SmokeResult(id, "cuda:0", "full", "", "pass", details={"rate": rate})


def test_a_rate_near_the_datasheet_passes_with_its_share() -> None:
    result = _rate("bandwidth", 4.2e12)
    judge(result, H200, Gpu(0), [])
    assert result.outcome == "pass" and "warning" not in result.details
    assert result.reason == "NVIDIA H200 runs at 88% of its datasheet bandwidth (4200 GB/s of 4800 GB/s)"


def test_a_slow_card_is_told_why_it_is_slow() -> None:
    result = _rate("bandwidth", 1.6e12)
    gpu = Gpu(0, pcie_width=8, pcie_width_max=16, power_limit=350.0, power_limit_default=700.0)
    judge(result, H200, gpu, [Sample(0.0, 0, ("hw-thermal-slowdown",), memory_clock=2619, memory_clock_max=2619)])
    assert result.outcome == "pass" and result.details["warning"] is True
    assert result.reason == (
        "NVIDIA H200 runs at 33% of its datasheet bandwidth (1600 GB/s of 4800 GB/s) at 100% of its clock: "
        "hw-thermal-slowdown is active; "
        "its PCIe link has 8 lanes of 16; its power cap is 350 W of 700 W"
    )


def test_a_card_far_below_its_datasheet_fails() -> None:
    result = _rate("bf16-rate", 100e12)
    judge(result, H200, None, [])
    assert (result.outcome, result.signature, result.likely) == ("fail", "below-floor", True)


L4 = {"title": "NVIDIA L4", "memory": 24 << 30}


def test_a_card_whose_power_budget_does_not_allow_its_datasheet_is_not_blamed() -> None:
    result = _rate("bf16-rate", 50e12)
    under_load = [Sample(float(n), 0, ("sw-power-cap",), sm_clock=900, pcie_generation=4) for n in range(5)]
    gpu = Gpu(
        0, sm_clock_max=2040, power_limit=72.0, power_limit_default=72.0, pcie_generation=1, pcie_generation_max=4
    )
    judge(result, L4, gpu, under_load)
    assert result.outcome == "pass" and "warning" not in result.details
    assert result.reason == (
        "NVIDIA L4 runs at 41% of its datasheet bf16 rate (50.0 TFLOP/s of 121.0 TFLOP/s) at 44% of its clock: "
        "sw-power-cap is active; its power cap is 72 W"
    )


def test_a_card_that_heat_slows_down_is_warned_of_and_does_not_fail() -> None:
    result = _rate("bf16-rate", 100e12)
    judge(result, H200, Gpu(0, sm_clock_max=1980), [Sample(0.0, 0, ("hw-thermal-slowdown",), sm_clock=345)])
    assert result.outcome == "pass" and result.details["warning"] is True
    assert "17% of its clock" in (result.reason or "")


def test_the_link_of_a_gpu_at_rest_is_no_cause() -> None:
    resting = Gpu(0, pcie_generation=1, pcie_generation_max=5)
    assert held_back(resting, []) == []
    slow = held_back(resting, [Sample(0.0, 0, pcie_generation=3)])
    assert slow == ["its PCIe link runs at generation 3 of 5"]


def test_a_card_without_a_datasheet_and_a_slice_of_one_get_no_verdict() -> None:
    for device, name in (({"title": "NVIDIA H300", "memory": 1}, "cuda:0"), (H200, "MIG-1")):
        result = _rate("bandwidth", 1e9)
        result.device = name
        judge(result, device, None, [])
        assert result.outcome == "pass" and "no verdict" in (result.reason or "")


def test_a_similar_name_is_not_the_card() -> None:
    assert find_card("NVIDIA H200 NVL", 150_000_000_000) is None
    assert find_card("NVIDIA L4", 24 << 30) is not None


def test_every_datasheet_row_says_where_it_is_from() -> None:
    for card in cards():
        assert all(source.startswith("https://") for source in card.source.split(" ")), card.name
        assert card.rates and all(1e11 < rate < 2e16 for rate in card.rates.values()), card.name
        assert 1e11 < (card.rate("memory") or 1e12) < 2e13, card.name
        # Sparse numbers are twice the dense ones: types of half the size are not four times as fast.
        for wide, narrow in (("tf32", "bf16"), ("bf16", "fp8")):
            pair = card.rate(wide), card.rate(narrow)
            assert not all(pair) or (pair[1] or 0) / (pair[0] or 1) == pytest.approx(2, rel=0.1), card.name
    names = [(card.match.casefold(), card.memory_between) for card in cards()]
    assert len(names) == len(set(names))
