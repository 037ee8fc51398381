"""The device nodes of NVIDIA's driver."""

from __future__ import annotations

import re

from torchlift.doctor.facts import DeviceNode, Facts

NVIDIA_NODE = re.compile(r"/dev/nvidia(\d+|ctl|-uvm)")


def refused_nodes(facts: Facts) -> list[DeviceNode]:
    """NVIDIA's device nodes that cannot be opened for reading and writing, when CUDA does not start."""
    if facts.libcuda.outcome == "ok":
        return []
    nodes = [node for node in facts.kernel_driver.device_nodes if NVIDIA_NODE.fullmatch(node.path)]
    return [node for node in nodes if not (node.readable and node.writable)]
