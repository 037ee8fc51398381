"""Reads what the hooks of all processes told, of which any may have been killed in the middle of a line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from torchlift.lazy_dataclass import dataclass

Event = dict[str, Any]


@dataclass
class Told:
    """All that was told in one run.

    Attributes:
        processes: Python processes that began.
        with_torch: those that imported torch.
        events: in the order of their process; processes in the order of their first event.
        unfinished: processes with torch that did not say that they end: killed, or left by `os._exit`, as workers do.
        cut: processes whose last line is not whole.
    """

    processes: int
    with_torch: int
    events: list[Event]
    unfinished: int
    cut: int

    def of(self, *kinds: str) -> list[Event]:
        """Events of some kinds, in order."""
        return [event for event in self.events if event["e"] in kinds]


def read_spool(folder: Path) -> Told:
    """What lies in the folder of a run."""
    files = sorted(folder.glob("*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    begun = {path.name.partition("-")[2] for path in folder.glob("process-*")}
    # A fork of a process with torch has torch, and has a file if it did anything with it.
    told = Told(len(begun | {path.stem for path in files}), len(files), [], 0, 0)
    for path in files:
        events = _events(path, told)
        kinds = Counter(event["e"] for event in events)
        told.unfinished += kinds["torch"] > 0 and not kinds["end"]
        told.events += events
    return told


def _events(path: Path, told: Told) -> list[Event]:
    found = []
    for line in path.read_bytes().split(b"\n"):
        if not line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            told.cut += 1
            continue
        if isinstance(event, dict) and isinstance(event.get("e"), str):
            event["process"] = path.stem
            found.append(event)
    return found
