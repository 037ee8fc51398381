"""What the CUDA driver library says, in a process of its own and under the interpreter examined."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from torchlift.doctor.facts import Facts
from torchlift.doctor.probes.answers import take
from torchlift.doctor.probes.child import AT, MARK, Child, ChildResult

TIMEOUT = 30.0
"""Seconds. `cuInit` wakes every GPU, which takes a second or two each without persistence mode."""


def start(environment: Mapping[str, str] | None = None, timeout: float = TIMEOUT, python: str | None = None) -> Child:
    """Start asking. `environment` None inherits; `python` is the interpreter, None for torchlift's own."""
    script = Path(__file__).with_name("libcuda_child.py")
    command = (python or sys.executable or "python", "-I", "-S", str(script))
    return Child(command, {"mark": MARK, "at": AT}, timeout, environment).start()


def read(result: ChildResult, facts: Facts) -> None:
    """Put what the child answered into `facts.libcuda`; never raises."""
    take(result, "libcuda", ("libcuda",), facts)
