"""Extensions have device code for the GPUs in view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from torchlift.doctor.check import Check, Evidence, Remedy, Result, Status, note, ok, warning
from torchlift.doctor.derived.device_code import cubin_for, listed, ptx_for
from torchlift.doctor.derived.naming import spelled
from torchlift.doctor.derived.nvidia_driver import cuda_of_driver
from torchlift.doctor.derived.torch_build import driver_toolkit, torch_build
from torchlift.doctor.derived.visible_gpus import VisibleGpu, names, visible_gpus
from torchlift.doctor.facts import CodeImages, Facts, Library
from torchlift.doctor.remedies.package_commands import install, pinned
from torchlift.doctor.remedies.wheel_remedy import is_companion, wheel_remedy

CHECK = Check(
    id="extension-architecture",
    group="packages",
    title="Extensions have device code for every GPU",
    why=(
        "torch may run on a card and an extension not: wheels of flash-attn, xformers and the like are built for fewer GPUs. "
        "Its first kernel stops with `no kernel image is available for execution on the device`; PTX of a toolkit newer than "
        "the driver with `the provided PTX was compiled with an unsupported toolchain`."
    ),
    sources=(
        "https://github.com/PozzettiAndrea/cuda-wheels/issues/13",
        "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html",
    ),
)

_CUDART = re.compile(r"libcudart(?:\.[0-9a-f]{8})?\.so\.(\d{1,2})", re.ASCII)


def look(facts: Facts) -> Iterator[Result]:
    if facts.torch is None or facts.torch.cuda is None:
        return
    visible = visible_gpus(facts)
    known = [gpu for gpu in visible.gpus if gpu.capability is not None]
    for name in sorted({library.package for library in facts.libraries if library.package}):
        libraries = [library for library in facts.libraries if library.package == name and library.images]
        if known and libraries and name not in ("torch", "triton") and not name.startswith("nvidia-"):
            yield from _package(facts, name, libraries, known, visible.certain)


def _package(
    facts: Facts, name: str, libraries: Sequence[Library], gpus: Sequence[VisibleGpu], certain: bool
) -> Iterator[Result]:
    assert facts.torch is not None
    package = facts.package(name)
    told = f"{name} {package.version}" if package else name
    toolkit = torch_build(facts.torch).cuda
    # A package may keep kernels for one generation in a library of their own: all of them together count.
    images = [image for library in libraries for image in library.images]
    without_cubin = [gpu for gpu in gpus if not cubin_for(images, gpu.capability or (0, 0), toolkit)]
    without_code = [gpu for gpu in without_cubin if not ptx_for(images, gpu.capability or (0, 0))]
    evidence = Evidence(
        f"device code in {name}", _once(images), needed=f"for {names(without_cubin or gpus)}", source=libraries[0].path
    )
    if without_code:
        status: Status = "problem" if certain and len(without_code) == len(gpus) else "warning"
        yield Result(
            status,
            f"{told} has no device code for {names(without_code)}: its kernels fail there",
            evidence=(evidence,),
            remedy=_rebuild(facts, name, package.version if package else "", without_code),
            cause="gpu-architecture",
        )
        return
    driver = driver_toolkit(cuda_of_driver(facts))
    built = _toolkit(libraries, package.version if package else "")
    if without_cubin and driver is not None and built is not None and driver < built:
        yield warning(
            f"{told} has only PTX of CUDA {spelled(built)} for {names(without_cubin)}, which a driver for CUDA "
            f"{spelled(driver)} refuses (error 222)",
            evidence=(
                evidence,
                Evidence(
                    "CUDA of the driver",
                    spelled(driver),
                    needed=f"{spelled(built)} or newer",
                    source="cuDriverGetVersion",
                ),
            ),
            remedy=_rebuild(facts, name, package.version if package else "", without_cubin),
            confidence="likely",
        )
    elif without_cubin:
        yield note(f"{told} has only PTX for {names(without_cubin)}: the first start compiles it", evidence=(evidence,))
    else:
        yield ok(f"{told} has device code for {names(gpus)}", evidence=(evidence,))


def _once(images: Sequence[CodeImages]) -> str:
    seen = {(image.kind, image.architecture): image for image in images}
    return listed(seen.values())


def _toolkit(libraries: Sequence[Library], version: str) -> tuple[int, int] | None:
    """The CUDA it was built with, at least: from the version's local part, else the major version of cudart."""
    local = re.search(r"\+cu(\d\d)(\d)$", version, re.ASCII)
    if local is not None:
        return int(local[1]), int(local[2])
    majors = [int(found[1]) for library in libraries for name in library.needed if (found := _CUDART.match(name))]
    return (max(majors), 0) if majors else None


def _rebuild(facts: Facts, name: str, version: str, gpus: Sequence[VisibleGpu]) -> Remedy:
    if is_companion(name):
        return wheel_remedy(facts)
    wanted = ";".join(sorted({spelled(gpu.capability) for gpu in gpus if gpu.capability is not None}))
    again = install(
        facts,
        "--no-build-isolation",
        "--no-cache-dir",
        pinned(name, version.partition("+")[0]) if version else name,
        reinstall=True,
        without_dependencies=True,
    )
    return Remedy(
        f"Install a build of {name} for this GPU, or build it here", f'TORCH_CUDA_ARCH_LIST="{wanted}" {again}'
    )
