"""NVML is held open while smokes run, and sampled while one loads its GPU; the library is a fake, nvidia-ml-py is real."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

import pytest
from fake_drivers import H100, FakeDrivers

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.parent.nvml_watch import NvmlWatch, Sample

UNDER_LOAD = H100.having(sm_clock=1200, throttle=0x4, pcie_generation=5)


def wait_for(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not what() and time.monotonic() < deadline:
        time.sleep(0.02)


def watched(watch: NvmlWatch, index: int = 1) -> list[Sample]:
    begin = time.monotonic()
    with watch.watching():
        wait_for(lambda: len(watch.samples(Gpu(index), begin, time.monotonic())) >= 3)
    return watch.samples(Gpu(index), begin, time.monotonic())


def test_samples_are_taken_while_somebody_watches_and_not_before_or_after(fake_drivers: FakeDrivers) -> None:
    with NvmlWatch(open=True, environment=fake_drivers.machine([H100, UNDER_LOAD])) as watch:
        time.sleep(0.5)
        assert watch.samples(Gpu(1), 0.0, time.monotonic()) == []
        samples = watched(watch)
        time.sleep(0.5)
        rested = time.monotonic()
        time.sleep(0.5)
        assert watch.samples(Gpu(1), rested, time.monotonic()) == []
    assert len(samples) >= 3
    assert samples[0].reasons == ["sw-power-cap"] and samples[0].sm_clock == 1200 and samples[0].pcie_generation == 5


def test_two_that_watch_are_both_served_until_the_last_is_done(fake_drivers: FakeDrivers) -> None:
    with NvmlWatch(open=True, environment=fake_drivers.machine([H100, UNDER_LOAD])) as watch, watch.watching():
        watched(watch)
        assert watched(watch, 0), "the first to end must not end it for the other"


@pytest.mark.parametrize("calls", [{"nvmlInitWithFlags": "hang"}, {"nvmlInitWithFlags": "crash"}])
def test_a_driver_that_hangs_or_crashes_costs_the_samples_and_nothing_else(
    fake_drivers: FakeDrivers, calls: dict[str, str]
) -> None:
    watch = NvmlWatch(open=True, environment=fake_drivers.machine([H100], **calls)).start()
    process = watch._process
    assert isinstance(process, subprocess.Popen)
    with watch.watching():
        time.sleep(0.3)
    started = time.monotonic()
    watch.close()
    assert time.monotonic() - started < 4 and process.poll() is not None


def test_without_gpus_nothing_is_started() -> None:
    with NvmlWatch(open=False) as watch, watch.watching():
        assert watch._process is None
