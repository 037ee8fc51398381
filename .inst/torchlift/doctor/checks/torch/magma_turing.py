"""Linear algebra through MAGMA on Turing."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok
from torchlift.doctor.derived.device_code import complete, cubin_for, linear_algebra_library, listed
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.derived.visible_gpus import names, visible_gpus
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="magma-turing",
    group="torch",
    title="Linear algebra has device code for Turing",
    why=(
        "The x86_64 wheels of torch 2.11 to 2.15 for CUDA 13 are built with a MAGMA without code for compute capability 7.5 "
        "(T4, RTX 20). An operation of torch.linalg that goes to MAGMA would stop with `no kernel image is available for "
        "execution on the device`. The missing code was measured in the wheels; no report of the failure is known."
    ),
    sources=(
        "Device code of libtorch_cuda_linalg.so in the PyPI wheels of torch 2.11 to 2.15, read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/190633",
        "https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cuda.preferred_linalg_library",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    turing = [gpu for gpu in visible_gpus(facts).gpus if gpu.capability == (7, 5)]
    if not turing:
        return
    build = torch_build(facts.torch)
    library = linear_algebra_library(facts)
    if library is not None:
        code = complete(library.images)
        lacks, seen, source = not cubin_for(code, (7, 5), build.cuda), listed(code), library.path
    else:
        affected = build.release is not None and (2, 11) <= build.release <= (2, 15)
        lacks = (
            affected
            and facts.system.os == "linux"
            and facts.system.machine == "x86_64"
            and build.tag in ("cu130", "cu132")
        )
        seen, source = f"torch {facts.torch.version}", "wheels of torch 2.11 to 2.15, read 2026-11-21"
    evidence = Evidence("device code for linear algebra", seen, needed="for sm_75", source=source)
    if not lacks:
        yield ok(f"torch's linear algebra has device code for {names(turing)}", evidence=(evidence,))
        return
    yield note(
        f"MAGMA in torch {facts.torch.version} has no device code for {names(turing)}: operations that torch gives to "
        "MAGMA will likely fail",
        evidence=(evidence,),
        remedy=Remedy(
            'Let cuSOLVER do them: call torch.backends.cuda.preferred_linalg_library("cusolver") at the start'
        ),
        confidence="likely",
        cause="gpu-architecture",
    )
