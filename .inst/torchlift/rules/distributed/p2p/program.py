"""What every rank of a point-to-point exchange posts and waits for, with all peers known numbers.

This is the language between reading the code (`p2p.reading`) and running it (`p2p.simulation`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """One communication of one rank.

    Attributes:
        kind: what it does; a collective involves every member of its group.
        group: key of the group in `Exchange.groups`.
        line: line of the call in the file it is written in.
        peer: global rank of the other side; -1 for a collective.
        name: the torch.distributed function, for messages.
    """

    kind: Literal["send", "recv", "collective"]
    group: str
    line: int
    peer: int = -1
    name: str = ""


@dataclass(frozen=True, slots=True)
class Post:
    """Operations handed to the backend at once: a single one, or a batch that it runs as one.

    Attributes:
        operations: at least one.
        handle: number by which the same rank waits for it, unique in its program.
        batched: whether it came from `batch_isend_irecv` or a coalescing manager, also with a single operation.
    """

    operations: tuple[Operation, ...]
    handle: int
    batched: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """The rank goes on only when the operations posted under `handle` are done; a blocking call is a Post and a Wait."""

    handle: int
    line: int


RankProgram = tuple[Post | Wait, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One function as all ranks of a world run it.

    Attributes:
        programs: what each rank does, by global rank.
        groups: members (global ranks) by key; the key of the default group is the empty string.
    """

    programs: tuple[RankProgram, ...]
    groups: Mapping[str, tuple[int, ...]]

    def operations(self) -> Iterator[tuple[int, Operation]]:
        """Everything that is posted, with the rank that posts it."""
        for rank, program in enumerate(self.programs):
            for step in program:
                yield from ((rank, operation) for operation in (step.operations if isinstance(step, Post) else ()))

    @property
    def messages_meet(self) -> bool:
        """Whether every send has a receive, and every receive a send."""
        messages: Counter[tuple[str, int, int]] = Counter()
        for rank, operation in self.operations():
            if operation.kind == "send":
                messages[operation.group, rank, operation.peer] += 1
            elif operation.kind == "recv":
                messages[operation.group, operation.peer, rank] -= 1
        return not any(messages.values())
