"""What a burn's rates amount to, from samples as NVML gives them; and what is told before and while it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake_drivers import FakeDrivers

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.loading import load_smoke
from torchlift.doctor.smoke.parent.burn_notice import BurnLine, announcement, estimate, progress
from torchlift.doctor.smoke.parent.burn_verdict import LANE, judge_burn, load_of
from torchlift.doctor.smoke.parent.nvml_watch import Sample
from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.report import lines_of
from torchlift.terminal.style import Style

H100 = {"name": "cuda:0", "kind": "cuda", "title": "NVIDIA H100 80GB HBM3", "memory": 80 << 30}
L4 = {"name": "cuda:0", "kind": "cuda", "title": "NVIDIA L4", "memory": 23 << 30}
NOBODY = {"name": "cuda:0", "kind": "cuda", "title": "NVIDIA Graphics Device", "memory": 96 << 30}
GPU = Gpu(0, power_limit=700.0, power_limit_default=700.0, sm_clock_max=1980, pcie_generation_max=5, pcie_width_max=16)
BRIDGED = Gpu(0, sm_clock_max=1980)
SWITCHED = Gpu(0, sm_clock_max=1980, fabric_state="completed")


def _samples(clock: int = 1700, reasons: tuple[str, ...] = (), number: int = 100, **more: Any) -> list[Sample]:
    values = {"power": 690.0, "temperature": 68, **more}
    return [Sample(0.1 * at, 0, reasons, clock, **values) for at in range(number)]


def _products(bf16: float, best: float | None = None) -> SmokeResult:
    rate = {"rate": bf16, "best": best or bf16, "unit": "FLOP/s", "begun": 0.0, "ended": 10.0, "course": [bf16]}
    return SmokeResult("burn-matmul", "cuda:0", "burn", "Products", "pass", details={"rates": {"bf16": rate}})


def _judged(
    result: SmokeResult, samples: list[Sample], device: dict[str, Any] = H100, gpu: Gpu | None = GPU
) -> SmokeResult:
    judge_burn(result, device, gpu, samples)
    return result


def test_a_card_at_its_power_cap_with_a_good_rate_is_well() -> None:
    result = _judged(_products(720e12, best=800e12), _samples(reasons=("sw-power-cap",)))
    assert (result.outcome, result.details.get("warning")) == ("pass", None)
    assert result.reason == (
        "bf16 720 TFLOP/s (73% of the datasheet); under load 690 W of 700 W, 1700 of 1980 MHz, up to 68 C, at its power cap"
    )
    assert result.details["rates"]["bf16"]["share"] == pytest.approx(720 / 989.4)


def test_a_card_that_gets_too_hot_throttles_whatever_its_rate() -> None:
    hot = _samples(reasons=("hw-thermal-slowdown",), temperature=91, number=40) + _samples(number=60)
    result = _judged(_products(600e12), hot)
    assert result.outcome == "pass" and result.details["warning"]
    assert result.reason is not None and result.reason.startswith(
        "it throttles: hw-thermal-slowdown in 40% of the looks"
    )


def test_a_reason_of_a_moment_is_no_throttling() -> None:
    samples = _samples(reasons=("sw-thermal-slowdown",), number=2) + _samples(number=98)
    assert "warning" not in _judged(_products(700e12), samples).details
    assert "reasons" not in load_of(samples)


def test_a_slow_card_is_said_with_its_clock_and_a_much_slower_one_fails() -> None:
    slow = _judged(_products(300e12), _samples(clock=1900))
    assert slow.details["warning"] and "30% of the datasheet, at 96% of its clock" in (slow.reason or "")
    failed = _judged(_products(100e12), _samples(clock=1900))
    assert (failed.outcome, failed.signature) == ("fail", "below-floor") and failed.cause and failed.remedy


def test_a_rate_that_the_power_budget_explains_is_not_held_against_the_card() -> None:
    result = _judged(_products(40e12), _samples(clock=700, reasons=("sw-power-cap",), power=72.0), L4, GPU)
    assert (result.outcome, result.details.get("warning")) == ("pass", None)
    assert "33% of the datasheet, at 35% of its clock" in (result.reason or "")


def test_the_same_rate_at_full_clocks_is() -> None:
    assert _judged(_products(40e12), _samples(clock=1980), L4).details["warning"]


def test_a_rate_that_falls_is_said_unless_the_power_budget_explains_it() -> None:
    fell = _judged(_products(600e12, best=900e12), _samples(reasons=("hw-slowdown",)))
    assert "bf16 fell to 67% of its best" in (fell.reason or "") and fell.details["warning"]
    capped = _judged(_products(600e12, best=900e12), _samples(reasons=("sw-power-cap",)))
    assert "fell" not in (capped.reason or "") and "warning" not in capped.details
    unseen = _judged(_products(600e12, best=900e12), [])
    assert "fell" not in (unseen.reason or "")


def test_clocks_of_another_time_do_not_count() -> None:
    before = [Sample(-5.0, 0, ("hw-slowdown",), 300)]
    result = _judged(_products(300e12), before)
    assert "clock" not in (result.reason or "").partition(";")[0]


def test_unknown_cards_and_slices_get_numbers_without_a_verdict() -> None:
    result = _judged(_products(1e12), [], NOBODY)
    assert (result.outcome, result.details.get("warning")) == ("pass", None)
    assert result.reason == "bf16 1 TFLOP/s; torchlift has no datasheet of NVIDIA Graphics Device: no verdict"
    sliced = _products(1e12)
    sliced.device = "MIG-00000000-0000-5000-8000-000000000000"
    assert "no verdict" in (_judged(sliced, []).reason or "")


def test_a_failed_burn_keeps_its_own_reason() -> None:
    result = SmokeResult("burn-matmul", "cuda:0", "burn", "Products", "fail", reason="wrong numbers in bf16 under load")
    assert _judged(result, _samples()).reason == "wrong numbers in bf16 under load"


def _link(rate: float) -> SmokeResult:
    rates = {
        name: {"rate": rate, "best": rate, "unit": "B/s", "begun": 0.0, "ended": 9.0} for name in ("host to device",)
    }
    return SmokeResult("burn-pcie", "cuda:0", "burn", "PCIe", "pass", details={"rates": rates})


def test_a_link_is_judged_by_what_it_was_under_load() -> None:
    assert LANE[5] * 16 == pytest.approx(63e9, rel=0.01)
    good = _judged(_link(55e9), _samples(pcie_generation=5, pcie_width=16))
    assert good.reason == "host to device 55 GB/s (87% of PCIe 5 x16)" and "warning" not in good.details
    narrow = _judged(_link(14e9), _samples(pcie_generation=5, pcie_width=4))
    assert narrow.details["warning"] and "the link has 4 lanes of 16 under load" in (narrow.reason or "")
    assert "89% of PCIe 5 x4" in (narrow.reason or "")
    old = _judged(_link(25e9), _samples(pcie_generation=4, pcie_width=16))
    assert "the link runs at generation 4 of 5 under load" in (old.reason or "")
    assert _judged(_link(10e9), _samples(pcie_generation=5, pcie_width=16)).outcome == "fail"
    assert _judged(_link(1e9), []).reason == "host to device 1 GB/s"


def _pairs(slow: tuple[int, int] | None = None, rate: float = 380e9) -> SmokeResult:
    pairs = [
        {"source": a, "target": b, "rate": rate / 20 if (a, b) == slow else rate, "direct": True}
        for a in range(4)
        for b in range(4)
        if a != b
    ]
    return SmokeResult("burn-peers", "cuda:0", "burn", "Pairs", "pass", details={"pairs": pairs})


def test_a_pair_that_is_slower_than_the_others_is_named() -> None:
    assert "warning" not in _judged(_pairs(), []).details
    result = _judged(_pairs(slow=(2, 3)), [])
    assert result.details["warning"] and (result.reason or "").startswith("GPU 2 to 3 only 19 GB/s")


def test_nvlink_counts_where_every_pair_has_all_of_it() -> None:
    assert "84% of NVLink one way" in (_judged(_pairs(), [], gpu=SWITCHED).reason or "")
    assert _judged(_pairs(rate=50e9), [], gpu=SWITCHED).details["warning"]
    assert "NVLink" not in (_judged(_pairs(rate=50e9), [], gpu=BRIDGED).reason or "")


def test_bus_bandwidth_is_judged_behind_a_switch_only() -> None:
    rates = {"all_reduce bus bandwidth": {"rate": 90e9, "unit": "B/s"}}
    details = {"rates": rates, "ranks": 8}
    result = SmokeResult("burn-collectives", "cuda:0", "burn", "all_reduce", "pass", details=details)
    assert "warning" not in _judged(result, [], gpu=BRIDGED).details
    assert _judged(result, [], gpu=SWITCHED).details["warning"]


def test_a_burn_says_a_line_for_each_thing() -> None:
    result = _judged(_products(720e12), _samples())
    lines = lines_of(result, Style())
    assert len(lines) == 3 and lines[1].strip().startswith("bf16 720 TFLOP/s")


# Before and while


def test_time_and_power_are_told_before() -> None:
    smokes = [load_smoke(id) for id in ("alloc", "burn-matmul", "burn-memory", "burn-pcie")]
    gpus = [Gpu(index, power_limit=700.0, processes=0) for index in range(8)]
    text = announcement(smokes, [f"cuda:{index}" for index in range(8)], gpus, 60.0)
    assert text == "Burn: 8 devices under full load, about 3 minutes. Up to 5.6 kW, 0.3 kWh in all. Ctrl-C ends it.\n"
    assert estimate(smokes, 8, 600.0) > 900 + 8 * 90
    busy = announcement(smokes, ["cuda:0"], [Gpu(0, processes=2)], 60.0)
    assert (
        busy.startswith("Burn: cuda:0 under full load, about 2 minutes. Ctrl-C") and "(2) will be slowed down" in busy
    )


def test_the_line_says_how_far_it_is_and_what_the_gpus_do() -> None:
    looks = [
        Sample(1.0, 0, (), 1410, power=690.4, temperature=71),
        Sample(1.0, 1, (), 1755, power=700.0, temperature=65),
    ]
    assert progress(84, 130, looks) == "burn 1:24 of about 2:10, 1390 W, up to 71 C, 1410 to 1755 MHz"
    assert progress(140, 130, []) == "burn 2:20 of about 2:20"


def test_the_line_ends_and_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlift.doctor.smoke.parent.burn_notice._EVERY", 0.01)
    written: list[str] = []
    line = BurnLine(written.append, dict, 10, 80).start()
    time.sleep(0.2)
    line.end()
    number = len(written)
    assert number > 2 and written[-1] == "\r\x1b[2K"
    time.sleep(0.1)
    assert len(written) == number


def _children(session_of: int) -> list[int]:
    """Processes that the command started: each keeps the variable that the test set."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"TORCHLIFT_TEST_BURN={session_of}".encode() in (place / "environ").read_bytes():
                state = (place / "stat").read_text().rpartition(") ")[2][0]
                if state != "Z":
                    found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(("burn-matmul",), id="products"),
        pytest.param(("burn-memory",), id="memory", marks=pytest.mark.exhaustive),
    ],
)
def test_ctrl_c_leaves_nothing_running(ids: tuple[str, ...]) -> None:
    mark = os.getpid()
    command = [sys.executable, "-m", "torchlift", "doctor", "--device", "cpu", "--burn-seconds", "300"]
    burn = subprocess.Popen(
        [*command, *(f"--smoke-only={id}" for id in ids)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TORCHLIFT_TEST_BURN": str(mark)},
        start_new_session=True,
    )
    assert burn.stderr is not None
    assert burn.stderr.readline().startswith("Burn: cpu under full load")
    time.sleep(2.0)
    assert len(_children(mark)) >= 3
    # As a terminal does: to the command's group, of which what it started is no part.
    os.killpg(burn.pid, signal.SIGINT)
    burn.communicate(timeout=20)
    assert burn.returncode not in (0, 1)
    until = time.monotonic() + 5
    while _children(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert _children(mark) == []


def test_a_driver_that_hangs_while_it_is_watched_does_not_hang_the_burn(fake_drivers: FakeDrivers) -> None:
    from fake_drivers import H100 as CARD

    from torchlift.doctor.smoke.parent.nvml_watch import NvmlWatch

    hangs = fake_drivers.machine([CARD.having(nvmlDeviceGetClockInfo="hang")])
    started = time.monotonic()
    with NvmlWatch(open=True, environment=hangs) as watch, watch.watching():
        time.sleep(0.5)
        assert watch.newest() == {}
    assert time.monotonic() - started < 10
