"""What a child that asks a library of the driver had found when it ended, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torchlift.doctor.facts import FACTS_SCHEMA, Facts, ProbeFailure
from torchlift.doctor.facts.facts_json import FactsError, from_json
from torchlift.doctor.probes.child import ChildResult


def take(result: ChildResult, name: Literal["nvml", "libcuda"], parts: Sequence[str], facts: Facts) -> None:
    """Put the `parts` of the answer into `facts`; never raises.

    A child that hung or crashed leaves what it had found until then, and a `ProbeFailure` that names the call.
    """
    value = result.value if isinstance(result.value, dict) else None
    outcome, detail = result.outcome, result.detail
    if outcome == "ok" and not (value and value.get("complete")):
        outcome = "error"
        detail = (detail.strip().splitlines() or ["It ended before it had asked everything"])[-1]
    if value is not None:
        try:
            found = from_json({"schema": FACTS_SCHEMA, **{part: value.get(part) for part in parts}})
        except FactsError as error:
            outcome, detail = "error", str(error)
        else:
            for part in parts:
                setattr(facts, part, getattr(found, part))
    if outcome != "ok":
        facts.failures.append(ProbeFailure(name, outcome, detail, result.signal, result.seconds))
    # "stuck" is a timeout to whoever asks what the library is good for; the failure says the difference.
    if outcome in ("crashed", "timeout", "stuck"):
        library = facts.nvml if name == "nvml" else facts.libcuda
        library.outcome, library.text = "crashed" if outcome == "crashed" else "timeout", detail
