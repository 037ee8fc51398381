"""One of NVML and CUDA works and the other does not."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.cuda_visible_devices import hides_all
from torchlift.doctor.derived.driver_libraries import hides_windows_driver
from torchlift.doctor.derived.kernel_module import refused_nodes, versions_differ
from torchlift.doctor.derived.naming import code_text
from torchlift.doctor.derived.nvidia_driver import cuda_code
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.driver_install import install_driver
from torchlift.doctor.remedies.restart import restart

CHECK = Check(
    id="nvml-and-cuda-disagree",
    group="driver",
    title="NVML and CUDA both answer",
    why=(
        "nvidia-smi and NVML need less of the driver than CUDA does: nvidia-smi can look fine while "
        "`torch.cuda.is_available()` is False with `No CUDA GPUs are available` or `CUDA driver initialization failed`. "
        "The code of cuInit, which torch does not always print, says what is wrong."
    ),
    sources=(
        "CUresult, https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html",
        "torch 2.15.0, error texts measured with a fake libcuda for 8 codes, 2026-11-21",
    ),
)

_EXPLAINED = {
    34: "stub-libcuda",
    102: "vgpu-licence",
    802: "fabric-manager",
    803: "driver-library-mix",
    804: "compat-package",
    999: "cuda-unknown-error",
}


def look(facts: Facts) -> Iterator[Result]:
    # Without a device to offer, cuInit refuses with 100; a list that is empty afterwards says the same.
    empty = facts.libcuda.outcome == "ok" and not facts.libcuda.devices
    code = 100 if empty else cuda_code(facts)
    if facts.nvml.outcome == "ok" and facts.gpus and code is not None:
        yield Result(
            breaks_torch(facts),
            f"NVML lists {len(facts.gpus)} GPU{'s' * (len(facts.gpus) != 1)}, but CUDA does not start: "
            f"cuInit answers {code_text(code)}",
            evidence=(
                Evidence("NVML", f"{len(facts.gpus)} GPUs", source="nvmlDeviceGetCount"),
                Evidence("cuInit", code_text(code), needed="0", source="libcuda"),
            ),
            remedy=_remedy(facts, code),
            cause=_cause(facts, code),
        )
    elif facts.libcuda.outcome == "ok" and facts.libcuda.devices and facts.nvml.outcome == "error":
        named = f"{facts.nvml.name or 'an error'} ({facts.nvml.code})"
        yield warning(
            f"CUDA works, but NVML answers {named}, so nvidia-smi and torch.cuda's monitoring calls fail",
            evidence=(
                Evidence("libcuda", f"{len(facts.libcuda.devices)} devices", source="cuInit"),
                Evidence("NVML", named, needed="ok", source="nvmlInit"),
            ),
            remedy=install_driver(facts),
            confidence="likely",
            cause="driver-version-mismatch" if versions_differ(facts) else None,
        )
    elif facts.nvml.outcome == facts.libcuda.outcome == "ok" and facts.libcuda.devices:
        yield ok("NVML and CUDA both answer")


def _cause(facts: Facts, code: int) -> str | None:
    if hides_windows_driver(facts):
        return "wsl-driver"
    if code in _EXPLAINED:
        return _EXPLAINED[code]
    if code == 100 and hides_all(facts):
        return "cuda-visible-devices"
    if code == 100 and any(gpu.mig_enabled and not gpu.mig_slices for gpu in facts.gpus):
        return "mig"
    return "device-permissions" if refused_nodes(facts) else None


def _remedy(facts: Facts, code: int) -> Remedy:
    if code in (2, 46):
        return Remedy("See which processes hold the GPUs, and end those that should not", "nvidia-smi")
    if code == 102:
        return Remedy("Give this virtual GPU its NVIDIA licence: set the licence server, then restart nvidia-gridd")
    if facts.system.container:
        return Remedy(
            "Start the container anew with access to all of the GPUs' device nodes, such as `docker run --gpus all`"
        )
    return restart(facts, "; if it stays so, install the driver anew")
