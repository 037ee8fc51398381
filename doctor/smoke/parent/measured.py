"""What smokes gave where they ran on a real GPU, beside their limits: a part of docs/smokes.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from torchlift.doctor.smoke.smoke import GPUS, Smoke


@cache
def runs() -> tuple[Mapping[str, Any], ...]:
    """The runs: "device", "driver", "torch", "date", and by the id of a smoke "worst", "error", "limit", "seconds" or "said".

    `scripts/measured_smokes.py` writes the file from reports of `torchlift doctor --smoke TIER --json`.
    """
    table = json.loads(Path(__file__).with_name("measured.json").read_text(encoding="utf-8"))
    return tuple(table["runs"])


def measured(smoke: Smoke) -> str:
    """A sentence, without its full stop, about where a smoke was measured."""
    for run in runs():
        row = run["smokes"].get(smoke.id)
        if row is None:
            continue
        where = f"{run['device']}, torch {run['torch']}, {run['date']}"
        if "said" in row:
            return f"Measured ({where}): {row['said']}"
        result = f"error {row['error']:.1e} of {row['limit']:g} (`{row['worst']}`)" if row["limit"] else "exact"
        return f"Measured ({where}): {result}, {row['seconds']:.1f} s"
    if not set(smoke.kinds) & set(GPUS):
        return "Measured on CPUs, for which it is"
    return "Limits measured on CPUs only: it has not run on a GPU yet"


def described() -> str:
    """The machines, for the head of the page."""
    return "; ".join(
        f"{run['device']} with driver {run['driver']} and torch {run['torch']} ({run['date']})" for run in runs()
    )
