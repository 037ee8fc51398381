"""The machine format of a fleet."""

from __future__ import annotations

import json
from typing import Any

from torchlift import __version__
from torchlift.doctor.fleet.fleet import Fleet
from torchlift.doctor.fleet.text_report import verdict
from torchlift.doctor.report.json_report import report as machine_report

FLEET_SCHEMA = 1
"""Version of the JSON form. Added keys do not change it; removed or re-interpreted ones do."""


def render(fleet: Fleet) -> str:
    """The report as ASCII text; the same fleet gives the same bytes."""
    return json.dumps(report(fleet), indent=2) + "\n"


def report(fleet: Fleet) -> dict[str, Any]:
    """The report as plain data; each machine's `report` is what `torchlift doctor --json` prints there."""
    return {
        "fleet_schema": FLEET_SCHEMA,
        "torchlift": __version__,
        "verdict": verdict(fleet),
        "health": fleet.health,
        "exit_code": fleet.exit_code,
        "strict": fleet.strict,
        "machines": [
            {
                "name": machine.name,
                "ranks": list(machine.ranks),
                "fit": not machine.is_bad,
                "error": machine.error,
                "report": None if machine.examination is None else machine_report(machine.examination),
                "smokes": [{"rank": rank, **smoke} for rank, smoke in machine.smokes],
            }
            for machine in fleet.machines
        ],
        "differences": [
            {
                "aspect": difference.aspect.id,
                "title": difference.aspect.title,
                "weight": difference.aspect.weight,
                "majority": difference.majority,
                "machines": list(difference.machines),
                "others": [{"value": value, "machines": list(names)} for value, names in difference.others],
            }
            for difference in fleet.differences
        ],
        "missing": [{"rank": rank, "reason": why} for rank, why in sorted(fleet.missing.items())],
        "collectives": [
            {
                "backend": tried.backend,
                "ranks": tried.ranks,
                "seconds": tried.seconds,
                "failed": [{"rank": rank, "reason": why} for rank, why in sorted(tried.failed.items())],
            }
            for tried in fleet.collectives
        ],
        "skipped_collectives": fleet.skipped_collectives,
        "error": fleet.error,
    }
