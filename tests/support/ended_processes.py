"""Processes that a test started, after they were ended."""

from __future__ import annotations

import time
from pathlib import Path


def is_gone(process: int) -> bool:
    """A killed process may wait a moment for whoever inherited it."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
