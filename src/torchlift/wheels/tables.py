"""Reading the data files, each once and only when it is asked for."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def text(name: str) -> str:
    """The content of a data file, such as "gpus.tsv"."""
    return (files("torchlift.wheels") / "data" / name).read_text(encoding="utf-8")


@cache
def table(name: str) -> dict[str, Any]:
    """A data file as JSON: "drivers" is data/drivers.json. Callers must not change what they get."""
    content: dict[str, Any] = json.loads(text(f"{name}.json"))
    return content


def data_date() -> str:
    """The day up to which the tables know releases, ISO 8601."""
    return str(table("releases")["date"])
