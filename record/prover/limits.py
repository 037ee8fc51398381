"""What a proof may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of one snapshot and its proof.

    Attributes:
        seconds: of CPU time for a proof; the clock may show twice as many, from when it is its turn.
        wait: seconds for which a prover waits for its turn, and for the archives that others prove.
        memory: bytes that a step may allocate beyond what the program already had.
        recorded: bytes of inputs and outputs that are kept for a value.
        state: bytes of a state dict; larger ones are not sent, and what was trained is not proved.
        calls: how many calls are kept for a value.
        alike: how many calls with equal shapes and modes are kept, as long as there are few.
        few: from so many kept calls on, only those are kept that are like no other.
        spooled: bytes of a captured value in a file, where its process cannot be copied.
        sleeping: how many snapshots of a process may sleep at a time.
        nice: added to the niceness of proofs.
    """

    seconds: float = 60.0
    wait: float = 900.0
    memory: int = 4 << 30
    recorded: int = 64 << 20
    state: int = 32 << 20
    calls: int = 96
    alike: int = 4
    few: int = 24
    spooled: int = 256 << 20
    sleeping: int = 128
    nice: int = 5
