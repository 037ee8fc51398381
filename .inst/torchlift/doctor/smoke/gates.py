"""Reasons why a smoke cannot run. None of these touches a GPU."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .bench import Bench

    Gate = Callable[[Bench], str | None]

_MARKED = "compute capability {}.{}"


def all_of(*gates: Gate) -> Gate:
    """The first reason of several gates."""

    def gate(bench: Bench) -> str | None:
        for each in gates:
            reason = each(bench)
            if reason:
                return reason
        return None

    return gate


def torch_from(major: int, minor: int, *attributes: str) -> Gate:
    """This release of torch or a newer one, which also has these names ("accelerator.Graph")."""

    def gate(bench: Bench) -> str | None:
        if bench.version < (major, minor):
            return f"needs torch >= {major}.{minor}; this is {bench.torch.__version__}"
        for name in attributes:
            if not _has(bench.torch, name.split(".")):
                return f"torch {bench.torch.__version__} has no torch.{name}"
        return None

    return gate


def torch_from_on_cpu(major: int, minor: int) -> Gate:
    """This release of torch or a newer one, but only on the CPU, where the ability came later."""
    inner = torch_from(major, minor)
    return lambda bench: inner(bench) if bench.kind == "cpu" else None


def torch_from_on_intel(major: int, minor: int) -> Gate:
    """This release of torch or a newer one, but only on Intel GPUs, where the ability came later."""
    inner = torch_from(major, minor)
    return lambda bench: inner(bench) if bench.kind == "xpu" else None


def capability_from(major: int, minor: int) -> Gate:
    """On NVIDIA GPUs, this compute capability or a higher one; an unknown one passes."""

    def gate(bench: Bench) -> str | None:
        seen = bench.capability
        if bench.kind != "cuda" or seen is None or seen >= (major, minor):
            return None
        return f"needs {_MARKED.format(major, minor)}; {bench.name} has {seen[0]}.{seen[1]}"

    return gate


def capability_between(low: tuple[int, int], high: tuple[int, int]) -> Gate:
    """On NVIDIA GPUs, a compute capability from `low` to `high`, both included; an unknown one passes."""

    def gate(bench: Bench) -> str | None:
        seen = bench.capability
        if bench.kind != "cuda" or seen is None or low <= seen <= high:
            return None
        return f"needs {_MARKED.format(*low)} to {high[0]}.{high[1]}; {bench.name} has {seen[0]}.{seen[1]}"

    return gate


def rocm_architecture(names: Iterable[str]) -> Gate:
    """On AMD GPUs, one of these architectures ("gfx942"); an unknown one passes."""
    wanted = tuple(names)

    def gate(bench: Bench) -> str | None:
        seen = str(bench.facts.get("architecture") or "").partition(":")[0]
        if bench.kind != "rocm" or not seen or seen in wanted:
            return None
        return f"needs one of {', '.join(wanted)}; {bench.name} is {seen}"

    return gate


def c_compiler(bench: Bench) -> str | None:
    """A C++ compiler, for code that inductor generates for the CPU. (GPUs are not gated: there a missing one fails.)"""
    names = ("cl",) if bench.facts.get("windows") else ("g++", "c++", "clang++")
    if bench.kind != "cpu" or any(map(shutil.which, names)):
        return None
    return f"needs a C++ compiler on PATH ({', '.join(names)}); install one to compile for the CPU"


def triton_where_needed(bench: Bench) -> str | None:
    """Triton, which inductor generates code for on every GPU; the wheels of torch for Windows come without it."""
    if bench.kind not in ("cuda", "rocm", "xpu") or bench.has("triton"):
        return None
    return "Triton is not installed (the wheels of torch for this system come without it); with it this runs"


def flash_on_windows(bench: Bench) -> str | None:
    """On Windows, torch 2.14: earlier wheels leave flash attention out (https://github.com/pytorch/pytorch/issues/125070;
    torch's own tests exclude Windows in 2.13.0 and no longer in 2.15.0, read 2026-11-22)."""
    if bench.kind != "cuda" or not bench.facts.get("windows") or bench.version >= (2, 14):
        return None
    return f"torch {bench.torch.__version__} comes without flash attention on Windows; torch 2.14 has it"


def devices_from(count: int) -> Gate:
    """So many devices; a CPU counts as many."""

    def gate(bench: Bench) -> str | None:
        seen = int(bench.facts.get("count") or 1)
        if bench.kind == "cpu" or seen >= count:
            return None
        return f"needs {count} visible devices; there is {seen}"

    return gate


def forks(bench: Bench) -> str | None:
    """Several ranks are forks of one process that has imported torch."""
    return None if bench.forked else "needs fork, to start several ranks at once (Linux)"


def _has(thing: object, names: Iterable[str]) -> bool:
    for name in names:
        if not hasattr(thing, name):
            return False
        thing = getattr(thing, name)
    return True
