"""The devices of a torch, found in a process that may touch them."""

from __future__ import annotations

import os
from typing import Any

from .bench import version_pair


def find_devices(torch: Any) -> dict[str, Any]:
    """`{"devices": [...], "problem": why there is no GPU although torch was built for some, or None, "built": [...]}`.

    `built` has the types of device, as torch spells them, that this torch was built for. A device is `{"name", "kind", "title", "count", "capability", "architecture", "memory", "uuid", "pci"}`; what is not
    known is None. The CPU is always the last. Works with torch 2.0 and newer.
    """
    devices: list[dict[str, Any]] = []
    problem = None
    try:
        for kind, count in _kinds(torch):
            devices += [_device(torch, kind, index, count) for index in range(count)]
        if not devices and (torch.version.cuda or torch.version.hip):
            problem = _why_no_gpu(torch)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return {"devices": [*devices, cpu()], "problem": problem, "torch": str(torch.__version__), "built": _built(torch)}


def cpu() -> dict[str, Any]:
    """The CPU as a device."""
    return {"name": "cpu", "kind": "cpu", "title": "CPU", "count": os.cpu_count() or 1, "windows": os.name == "nt"}


def _built(torch: Any) -> list[str]:
    mps = getattr(torch.backends, "mps", None)
    there = {
        "cuda": torch.version.cuda or torch.version.hip,
        "xpu": getattr(torch.version, "xpu", None) or getattr(getattr(torch, "_C", None), "_has_xpu", False),
        "mps": mps is not None and mps.is_built(),
    }
    return [kind for kind, value in there.items() if value]


def _kinds(torch: Any) -> list[tuple[str, int]]:
    if version_pair(str(torch.__version__)) >= (2, 6) and hasattr(torch, "accelerator"):
        if not torch.accelerator.is_available():
            return []
        kind = torch.accelerator.current_accelerator().type
        return [(_kind(torch, kind), torch.accelerator.device_count())]
    if torch.cuda.is_available():
        return [(_kind(torch, "cuda"), torch.cuda.device_count())]
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_available():
        return [("xpu", xpu.device_count())]
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        return [("mps", 1)]
    return []


def _kind(torch: Any, kind: str) -> str:
    return "rocm" if kind == "cuda" and torch.version.hip else str(kind)


def _device(torch: Any, kind: str, index: int, count: int) -> dict[str, Any]:
    device: dict[str, Any] = {
        "name": f"{'cuda' if kind == 'rocm' else kind}:{index}",
        "kind": kind,
        "title": None,
        "count": count,
        "capability": None,
        "architecture": None,
        "memory": None,
        "uuid": None,
        "pci": None,
        "windows": os.name == "nt",
    }
    if kind == "mps":
        device["title"] = "Apple GPU"
        return device
    module = torch.cuda if kind in ("cuda", "rocm") else getattr(torch, kind)
    try:
        properties = module.get_device_properties(index)
    except Exception as error:
        device["title"] = f"unknown ({type(error).__name__}: {error})"
        return device
    device["title"] = getattr(properties, "name", None)
    device["memory"] = getattr(properties, "total_memory", None)
    if kind == "cuda":
        device["capability"] = [properties.major, properties.minor]
    device["architecture"] = getattr(properties, "gcnArchName", None)
    device["xpu_device"] = getattr(properties, "device_id", None)
    uuid = getattr(properties, "uuid", None)
    device["uuid"] = None if uuid is None else str(uuid)
    if hasattr(properties, "pci_bus_id") and hasattr(properties, "pci_device_id"):
        domain = getattr(properties, "pci_domain_id", 0)
        device["pci"] = f"{domain:04x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0"
    return device


def _why_no_gpu(torch: Any) -> str | None:
    try:
        torch.cuda.init()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
