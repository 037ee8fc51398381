"""The kernel module of NVIDIA's driver: is it there, of its libraries' version, and may its device nodes be opened?"""

from __future__ import annotations

import re

from torchlift.doctor.derived.driver_libraries import libraries
from torchlift.doctor.derived.nvidia_cards import has_nvidia_gpu, nvidia_cards
from torchlift.doctor.facts import DeviceNode, Facts

NVIDIA_NODE = re.compile(r"/dev/nvidia(\d+|ctl|-uvm)")


def module_not_loaded(facts: Facts) -> bool:
    """NVML says so, or the driver's libraries are there, no module is, and nothing answers."""
    # A login node may share its image, and so the driver's libraries, with nodes that have GPUs.
    if facts.system.wsl:
        return False
    if facts.pci is not None and not has_nvidia_gpu(facts) and not facts.system.jetson_release:
        return False
    if facts.nvml.code == 9:
        return True
    refused = facts.nvml.outcome == "error" and facts.nvml.code in (None, 999) and facts.libcuda.outcome == "error"
    here = facts.system.os == "linux" and nvidia_cards(facts) and libraries(facts)
    return bool(here and refused and not facts.kernel_driver.version and "nvidia" not in facts.kernel_driver.modules)


def versions_differ(facts: Facts) -> bool:
    """NVML refuses for this reason, or the versions differ and CUDA does not start."""
    if facts.nvml.code == 18:
        return True
    kernel = facts.kernel_driver.version
    dead = facts.libcuda.outcome == "error" and facts.nvml.outcome != "ok"
    return bool(dead and kernel and installed_versions(facts) and kernel not in installed_versions(facts))


def installed_versions(facts: Facts) -> set[str]:
    """Versions of the driver's own libraries: no compatibility package, no stubs, no WSL."""
    found = libraries(facts) + libraries(facts, "libnvidia-ml.so.1")
    return {library.version for library in found if library.version and not library.compat and not library.stub}


def refused_nodes(facts: Facts) -> list[DeviceNode]:
    """NVIDIA's device nodes that cannot be opened for reading and writing, when CUDA does not start."""
    if facts.libcuda.outcome == "ok":
        return []
    nodes = [node for node in facts.kernel_driver.device_nodes if NVIDIA_NODE.fullmatch(node.path)]
    return [node for node in nodes if not (node.readable and node.writable)]
