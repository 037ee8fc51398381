"""A container that had the GPUs' devices and may no longer open them."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.container_devices import gpu_nodes, lost_its_devices
from torchlift.doctor.derived.naming import code_text
from torchlift.doctor.facts import Facts

_TROUBLE = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html"

CHECK = Check(
    id="container-devices",
    group="driver",
    title="The container still has its devices",
    why=(
        "A `systemctl daemon-reload` on the host, as any upgrade makes one, sets the device rules of containers anew where "
        "systemd manages their control groups, and forgets those of NVIDIA. In a container that worked, nvidia-smi then "
        "says `Failed to initialize NVML: Unknown Error`, and torch `CUDA unknown error` or `No CUDA GPUs are available`. "
        "The device nodes are still there, and nothing inside the container mends it."
    ),
    sources=(
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/48",
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/251",
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1227",
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1397",
        _TROUBLE,
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if not lost_its_devices(facts):
        return
    yield Result(
        breaks_torch(facts),
        "This container may no longer open the GPUs' device nodes, most likely since a `systemctl daemon-reload` on its "
        "host",
        evidence=(
            Evidence("NVML", f"{facts.nvml.name or 'Unknown'} ({facts.nvml.code})", needed="ok", source="nvmlInit"),
            Evidence("cuInit", code_text(facts.libcuda.code or 0), needed="0", source="libcuda"),
            Evidence("device nodes", ", ".join(gpu_nodes(facts)), needed="there, and they are", source="/dev"),
        ),
        remedy=_remedy(facts),
        confidence="likely",
        link=_TROUBLE,
    )


def _remedy(facts: Facts) -> Remedy:
    if facts.system.container == "kubernetes":
        return Remedy(
            "Delete this pod, so that it is made anew. Against the next time, on the nodes: run `nvidia-ctk system "
            "create-dev-char-symlinks --create-all` at each start, which NVIDIA's GPU operator does by itself"
        )
    return Remedy(
        "Delete this container and start it anew. Against the next time: name the devices (`--device /dev/nvidiactl "
        "--device /dev/nvidia-uvm --device /dev/nvidia0`) beside --gpus, or set Docker's control groups to cgroupfs "
        '("exec-opts": ["native.cgroupdriver=cgroupfs"] in the host\'s /etc/docker/daemon.json)'
    )
