"""Environment variables for debugging that are easily forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.facts import Facts

_TORCH_DOCS = "https://docs.pytorch.org/docs/2.15/cuda_environment_variables.html"
_CUDA_DOCS = "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html"
_NCCL_DOCS = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"

CHECK = Check(
    id="forgotten-switches",
    group="environment",
    title="No switches for debugging are left on",
    why=(
        "Variables that were set once to find a fault stay in shell profiles and job scripts, and cost speed or change results "
        "without a word. NVIDIA says of NCCL's: `Keeping them set may result in sub-optimal behavior, crashes, or hangs.`"
    ),
    sources=(_TORCH_DOCS, _CUDA_DOCS, _NCCL_DOCS),
)

_OFF = frozenset({"", "0", "false", "off", "no"})

_SWITCHES = {
    "CUDA_LAUNCH_BLOCKING": ("waits after every kernel, which is slow", _CUDA_DOCS),
    "CUDA_DISABLE_PTX_JIT": ("never compiles PTX, so code without a cubin fails", _CUDA_DOCS),
    "CUDA_FORCE_PTX_JIT": ("ignores cubins, so PyTorch's wheels, which have no PTX, find no kernel", _CUDA_DOCS),
    "PYTORCH_NO_CUDA_MEMORY_CACHING": ("asks the driver for every tensor, which is slow", _TORCH_DOCS),
    "PYTORCH_NVML_BASED_CUDA_CHECK": (
        "makes torch.cuda.is_available() ask NVML, so it can be True although CUDA does not work",
        _TORCH_DOCS,
    ),
    "TORCH_CUDNN_V8_API_DISABLED": ("disables the cuDNN v8 API", _TORCH_DOCS),
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": ("forces TF32 in matrix products, whatever the program sets", _TORCH_DOCS),
    "NCCL_P2P_DISABLE": ("keeps GPUs from talking to each other directly, which is slow", _NCCL_DOCS),
    "NCCL_SHM_DISABLE": ("sends what could go through shared memory over the network", _NCCL_DOCS),
    "NCCL_IB_DISABLE": ("keeps NCCL off InfiniBand and RoCE", _NCCL_DOCS),
}
"""Variables that change what runs, not how it is reported, with what they do and who says so."""


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    found = False
    for name, (effect, source) in _SWITCHES.items():
        value = facts.environment.get(name)
        if value is not None and value.strip().lower() not in _OFF:
            found = True
            yield note(
                f"{name}={value} {effect}",
                evidence=(Evidence(name, value, needed="unset", source=source),),
                remedy=Remedy("Unset it, unless it is meant", f"unset {name}"),
                link=source,
            )
    debug = facts.environment.get("NCCL_DEBUG", "").upper()
    if debug in ("INFO", "TRACE"):
        found = True
        yield note(
            f"NCCL_DEBUG={debug} makes every rank print",
            evidence=(Evidence("NCCL_DEBUG", debug, needed="unset, VERSION or WARN", source=_NCCL_DOCS),),
            remedy=Remedy("Unset it when the search is over", "unset NCCL_DEBUG"),
            link=_NCCL_DOCS,
        )
    if not found:
        yield ok("No environment variable for debugging CUDA, torch or NCCL is set")
