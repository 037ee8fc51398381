"""GPUs that are one of many machines in an NVLink domain (NVL32, NVL72), and the fabric's own view of them."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.naming import gpu_list
from torchlift.doctor.facts import Facts, Gpu

_GUIDE = "https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/deployment.html"
_CHANNELS = "https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/imexchannels.html"
_CHANNEL = "/dev/nvidia-caps-imex-channels/channel"

CHECK = Check(
    id="nvlink-domain",
    group="multi-gpu",
    title="The NVLink fabric is well, and reaches the other machines",
    why=(
        "In a rack with NVLink between machines (GH200 NVL32, GB200 and GB300 NVL72) memory of another machine's GPU is "
        "mapped by nvidia-imex, through a channel that the administrator creates. Without them NCCL takes the network, or "
        "says `CUDA_ERROR_NOT_PERMITTED`. A degraded link slows every collective that crosses it."
    ),
    sources=(
        _GUIDE,
        _CHANNELS,
        "nvidia-ml-py 13.615.71: c_nvmlGpuFabricInfo_v2_t, NVML_GPU_FABRIC_HEALTH_MASK_*",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    faults: dict[str, list[Gpu]] = {}
    for gpu in facts.gpus:
        for fault in gpu.fabric_faults or ():
            faults.setdefault(fault, []).append(gpu)
    for fault, gpus in faults.items():
        yield warning(
            f"The NVLink fabric says {fault.replace('-', ' ')} of {gpu_list(gpus)}",
            evidence=tuple(
                Evidence(f"fabric health of GPU {gpu.index}", fault, needed="nothing", source="NVML") for gpu in gpus
            ),
            remedy=Remedy(
                "Look at the logs of fabric manager and of the NVLink switches, and have the link or tray looked at"
            ),
            link=_GUIDE,
        )
    domain = [gpu for gpu in facts.gpus if gpu.fabric_cluster is not None]
    if domain:
        yield from _domain(facts, domain)
    elif not faults and any(gpu.fabric_faults == [] and gpu.fabric_state == "completed" for gpu in facts.gpus):
        yield ok("The NVLink fabric names no fault")


def _domain(facts: Facts, domain: list[Gpu]) -> Iterator[Result]:
    cliques = {(gpu.fabric_cluster, gpu.fabric_clique) for gpu in domain}
    if len(cliques) > 1:
        yield warning(
            f"GPUs of this machine are in {len(cliques)} NVLink cliques, and do not reach each other through NVLink",
            evidence=tuple(
                Evidence(f"clique of GPU {gpu.index}", f"{gpu.fabric_clique} of {gpu.fabric_cluster}", source="NVML")
                for gpu in domain
            ),
            remedy=Remedy("Have the partitions of the NVLink switches looked at"),
            link=_GUIDE,
        )
    channels = [node for node in facts.kernel_driver.device_nodes if node.path.startswith(_CHANNEL)]
    running = facts.kernel_driver.imex_running
    evidence = (
        Evidence(
            "nvidia-imex", {True: "running", False: "not running", None: "unknown"}[running], source="process list"
        ),
        Evidence("IMEX channels", str(len(channels)), needed="1", source="/dev"),
    )
    # Schedulers start both for a job only, and one machine alone needs neither.
    if running is False:
        yield note(
            "nvidia-imex does not run: GPUs of other machines are reached through the network only",
            evidence=evidence,
            link=_GUIDE,
        )
    elif not channels:
        yield note(
            "There is no IMEX channel here: memory of other machines' GPUs cannot be mapped",
            evidence=evidence,
            link=_CHANNELS,
        )
    elif not any(gpu.fabric_faults for gpu in domain) and len(cliques) == 1:
        yield ok("NVLink reaches the other machines of the domain")
