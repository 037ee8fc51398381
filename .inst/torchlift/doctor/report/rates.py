"""Rates that smokes measured, in one form for every report: what, on which device, how fast, and what the datasheet says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torchlift.lazy_dataclass import dataclass

_SINGLE = {"bandwidth": ("memory", "B/s"), "bf16-rate": ("bf16", "FLOP/s")}
_WORDS = {
    "memory": "memory",
    "fp64": "products in fp64",
    "fp32": "products in fp32",
    "tf32": "products in tf32",
    "fp16": "products in fp16",
    "bf16": "products in bf16",
    "fp8": "products in fp8",
}


@dataclass(frozen=True)
class Rate:
    """One rate of one device.

    Attributes:
        device: as torch names it, "" for all devices together.
        what: "products in bf16", "memory", "host to device", ...
        value: in `unit`.
        unit: "FLOP/s" or "B/s".
        full: what the datasheet or the link says, None where nothing does.
    """

    device: str
    what: str
    value: float
    unit: str
    full: float | None = None

    @property
    def share(self) -> float | None:
        """Of the full rate."""
        return None if not self.full else self.value / self.full


@dataclass(frozen=True)
class Pair:
    """How fast one GPU copies to another, in bytes a second; `direct` is peer-to-peer access."""

    source: int
    target: int
    rate: float
    direct: bool


def rates_of(smokes: Iterable[Mapping[str, Any]]) -> list[Rate]:
    """What the smokes measured, as their results stand in JSON; of a measure twice on a device, the last."""
    found: dict[tuple[str, str], Rate] = {}
    for smoke in smokes:
        for rate in _of(smoke):
            found[rate.device, rate.what] = rate
    return list(found.values())


def pairs_of(smokes: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """How fast every pair of GPUs copies, where that was measured."""
    for smoke in smokes:
        pairs = _mapping(smoke.get("details")).get("pairs")
        if isinstance(pairs, list):
            return [pair for each in pairs if (pair := _pair(_mapping(each))) is not None]
    return []


def shown(value: float, unit: str) -> str:
    """ "745 TFLOP/s", "25.3 GB/s"."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        # Thousands of TFLOP/s are what everybody says; of bytes there are TB/s.
        if value >= size and not (prefix == "P" and unit == "FLOP/s"):
            number = value / size
            return f"{number:.0f} {prefix}{unit}" if number >= 100 else f"{number:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _of(smoke: Mapping[str, Any]) -> Iterator[Rate]:
    """What is there in a shape that is known: results may come from files, and from another torchlift."""
    details = _mapping(smoke.get("details"))
    device = str(smoke.get("device") or "")
    single = _SINGLE.get(str(smoke.get("id")))
    value = _number(details.get("rate"))
    if single is not None and value is not None:
        yield Rate(device, _WORDS[single[0]], value, single[1], _number(details.get("datasheet")))
    for what, rate in _mapping(details.get("rates")).items():
        told = _mapping(rate)
        value = _number(told.get("rate"))
        if value is not None:
            of_all = "all_reduce" in what
            unit = str(told.get("unit") or "")
            yield Rate("" if of_all else device, _WORDS.get(what, what), value, unit, _number(told.get("full")))


def _pair(told: Mapping[str, Any]) -> Pair | None:
    source, target, rate = told.get("source"), told.get("target"), _number(told.get("rate"))
    if not (isinstance(source, int) and isinstance(target, int)) or rate is None:
        return None
    return Pair(source, target, rate, bool(told.get("direct")))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    return float(value) if known and isinstance(value, (int, float)) else None
