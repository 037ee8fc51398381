"""Writes doctor/smoke/parent/measured.json from reports of `torchlift doctor --smoke TIER --json`, one machine's after the other's.

python scripts/measured_smokes.py DATE REPORT.json...   (a date such as 2026-11-26; later reports of a machine add to earlier ones)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from torchlift.json_records.writing import on_lines

_FILE = Path(__file__).resolve().parents[1] / "doctor" / "smoke" / "parent" / "measured.json"
_ABOUT = "What smokes gave on real GPUs: the comparison nearest to its limit, and seconds; or what was said of a rate."


def row(result: dict[str, Any]) -> dict[str, Any]:
    """What the table keeps of a smoke that passed."""
    if result["limit"] is None or result["tier"] == "burn":
        return {"said": result["reason"]}
    kept = {"worst": result["details"]["worst"], "error": result["error"], "limit": result["limit"]}
    return {**kept, "seconds": round(result["seconds"], 2)}


def main(date: str, reports: list[str]) -> None:
    """Reads, and writes the file anew."""
    runs: dict[tuple[str, ...], dict[str, Any]] = {}
    for name in reports:
        report = json.loads(Path(name).read_text(encoding="utf-8"))
        smokes, driver = report["smokes"], report["facts"]["nvml"]["driver_version"]
        for result in smokes["results"]:
            if result["outcome"] != "pass":
                continue
            device = smokes["devices"][result["device"]]
            key = (device, driver, smokes["torch"])
            known = {"device": device, "driver": driver, "torch": smokes["torch"], "date": date, "smokes": {}}
            runs.setdefault(key, known)["smokes"][result["id"]] = row(result)
    _FILE.write_text(on_lines({"about": _ABOUT, "runs": list(runs.values())}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
