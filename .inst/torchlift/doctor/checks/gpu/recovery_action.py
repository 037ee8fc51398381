"""What the driver says a GPU needs before it can be trusted again."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, Status, ok
from torchlift.doctor.derived.naming import gpu_label
from torchlift.doctor.facts import Facts, Gpu
from torchlift.doctor.remedies.driver_install import reset_gpu
from torchlift.doctor.remedies.restart import restart

_XIDS = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"

CHECK = Check(
    id="recovery-action",
    group="gpu",
    title="No GPU waits to be reset",
    why=(
        "After an error the driver says what a GPU needs: Xid 154 `GPU recovery action changed from 0x0 (None) to 0x1 (GPU "
        "Reset Required)`. Until then programs may fail to start on it, or fail later."
    ),
    sources=(_XIDS, "nvidia-ml-py 13.615.71: NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, NVML_GPU_RECOVERY_ACTION_*"),
)

_NEEDS: dict[str, tuple[Status, str]] = {
    "gpu-reset": ("problem", "must be reset before it can be used"),
    "bus-reset": ("problem", "must be reset through its bus before it can be used"),
    "node-reboot": ("problem", "cannot be used before this machine is started anew"),
    "system-reboot": ("problem", "cannot be used before this machine is started anew"),
    "drain-p2p": ("warning", "should not exchange data with other GPUs until it has been reset"),
    "drain-and-reset": ("warning", "works at reduced capacity until it is reset"),
    "recover-imex-domain": ("warning", "waits for the NVLink domain (IMEX) to be set up again"),
}


def look(facts: Facts) -> Iterator[Result]:
    known = False
    for gpu in facts.gpus:
        action = gpu.recovery_action
        if action is None:
            continue
        known = known or action == "none"
        if action != "none":
            status, what = _NEEDS.get(action, ("warning", f"needs something that torchlift does not know ({action})"))
            yield Result(
                status,
                f"{gpu_label(gpu)} {what}",
                evidence=(Evidence(f"recovery action of GPU {gpu.index}", action, needed="none", source="NVML"),),
                remedy=_remedy(facts, gpu, action),
                link=_XIDS,
            )
    if known:
        yield ok("No GPU waits to be reset")


def _remedy(facts: Facts, gpu: Gpu, action: str) -> Remedy:
    if action in ("node-reboot", "system-reboot"):
        return restart(facts, ", after the programs that run have ended")
    if action == "recover-imex-domain":
        return Remedy("Start nvidia-imex anew on all machines of the NVLink domain")
    return reset_gpu(facts, gpu)
