"""The choice of a wheel for a machine."""

from __future__ import annotations

from torchlift.wheels.answer import Answer
from torchlift.wheels.machine import Machine


def resolve(machine: Machine, requirement: str | None = None, *, companions: tuple[str, ...] = ()) -> Answer:
    """The wheel for `machine` that satisfies `requirement` ("torch==2.15", ">=2.6,<2.9"); never raises."""
    return Answer(kind="unknown", summary="Not decided")
