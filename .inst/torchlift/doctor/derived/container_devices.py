"""Whether a container lost the right to open the device nodes that it has."""

from __future__ import annotations

import re

from torchlift.doctor.facts import Facts

_REFUSED = (3, 46, 100, 101, 304, 999)
"""Codes of `cuInit` where the driver cannot open a device."""


def gpu_nodes(facts: Facts) -> list[str]:
    """The device nodes of NVIDIA's GPUs, "/dev/nvidia0" and so on."""
    return [node.path for node in facts.kernel_driver.device_nodes if re.fullmatch(r"/dev/nvidia\d+", node.path)]


def lost_its_devices(facts: Facts) -> bool:
    """NVML answers "Unknown Error" and CUDA does not start in a container whose device nodes and module are there: what
    control groups refuse, the rights of the nodes do not show."""
    refused = facts.nvml.outcome == "error" and facts.nvml.code == 999
    dead = facts.libcuda.outcome == "error" and facts.libcuda.code in _REFUSED
    return bool(facts.system.container and refused and dead and gpu_nodes(facts))
