"""What the CUDA driver library says, in a process of its own and under the interpreter examined."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from torchlift.doctor.facts import FACTS_SCHEMA, Facts, ProbeFailure
from torchlift.doctor.facts.facts_json import FactsError, from_json
from torchlift.doctor.probes.child import AT, MARK, Child, ChildResult

TIMEOUT = 30.0
"""Seconds. `cuInit` wakes every GPU, which takes a second or two each without persistence mode."""


def start(environment: Mapping[str, str] | None = None, timeout: float = TIMEOUT, python: str | None = None) -> Child:
    """Start asking. `environment` None inherits; `python` is the interpreter, None for torchlift's own."""
    script = Path(__file__).with_name("libcuda_child.py")
    command = (python or sys.executable or "python", "-I", "-S", str(script))
    return Child(command, {"mark": MARK, "at": AT}, timeout, environment).start()


def read(result: ChildResult, facts: Facts) -> None:
    """Put what the child answered into `facts.libcuda`; never raises.

    A child that hung or crashed leaves what it had found until then, and a `ProbeFailure` that names the call.
    """
    value, outcome, detail = result.answer
    if value is not None:
        try:
            facts.libcuda = from_json({"schema": FACTS_SCHEMA, "libcuda": value.get("libcuda")}).libcuda
        except FactsError as error:
            outcome, detail = "error", str(error)
    if outcome != "ok":
        facts.failures.append(ProbeFailure("libcuda", outcome, detail, result.signal, result.seconds))
    # "stuck" is a timeout to whoever asks what CUDA is good for; the failure says the difference.
    if outcome in ("crashed", "timeout", "stuck"):
        facts.libcuda.outcome = "crashed" if outcome == "crashed" else "timeout"
        facts.libcuda.text = detail
