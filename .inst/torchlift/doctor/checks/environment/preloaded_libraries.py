"""LD_PRELOAD brings in no CUDA library."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, warning
from torchlift.doctor.derived.device_code import file_name
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="preloaded-libraries",
    group="environment",
    title="LD_PRELOAD loads no library of CUDA or torch",
    why=(
        "A library that is loaded first serves everyone: with another cuDNN, NCCL, cudart or NVRTC preloaded, `import torch` "
        "fails with undefined symbols. Allocators such as jemalloc are fine."
    ),
    sources=(
        "import torch 2.15.0 after loading each library first, tried 2026-11-21",
        "https://github.com/rapidsai/cugraph/issues/4465",
    ),
)

_CUDA = re.compile(r"lib(cudnn|nccl|cudart|nvrtc|cublas|cufft|cusparse|cusolver|curand|nvJitLink|c10|torch)")


def look(facts: Facts) -> Iterator[Result]:
    value = facts.environment.get("LD_PRELOAD", "")
    libraries = [part for part in re.split(r"[:\s]+", value) if part]
    if facts.torch is None or not libraries:
        return
    cuda = [path for path in libraries if _CUDA.match(file_name(path))]
    evidence = Evidence("LD_PRELOAD", value, needed="no library of CUDA or torch", source="environment")
    if cuda:
        yield warning(
            f"LD_PRELOAD loads {', '.join(cuda)} before torch's own",
            evidence=(evidence,),
            remedy=Remedy("Start without it", "unset LD_PRELOAD"),
        )
    else:
        yield ok(
            f"LD_PRELOAD loads {', '.join(file_name(path) for path in libraries)}, none of CUDA", evidence=(evidence,)
        )
