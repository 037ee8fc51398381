from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fake_drivers as drivers
import pytest
from torch_programs import TorchPrograms

from torchlift.testing import FreshProcesses


@pytest.fixture(scope="session")
def processes() -> Iterator[FreshProcesses]:
    with FreshProcesses() as started:
        yield started


@pytest.fixture(scope="session")
def torch_programs(processes: FreshProcesses) -> TorchPrograms:
    return TorchPrograms(processes)


@pytest.fixture(scope="session")
def built_fake_drivers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = drivers.why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("fake_drivers")
    drivers.build(folder)
    return folder


@pytest.fixture
def fake_drivers(built_fake_drivers: Path, tmp_path: Path) -> drivers.FakeDrivers:
    """Machines with NVIDIA drivers that are not there."""
    return drivers.FakeDrivers(built_fake_drivers, tmp_path)
