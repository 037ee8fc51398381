"""GPUs behind NVSwitch need NVIDIA's fabric manager, of the driver's exact version."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.naming import gpu_list
from torchlift.doctor.derived.nvidia_driver import cuda_code, driver_version
from torchlift.doctor.facts import Facts
from torchlift.wheels.drivers import branch

_GUIDE = "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/"

CHECK = Check(
    id="fabric-manager",
    group="driver",
    title="The NVLink fabric is up",
    why=(
        "On machines with NVSwitch (HGX, DGX) no GPU can be used before nvidia-fabricmanager has set up the fabric, and "
        "it must be of the driver's exact version. nvidia-smi looks fine meanwhile; torch says `Error 802: system not "
        "yet initialized`."
    ),
    sources=(
        _GUIDE,
        "https://github.com/pytorch/pytorch/issues/35710",
        "https://github.com/huggingface/huggingface_hub/issues/4134",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    manager, driver = facts.kernel_driver.fabric_manager_version, driver_version(facts)
    unlike = bool(manager and driver and manager != driver)
    waiting = [gpu for gpu in facts.gpus if gpu.fabric_state in ("not-started", "in-progress")]
    failed = [gpu for gpu in facts.gpus if gpu.fabric_state == "completed" and gpu.fabric_status not in (None, 0)]
    if cuda_code(facts) == 802:
        yield Result(
            breaks_torch(facts),
            "CUDA waits for NVIDIA's fabric manager, which connects the GPUs through NVSwitch (error 802)",
            evidence=(Evidence("cuInit", "802", needed="0", source="libcuda"), *_evidence(facts)),
            remedy=_remedy(facts, unlike),
            link=_GUIDE,
        )
    elif failed:
        yield warning(
            f"The NVLink fabric refused {gpu_list(failed)}",
            evidence=tuple(
                Evidence(f"fabric status of GPU {gpu.index}", str(gpu.fabric_status), needed="0", source="NVML")
                for gpu in failed
            ),
            remedy=_remedy(facts, unlike),
            link=_GUIDE,
        )
    elif waiting:
        yield warning(
            f"The NVLink fabric is not ready for {gpu_list(waiting)}",
            evidence=_evidence(facts),
            remedy=_remedy(facts, unlike),
            link=_GUIDE,
        )
    elif unlike and any(gpu.fabric_state == "completed" for gpu in facts.gpus):
        yield warning(
            f"Fabric manager is of version {manager}, the driver of {driver}: it refuses to start with another version",
            evidence=_evidence(facts),
            remedy=_remedy(facts, unlike),
            link=_GUIDE,
        )
    elif any(gpu.fabric_state == "completed" for gpu in facts.gpus):
        yield ok("The NVLink fabric is up")


def _evidence(facts: Facts) -> tuple[Evidence, ...]:
    running = {True: "running", False: "not running", None: "unknown"}[facts.kernel_driver.fabric_manager_running]
    states = sorted({gpu.fabric_state for gpu in facts.gpus if gpu.fabric_state}) or ["unknown"]
    return (
        Evidence("nvidia-fabricmanager", running, needed="running", source="process list"),
        Evidence(
            "version of nvidia-fabricmanager",
            facts.kernel_driver.fabric_manager_version or "unknown",
            needed=driver_version(facts),
            source="the installed program",
        ),
        Evidence("fabric state of the GPUs", ", ".join(states), needed="completed", source="NVML"),
    )


def _remedy(facts: Facts, unlike: bool) -> Remedy:
    driver = driver_version(facts)
    if facts.system.container:
        return Remedy(
            "On the host: start nvidia-fabricmanager of the driver's version; on rented machines ask the provider"
        )
    if any(gpu.virtualization in ("passthrough", "vgpu") for gpu in facts.gpus):
        return Remedy("Ask the provider of this virtual machine: fabric manager runs on its host")
    if driver and (unlike or facts.kernel_driver.fabric_manager_version is None):
        if facts.system.distribution in ("ubuntu", "debian"):
            name = f"nvidia-fabricmanager-{branch(driver)}={driver}*"
            return Remedy(
                "Install fabric manager of the driver's exact version, then restart", f"sudo apt install '{name}'"
            )
        if facts.system.distribution in ("rhel", "rocky", "almalinux", "centos", "ol", "amzn"):
            name = f"nvidia-fabric-manager-{driver}"
            return Remedy(
                "Install fabric manager of the driver's exact version, then restart", f"sudo dnf install {name}"
            )
    if facts.kernel_driver.fabric_manager_running:
        return Remedy(
            "Start it anew; its log is /var/log/fabricmanager.log", "sudo systemctl restart nvidia-fabricmanager"
        )
    return Remedy("Start it, now and at every start", "sudo systemctl enable --now nvidia-fabricmanager")
