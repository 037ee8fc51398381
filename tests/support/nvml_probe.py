"""What the NVML probe finds on a machine with fake drivers."""

from __future__ import annotations

from collections.abc import Mapping

from fake_drivers import FakeDrivers, FakeGpu

from torchlift.doctor.facts import Facts, Gpu
from torchlift.doctor.probes import nvml


def look(environment: Mapping[str, str], timeout: float = 60) -> Facts:
    facts = Facts()
    nvml.read(nvml.start(environment, timeout).result(), facts)
    return facts


def look_at(fake_drivers: FakeDrivers, gpu: FakeGpu) -> Gpu:
    facts = look(fake_drivers.machine([gpu]))
    assert facts.failures == []
    (seen,) = facts.gpus
    return seen


def refusals(gpu: Gpu) -> dict[str, str]:
    return {error.call: error.name for error in gpu.errors}
