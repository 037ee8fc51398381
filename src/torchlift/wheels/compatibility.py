"""Which device code runs on which GPU.

Sources of the rules, all read 2026-11-21: `DEVICE_REQUIREMENT` in torch/cuda/__init__.py of torch 2.15.0 and its
variant for CUDA 13.2 and later (cubins and the integrated GPUs of Jetson); NVIDIA's CUDA Programming Guide, section
5.1.2.3 "Feature Set Compiler Targets" (the suffixes `a` and `f`).
"""

from __future__ import annotations

from torchlift.lazy_pattern import lazy_pattern

_CAPABILITY = lazy_pattern(r"\s*(?:sm_|compute_)?(\d{1,3})\.(\d)[af]?\s*")
_COMPACT = lazy_pattern(r"\s*(?:sm_|compute_)?(\d{1,3})(\d)[af]?\s*")
_IMAGE = lazy_pattern(r"\s*(?:sm_|compute_)?(\d{1,3})(\d)([af]?)\s*")

INTEGRATED = frozenset({(5, 3), (6, 2), (7, 2), (8, 7)})
"""GPUs of Jetson modules that share a major number with other chips, whose code they do not run. (Thor's 11.0 shares
it with none.)"""

UNIFIED_SINCE = (13, 2)
"""From this toolkit on, Orin (8.7) runs what was built for 8.0 and 8.6."""

_FAMILIES = {(10, 0): ((10, 0), (10, 3)), (12, 0): ((12, 0), (12, 1))}


def capability(text: str | None) -> tuple[int, int] | None:
    """A compute capability from "9.0", "sm_90", "90" or "90a"; None when `text` is none of these."""
    match = _CAPABILITY.fullmatch(text or "") or _COMPACT.fullmatch(text or "")
    return (int(match[1]), int(match[2])) if match else None


def renamed(capability: tuple[int, int]) -> tuple[int, int]:
    """The present number of a capability: Thor was 10.1 up to CUDA 12.9 and is 11.0 since CUDA 13.0."""
    return (11, 0) if capability == (10, 1) else capability


def runs_on(image: str, capability: tuple[int, int], toolkit: tuple[int, int] | None) -> bool:
    """Whether a cubin for `image` ("90", "90a", "100f"; "sm_" may precede) runs on a GPU of this compute capability.

    `toolkit` is the CUDA the image was built with, None when unknown: it decides only about Orin, and unknown counts
    as older than 13.2. Text that is no architecture runs on nothing.
    """
    match = _IMAGE.fullmatch(image)
    if match is None:
        return False
    built = renamed((int(match[1]), int(match[2])))
    device = renamed(capability)
    if match[3] == "a":
        return built == device
    if match[3] == "f":
        return device in _FAMILIES.get(built, (built,))
    if built == device:
        return True
    if device == (8, 7) and built in ((8, 0), (8, 6)):
        return toolkit is not None and toolkit >= UNIFIED_SINCE
    if device in INTEGRATED or built in INTEGRATED:
        return False
    return built[0] == device[0] and built[1] <= device[1]


def jit_runs_on(image: str, capability: tuple[int, int]) -> bool:
    """Whether a driver could compile PTX of this architecture for the GPU, given that the driver knows the PTX version.

    A driver older than the toolkit that wrote the PTX refuses it ("unsupported toolchain", error 222).
    """
    match = _IMAGE.fullmatch(image)
    if match is None:
        return False
    built = renamed((int(match[1]), int(match[2])))
    device = renamed(capability)
    if match[3] == "a":
        return built == device
    if match[3] == "f":
        return device in _FAMILIES.get(built, (built,))
    return built <= device
