"""AMD GPUs under ROCm, Intel GPUs under Level Zero, Apple GPUs under Metal."""

from __future__ import annotations

import re

from torchlift.doctor.facts import OtherAccelerators, RocmDevice
from torchlift.doctor.probes.loader import find_library
from torchlift.doctor.probes.world import World

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_LIMIT = 1000


def other_accelerators(world: World) -> OtherAccelerators:
    """What is there besides NVIDIA."""
    return OtherAccelerators(
        rocm_version=_rocm_version(world),
        rocm_devices=_rocm_devices(world),
        level_zero=_level_zero(world),
        mps=world.sys_platform == "darwin" and world.machine == "arm64",
    )


def _rocm_version(world: World) -> str | None:
    folders = [world.environment.get(name, "") for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")]
    folders += ["/opt/rocm", *(f"/opt/{name}" for name in reversed(world.names("/opt", "rocm-*")))]
    for folder in filter(None, folders):
        match = re.match(r"\d+(?:\.\d+)+", world.text(f"{folder}/.info/version") or "")
        if match:
            return match[0]
    return None


def _rocm_devices(world: World) -> list[RocmDevice]:
    nodes = sorted(int(name) for name in world.names(_NODES) if name.isdecimal())
    devices = []
    for node in nodes[:_LIMIT]:
        text = world.text(f"{_NODES}/{node}/properties") or ""
        match = re.search(r"^gfx_target_version (\d+)$", text, re.MULTILINE)
        architecture = _gfx_name(int(match[1][:9])) if match else None
        if architecture is not None:
            name = (world.text(f"{_NODES}/{node}/name") or "").strip()
            devices.append(RocmDevice(node, architecture, name or None))
    return devices


def _gfx_name(version: int) -> str | None:
    """90402 is gfx942, 90010 gfx90a; 0 stands for a processor. (Linux, drivers/gpu/drm/amd/amdkfd: MMmmss.)"""
    if version == 0:
        return None
    major, minor, stepping = version // 10_000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{stepping:x}"


def _level_zero(world: World) -> str | None:
    name = "ze_loader.dll" if world.is_windows else "libze_loader.so.1"
    return next((found.path for found in find_library(world, name)), None)
