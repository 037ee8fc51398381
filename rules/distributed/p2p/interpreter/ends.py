"""How blocks end: what comes next, and what their names are worth where they were left, or where they may have failed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from torchlift.rules.distributed.p2p.interpreter.values import Doubt, Frame, Level, Unknown, Value, join


class Flow(Enum):
    """How a statement ends."""

    NEXT = 0
    BREAK = 1
    CONTINUE = 2
    RETURN = 3
    END = 4


End = tuple[Doubt, Flow, dict[str, Value], Value]
"""How a block may end, and what its names and its result are then; the doubt is what it depends on."""


class Landing:
    """Where an error of a block is caught, and what it finds there.

    Attributes:
        frame: the frame of the block.
        values: the names as they are wherever the block may fail; None while it cannot.
        level: how the errors relate to the rank.
        seen: up to which store `values` are known to hold.
        overwritten: what has changed since the block may have failed: lists, dicts and sets, or an object or a frame with
            the name and its value.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.values: dict[str, Value] | None = None
        self.level = Level.UNIFORM
        self.seen = -1
        self.overwritten: list[tuple[Value, str | None, Value]] = []


def landed(left: Mapping[str, Value], right: Mapping[str, Value], condition: Unknown) -> dict[str, Value]:
    """Names that are as in `left` or as in `right`; one that only one of them has is used in its case only."""
    both = {**right, **left}
    for name in left.keys() & right.keys():
        if left[name] is not right[name]:
            both[name] = join(left[name], right[name], condition)
    return both
