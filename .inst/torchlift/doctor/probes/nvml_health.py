"""What NVML says of a GPU's health: counted errors, spare rows, what it needs, its place in an NVLink fabric.

Structures and numbers are those of nvidia-ml-py 13.615.71, read 2026-11-23: `c_nvmlEccSramErrorStatus_v1_t`,
`c_nvmlRowRemapperHistogramValues`, `NVML_GPU_RECOVERY_ACTION_*`, `NVML_GPU_FABRIC_HEALTH_MASK_*`. They are written out
because earlier releases lack them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

_CORRECTED, _UNCORRECTED = 0, 1
_EVER = 1
_RECOVERY_ACTION = 230
_FUNCTION_NOT_FOUND = 13

FABRIC_STATES = {0: "not-supported", 1: "not-started", 2: "in-progress", 3: "completed"}
RECOVERY_ACTIONS = {
    0: "none",
    1: "gpu-reset",
    2: "node-reboot",
    3: "drain-p2p",
    4: "drain-and-reset",
    5: "recover-imex-domain",
    6: "bus-reset",
    7: "system-reboot",
}
_FAULTS = {0: "degraded-bandwidth", 2: "route-recovery", 4: "route-unhealthy", 6: "access-timeout-recovery"}
"""By the place of their two bits in the health mask, of which 1 means that it is so."""
_CONFIGURATION, _CONFIGURATION_BITS = 8, 0xF
_WRONG_CONFIGURATIONS = {
    2: "incorrect-system-guid",
    3: "incorrect-chassis-serial-number",
    4: "no-partition",
    5: "insufficient-nvlinks",
    6: "incompatible-gpu-firmware",
    7: "invalid-location",
    8: "gpu-state-invalid",
}

Ask = Callable[..., Any]


class SramEccStatus(ctypes.Structure):
    """`nvmlEccSramErrorStatus_v1_t`."""

    _fields_ = (
        ("version", ctypes.c_uint),
        *(
            (name, ctypes.c_ulonglong)
            for name in (
                "aggregate_parity",
                "aggregate_double",
                "aggregate_corrected",
                "volatile_parity",
                "volatile_double",
                "volatile_corrected",
                "l2",
                "sm",
                "pcie",
                "microcontroller",
                "other",
            )
        ),
        ("threshold_exceeded", ctypes.c_uint),
    )

    def __init__(self) -> None:
        super().__init__(version=1 << 24 | ctypes.sizeof(SramEccStatus))


class FabricInfo(ctypes.Structure):
    """`nvmlGpuFabricInfo_t`; nvidia-ml-py 12.560 has another length for the UUID than NVML."""

    cluster: Any
    status: int
    clique: int
    state: int
    _fields_ = (
        ("cluster", ctypes.c_ubyte * 16),
        ("status", ctypes.c_uint),
        ("clique", ctypes.c_uint),
        ("state", ctypes.c_ubyte),
    )


class FabricInfoV2(ctypes.Structure):
    """`nvmlGpuFabricInfo_v2_t`."""

    version: int
    cluster: Any
    status: int
    clique: int
    state: int
    health: int
    _fields_ = (("version", ctypes.c_uint), *FabricInfo._fields_, ("health", ctypes.c_uint))

    def __init__(self) -> None:
        super().__init__(version=2 << 24 | ctypes.sizeof(FabricInfoV2))


def ecc(ask: Ask, gpu: dict[str, Any]) -> None:
    """Counted errors beyond those since the driver was loaded."""
    gpu["ecc_uncorrected_ever"] = _whole(ask("nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _EVER))
    gpu["ecc_corrected_ever"] = _whole(ask("nvmlDeviceGetTotalEccErrors", _CORRECTED, _EVER))
    status: Any = SramEccStatus()
    # Root's alone on some drivers: a refusal is a fact like others.
    if ask("nvmlDeviceGetSramEccErrorStatus", ctypes.byref(status)) is not None:
        gpu["sram_ecc"] = {
            "uncorrected": status.volatile_parity + status.volatile_double,
            "uncorrected_ever": status.aggregate_parity + status.aggregate_double,
            "corrected_ever": status.aggregate_corrected,
            "threshold_exceeded": bool(status.threshold_exceeded),
        }


def spare_rows(ask: Ask, gpu: dict[str, Any]) -> None:
    """How many banks have how many spare rows left."""
    banks = ask("nvmlDeviceGetRowRemapperHistogram")
    if banks is not None:
        gpu["spare_rows"] = {
            "all": banks.max,
            "most": banks.high,
            "some": banks.partial,
            "few": banks.low,
            "none": banks.none,
        }


def recovery_action(ask: Ask, gpu: dict[str, Any]) -> None:
    """What the GPU needs before it can be trusted again."""
    values = ask("nvmlDeviceGetFieldValues", [_RECOVERY_ACTION])
    if values is not None and values[0].nvmlReturn == 0:
        number = int(values[0].value.uiVal)
        gpu["recovery_action"] = RECOVERY_ACTIONS.get(number, str(number))


def fabric(pynvml: Any, ask: Ask, gpu: dict[str, Any]) -> None:
    """How far the GPU's registration with an NVSwitch fabric is, and how its part of the fabric does."""
    before = len(gpu["errors"])
    infos: tuple[tuple[str, Any], ...] = (
        ("nvmlDeviceGetGpuFabricInfoV", FabricInfoV2()),
        ("nvmlDeviceGetGpuFabricInfo", FabricInfo()),
    )
    for name, info in infos:
        if not hasattr(pynvml, name):
            continue
        del gpu["errors"][before:]
        if ask(name, ctypes.byref(info)) is not None:
            gpu["fabric_state"] = FABRIC_STATES.get(info.state)
            gpu["fabric_status"] = info.status
            if any(info.cluster):
                gpu["fabric_cluster"], gpu["fabric_clique"] = _uuid(bytes(info.cluster)), info.clique
            if hasattr(info, "health"):
                gpu["fabric_faults"] = list(_faults(info.health))
            return
        if gpu["errors"][-1]["code"] != _FUNCTION_NOT_FOUND:
            return


def _faults(mask: int) -> Iterator[str]:
    for shift, name in _FAULTS.items():
        if mask >> shift & 0x3 == 1:
            yield name
    wrong = _WRONG_CONFIGURATIONS.get(mask >> _CONFIGURATION & _CONFIGURATION_BITS)
    if wrong is not None:
        yield wrong


def _uuid(raw: bytes) -> str:
    digits = raw.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and value not in (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF) else None
