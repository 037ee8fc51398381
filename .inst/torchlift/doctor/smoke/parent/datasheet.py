"""What makers say of their cards: rates, dense, with the page and the day they were read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from torchlift.lazy_dataclass import dataclass

_TYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8")


@dataclass(frozen=True)
class Card:
    """A row of the table.

    Attributes:
        name: for people.
        match: the name as the driver spells it, without "NVIDIA ".
        memory_between: in GiB, where a name has several sizes.
        rates: operations a second, dense, by type of number ("bf16"); "memory" in bytes a second.
        nvlink: bytes a second, both ways together.
        watts: the power that the card is made for.
        source: where all of it was read.
    """

    name: str
    match: str
    memory_between: tuple[int, int] | None
    rates: Mapping[str, float]
    nvlink: float | None
    watts: float | None
    source: str

    def rate(self, what: str) -> float | None:
        """The rate of "memory" or of products in a type, None where no source gave it."""
        return self.rates.get(what)


@cache
def cards() -> tuple[Card, ...]:
    """Every card that torchlift has a datasheet of."""
    rows = json.loads(Path(__file__).with_name("datasheet.json").read_text(encoding="utf-8"))["cards"]
    return tuple(map(_card, rows))


def find_card(name: str | None, memory: int | None) -> Card | None:
    """The card with this name (as the driver spells it) and memory in bytes, or None: never a similar one."""
    wanted = " ".join((name or "").removeprefix("NVIDIA").split()).casefold()
    for card in cards():
        if wanted != card.match.casefold():
            continue
        if card.memory_between is None:
            return card
        low, high = card.memory_between
        if memory is not None and low <= memory / 2**30 <= high:
            return card
    return None


def _card(row: Mapping[str, Any]) -> Card:
    rates = {name: row[f"{name}_tflops"] * 1e12 for name in _TYPES if row.get(f"{name}_tflops")}
    if row.get("bandwidth_gb_s"):
        rates["memory"] = row["bandwidth_gb_s"] * 1e9
    return Card(
        row["name"],
        row["match"],
        tuple(row["memory_gib"]) if row.get("memory_gib") else None,
        rates,
        row["nvlink_gb_s"] * 1e9 if row.get("nvlink_gb_s") else None,
        row.get("watts"),
        row["source"],
    )
