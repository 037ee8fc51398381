"""What NVML says of the driver and of every GPU, through the real nvidia-ml-py in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from torchlift.doctor.facts import Facts
from torchlift.doctor.probes.answers import take
from torchlift.doctor.probes.child import AT, MARK, Child, ChildResult

TIMEOUT = 30.0
"""Seconds. Without persistence mode the driver wakes every GPU anew, which takes a second or two each."""


def start(environment: Mapping[str, str] | None = None, timeout: float = TIMEOUT) -> Child:
    """Start asking, with torchlift's own interpreter, which has nvidia-ml-py. `environment` None inherits."""
    script = Path(__file__).with_name("nvml_child.py")
    command = (sys.executable or "python", "-I", "-S", str(script))
    return Child(
        command, {"path": [str(folder) for folder in sys.path], "mark": MARK, "at": AT}, timeout, environment
    ).start()


def read(result: ChildResult, facts: Facts) -> None:
    """Put what the child answered into `facts.nvml`, `facts.gpus` and `facts.peers`; never raises."""
    take(result, "nvml", ("nvml", "gpus", "peers"), facts)
