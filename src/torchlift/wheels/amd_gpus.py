"""What the architecture of an AMD GPU says about it.

Sources: AMD's tables of GPU architectures in ROCm's documentation and LLVM's AMDGPU processors, read 2026-11-21;
PYTORCH_ROCM_ARCH in .ci/docker/manywheel/build.sh of pytorch's branch release/2.13, read 2026-11-23.
"""

from __future__ import annotations

import re

from torchlift.lazy_pattern import lazy_pattern

_INSTINCT = lazy_pattern(r"gfx9(06|08|0a|4\d|5\d)", re.ASCII)
_INTEGRATED = lazy_pattern(r"gfx(902|909|90c|1013|103[3-7]|11(03|5\d))", re.ASCII)

ROCM_WHEELS = frozenset(
    """
    gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1200 gfx1201
    """.split()
)
"""Architectures that PyTorch's ROCm wheels since 2.13 are built for; older ones have fewer."""

_NAMED = (
    (lazy_pattern(r"\bmi3(00|25)[ax]?\b"), "gfx942"),
    (lazy_pattern(r"\bmi35[05]x?\b"), "gfx950"),
    (lazy_pattern(r"\bmi2(10|50x?)\b"), "gfx90a"),
    (lazy_pattern(r"\bmi100\b"), "gfx908"),
    (lazy_pattern(r"\bmi[56]0\b|\bradeon vii\b"), "gfx906"),
    (lazy_pattern(r"\bmi25\b|\bvega (56|64)\b"), "gfx900"),
    (lazy_pattern(r"\brx 9070\b|\br9700\b"), "gfx1201"),
    (lazy_pattern(r"\brx 9060\b"), "gfx1200"),
    (lazy_pattern(r"\brx 7900\b|\bw7[89]00\b"), "gfx1100"),
    (lazy_pattern(r"\brx 7[78]00\b|\bw7700\b"), "gfx1101"),
    (lazy_pattern(r"\brx 7600\b|\bw7600\b"), "gfx1102"),
    (lazy_pattern(r"\brx 6[89][05]0\b|\bw6800\b"), "gfx1030"),
    (lazy_pattern(r"\brx 67[05]0\b"), "gfx1031"),
    (lazy_pattern(r"\brx 66[05]0\b"), "gfx1032"),
    (lazy_pattern(r"\brx 6[45]00\b"), "gfx1034"),
    (lazy_pattern(r"\brx 5[67]00\b"), "gfx1010"),
    (lazy_pattern(r"\brx [45][78]0\b|\bmi6\b"), "gfx803"),
    (lazy_pattern(r"\b80[56]0s\b|\bstrix halo\b"), "gfx1151"),
    (lazy_pattern(r"\b8[89]0m\b"), "gfx1150"),
    (lazy_pattern(r"\b7[68]0m\b"), "gfx1103"),
)
_ITSELF = lazy_pattern(r"\bgfx\d{3,4}[a-f]?\b")
_LIKE_GFX1030 = lazy_pattern(r"gfx103[124]", re.ASCII)


def architecture_of(name: str) -> str | None:
    """ "gfx942" for "MI300X" and for itself; None for a name that is not known here."""
    words = " ".join(re.findall(r"[a-z0-9]+", name.lower()))
    words = re.sub(r"\brx(?=\d)", "rx ", words)
    itself = _ITSELF.search(words)
    if itself:
        return itself[0]
    return next((architecture for pattern, architecture in _NAMED if pattern.search(words)), None)


def is_instinct(architecture: str) -> bool:
    """It computes and has no screen."""
    return _INSTINCT.match(architecture) is not None


def is_integrated(architecture: str) -> bool:
    """It is a part of a processor, and in most machines there for the screen."""
    return _INTEGRATED.match(architecture) is not None


def override_for(architecture: str) -> str | None:
    """The value of HSA_OVERRIDE_GFX_VERSION with which users run a GPU on its sibling's code; AMD promises nothing."""
    return "10.3.0" if _LIKE_GFX1030.fullmatch(architecture) else None
