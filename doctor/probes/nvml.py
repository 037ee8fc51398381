"""What NVML says of the driver and of every GPU, through the real nvidia-ml-py in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from torchlift.doctor.facts import FACTS_SCHEMA, Facts, ProbeFailure
from torchlift.doctor.facts.facts_json import FactsError, from_json
from torchlift.doctor.probes.child import AT, MARK, Child, ChildResult

TIMEOUT = 30.0
"""Seconds. Without persistence mode the driver wakes every GPU anew, which takes a second or two each."""

# A script's own bytecode is never kept, and compiling it takes longer than all that it does where there is no GPU. Its
# folder is asked last and only for it: modules of Python's have the names of others there.
_START = "import sys; sys.path.append(sys.argv[1]); import nvml_child; sys.path.pop(); nvml_child.run()"


def start(environment: Mapping[str, str] | None = None, timeout: float = TIMEOUT) -> Child:
    """Start asking, with torchlift's own interpreter, which has nvidia-ml-py. `environment` None inherits."""
    kept = ("-B",) if sys.dont_write_bytecode else ()
    command = (sys.executable or "python", "-I", "-S", *kept, "-c", _START, str(Path(__file__).parent))
    return Child(
        command, {"path": [str(folder) for folder in sys.path], "mark": MARK, "at": AT}, timeout, environment
    ).start()


def read(result: ChildResult, facts: Facts) -> None:
    """Put what the child answered into `facts.nvml`, `facts.gpus` and `facts.peers`; never raises.

    A child that hung or crashed leaves what it had found until then, and a `ProbeFailure` that names the call.
    """
    value, outcome, detail = result.answer
    if value is not None:
        try:
            found = from_json({"schema": FACTS_SCHEMA, **{part: value.get(part) for part in ("nvml", "gpus", "peers")}})
        except FactsError as error:
            outcome, detail = "error", str(error)
        else:
            facts.nvml, facts.gpus, facts.peers = found.nvml, found.gpus, found.peers
    if outcome != "ok":
        facts.failures.append(ProbeFailure("nvml", outcome, detail, result.signal, result.seconds))
    # "stuck" is a timeout to whoever asks what NVML is good for; the failure says the difference.
    if outcome in ("crashed", "timeout", "stuck"):
        facts.nvml.outcome = "crashed" if outcome == "crashed" else "timeout"
        facts.nvml.text = detail
