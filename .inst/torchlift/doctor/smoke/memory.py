"""How much of a device's memory a smoke may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bench import Bench

_SHARE, _SHARE_OF_COMMON = 0.9, 0.5


def free_memory(bench: Bench) -> int | None:
    """Free bytes of the device's memory, None where its backend does not tell them."""
    told = getattr(getattr(bench.torch, bench.type, None), "mem_get_info", None)
    if told is None:
        return None
    try:
        return int(told(bench.index)[0])
    except RuntimeError:
        # Some Intel GPUs refuse (c10/xpu/XPUCachingAllocator.cpp: "doesn't support querying the available free memory").
        return None


def most_of_it(bench: Bench) -> int:
    """Bytes that a test of the memory takes: most of what is free, and half where the system lives in it too."""
    free = free_memory(bench)
    if free is None:
        return int((bench.facts.get("memory") or 0) * _SHARE_OF_COMMON)
    return int(free * (_SHARE_OF_COMMON if _is_shared(bench) else _SHARE))


def _is_shared(bench: Bench) -> bool:
    """The GPU has no memory of its own (Jetson, GB10, APUs), or Windows moves it out when it grows scarce."""
    told = getattr(bench.torch, bench.type).get_device_properties(bench.index)
    own = not (getattr(told, "is_integrated", 0) or getattr(told, "is_integrated_gpu", False))
    return bool(bench.facts.get("windows")) or not own
