"""Reading the data files, each once and only when it is asked for."""

from __future__ import annotations

import json
from functools import cache
from pkgutil import get_data
from typing import Any


def text(name: str) -> str:
    """The content of a data file, such as "gpus.tsv"."""
    data = get_data("torchlift.wheels", f"data/{name}")  # importlib.resources takes longer than the reading
    assert data is not None
    return data.decode()


@cache
def table(name: str) -> dict[str, Any]:
    """A data file as JSON: "drivers" is data/drivers.json. Callers must not change what they get."""
    content: dict[str, Any] = json.loads(text(f"{name}.json"))
    return content


def data_date() -> str:
    """The day up to which the tables know releases, ISO 8601."""
    return str(table("releases")["date"])
