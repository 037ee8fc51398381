"""Annotations: workflow commands that GitHub Actions shows beside the lines of a pull request.

How values are escaped is in `actions/toolkit`, packages/core/src/command.ts (read 2026-11-23). GitHub shows ten annotations a level and
step, so what matters least comes last.
"""

from __future__ import annotations

from typing import Literal


def annotation(level: Literal["error", "warning", "notice"], properties: dict[str, object], text: str) -> str:
    """A line with one command."""
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{level} {listed}::{_data(text)}\n"


def _data(text: str) -> str:
    # What acts on a terminal does so in the log as well; no annotation is worth that.
    shown = "".join(c if c.isprintable() or c in "\t\r\n" else ascii(c)[1:-1] for c in text)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
