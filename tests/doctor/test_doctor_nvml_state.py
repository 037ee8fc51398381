"""What NVML says of the state of a GPU: memory, clocks, links, modes, neighbours."""

from __future__ import annotations

import pytest
from fake_drivers import (
    A100,
    H100,
    RTX_4090,
    T4,
    V100,
    FakeDrivers,
)
from nvml_probe import look, look_at, refusals

from torchlift.doctor.facts import PeerLink


def test_memory_errors_and_repairs_are_reported(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, A100.having(ecc_uncorrected=3, remapped_rows=(1, 2, 1, 0)))
    assert (gpu.ecc_enabled, gpu.ecc_uncorrected) == (True, 3)
    assert (gpu.remapped_rows_correctable, gpu.remapped_rows_uncorrectable) == (1, 2)
    assert (gpu.remapping_pending, gpu.remapping_failed) == (True, False)


def test_a_failed_row_remapping_is_reported(fake_drivers: FakeDrivers) -> None:
    assert look_at(fake_drivers, H100.having(remapped_rows=(0, 8, 0, 1))).remapping_failed is True


def test_retired_pages_that_wait_for_a_reboot_are_reported(fake_drivers: FakeDrivers) -> None:
    assert look_at(fake_drivers, V100.having(retired_pending=1)).retired_pages_pending is True
    assert look_at(fake_drivers, V100).retired_pages_pending is False


def test_ecc_switched_off_is_reported(fake_drivers: FakeDrivers) -> None:
    assert look_at(fake_drivers, T4.having(ecc=(0, 0))).ecc_enabled is False


@pytest.mark.parametrize(
    ("bits", "reasons"),
    [
        (0x0, []),
        (0x1, ["idle"]),
        (0x48, ["hw-slowdown", "hw-thermal-slowdown"]),
        (0x24, ["sw-power-cap", "sw-thermal-slowdown"]),
        (0x80, ["hw-power-brake"]),
        (0x112, ["applications-clocks", "sync-boost", "display-clocks"]),
        (0x4000, ["0x4000"]),
    ],
)
def test_clock_reasons_are_named(fake_drivers: FakeDrivers, bits: int, reasons: list[str]) -> None:
    assert look_at(fake_drivers, H100.having(throttle=bits)).throttle_reasons == reasons


def test_a_degraded_pcie_link_is_reported(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, RTX_4090.having(pcie_generation=1, pcie_width=4))
    assert (gpu.pcie_generation, gpu.pcie_generation_max, gpu.pcie_width, gpu.pcie_width_max) == (1, 4, 4, 16)


@pytest.mark.parametrize(
    ("number", "mode"),
    [(0, "default"), (1, "exclusive-thread"), (2, "prohibited"), (3, "exclusive-process"), (9, None)],
)
def test_compute_modes_are_named(fake_drivers: FakeDrivers, number: int, mode: str | None) -> None:
    assert look_at(fake_drivers, V100.having(compute_mode=number)).compute_mode == mode


@pytest.mark.parametrize(
    ("number", "mode"), [(1, "passthrough"), (2, "vgpu"), (3, "host-vgpu"), (4, "host-vsga"), (77, None)]
)
def test_virtualisation_is_named(fake_drivers: FakeDrivers, number: int, mode: str | None) -> None:
    assert look_at(fake_drivers, A100.having(virtualization=number)).virtualization == mode


@pytest.mark.parametrize(
    ("state", "status", "name"),
    [(0, 0, "not-supported"), (1, 0, "not-started"), (2, 0, "in-progress"), (3, 0, "completed"), (3, 999, "completed")],
)
def test_fabric_states_are_named(fake_drivers: FakeDrivers, state: int, status: int, name: str) -> None:
    gpu = look_at(fake_drivers, H100.having(fabric=(state, status)))
    assert (gpu.fabric_state, gpu.fabric_status) == (name, status)


def test_inactive_nvlinks_are_counted(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, A100.having(nvlink=(1, 0, 1, 0, 0, 1)))
    assert (gpu.nvlinks_active, gpu.nvlinks_inactive) == (3, 3)
    assert "nvmlDeviceGetNvLinkState" not in refusals(gpu)


def test_running_processes_are_counted(fake_drivers: FakeDrivers) -> None:
    assert look_at(fake_drivers, H100.having(processes=3)).processes == 3


def test_a_lowered_power_limit_is_in_watts(fake_drivers: FakeDrivers) -> None:
    gpu = look_at(fake_drivers, RTX_4090.having(power_limit=212_500, power_limit_default=450_000))
    assert (gpu.power_limit, gpu.power_limit_default) == (212.5, 450.0)


def test_refused_peer_access_is_named_for_each_direction(fake_drivers: FakeDrivers) -> None:
    first = RTX_4090.having(**{"p2p1.read": 1, "p2p1.write": 1, "topology1": 50})
    second = RTX_4090.having(**{"p2p0.read": 3, "p2p0.write": 4, "topology0": 10})
    facts = look(fake_drivers.machine([first, second]))
    assert facts.peers == [
        PeerLink(0, 1, "chipset-not-supported", "chipset-not-supported", "system"),
        PeerLink(1, 0, "topology-not-supported", "disabled-by-regkey", "single"),
    ]


def test_peer_access_nvml_will_not_talk_about_is_unknown(fake_drivers: FakeDrivers) -> None:
    facts = look(fake_drivers.machine([T4, T4], nvmlDeviceGetP2PStatus=3, nvmlDeviceGetTopologyCommonAncestor=3))
    assert facts.peers == [PeerLink(0, 1, "unknown", "unknown", None), PeerLink(1, 0, "unknown", "unknown", None)]
