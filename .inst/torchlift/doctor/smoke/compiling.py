"""Whether this torch can compile here at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .gates import all_of, c_compiler, capability_from, triton_where_needed

if TYPE_CHECKING:
    from .bench import Bench

TIMEOUT = 300.0
"""Seconds for a smoke that compiles: the first time took 97 s on two slow cores."""


def dynamo(bench: Bench) -> str | None:
    """Gate: dynamo knows this version of Python."""
    try:
        bench.module("torch._dynamo.eval_frame").check_if_dynamo_supported()
    except (ImportError, RuntimeError) as error:
        return f"this torch cannot compile here: {error}"
    return None


can_compile = all_of(capability_from(7, 0), triton_where_needed, c_compiler, dynamo)
"""Gate: inductor needs Triton on GPUs, and compute capability 7.0; dynamo knows some versions of Python only."""
