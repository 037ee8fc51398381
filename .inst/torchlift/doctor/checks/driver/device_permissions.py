"""Device nodes that this user may not open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.kernel_module import NVIDIA_NODE, refused_nodes
from torchlift.doctor.facts import DeviceNode, Facts

CHECK = Check(
    id="device-permissions",
    group="driver",
    title="This user may open the GPUs' device nodes",
    why=(
        "CUDA opens /dev/nvidiactl, /dev/nvidia0 and /dev/nvidia-uvm for reading and writing, ROCm /dev/kfd. Without the "
        "right to, torch says `No CUDA GPUs are available` and nvidia-smi `Insufficient Permissions`, while both work "
        "for root."
    ),
    sources=(
        "README of the NVIDIA Linux driver, NVreg_DeviceFileMode",
        "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html",
    ),
)

_AMD = re.compile(r"/dev/(kfd|dri/renderD\d+)")


def look(facts: Facts) -> Iterator[Result]:
    nodes = facts.kernel_driver.device_nodes
    refused = refused_nodes(facts)
    amd = [node for node in nodes if _AMD.fullmatch(node.path) and not (node.readable and node.writable)]
    if refused:
        yield Result(
            breaks_torch(facts),
            f"This user may not open {_names(refused)}",
            evidence=tuple(_evidence(node) for node in refused),
            remedy=_remedy(facts, "video"),
        )
    elif any(NVIDIA_NODE.fullmatch(node.path) for node in nodes):
        yield ok("This user may open the GPUs' device nodes")
    if amd and (facts.other.rocm_devices or (facts.torch is not None and facts.torch.hip)):
        uses_rocm = facts.torch is not None and facts.torch.hip is not None
        yield Result(
            "problem" if uses_rocm else "warning",
            f"This user may not open {_names(amd)}, so ROCm finds no GPU",
            evidence=tuple(_evidence(node) for node in amd),
            remedy=_remedy(facts, "render,video"),
        )


def _names(nodes: list[DeviceNode]) -> str:
    return ", ".join(node.path for node in nodes)


def _evidence(node: DeviceNode) -> Evidence:
    rights = " and ".join(word for word, has in (("readable", node.readable), ("writable", node.writable)) if has)
    return Evidence(node.path, rights or "neither readable nor writable", needed="readable and writable", source="/dev")


def _remedy(facts: Facts, groups: str) -> Remedy:
    if facts.system.container:
        return Remedy(
            "Start the container with the host's device nodes and a user in the group that owns them (--group-add)"
        )
    return Remedy(f"Join {groups.replace(',', ' and ')}, then log in anew", f'sudo usermod -aG {groups} "$USER"')
