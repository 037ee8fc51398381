"""Memory: its bandwidth for a while, and patterns in most of what is free."""

from __future__ import annotations

import time
from typing import Any

from ..bench import Bench
from ..memory import most_of_it
from ..smoke import Measurement, Signature, Skip, Smoke
from ..sustained import sustained

_CORRUPT = Signature(
    "memory-corrupt",
    r"wrong numbers in pattern",
    "Memory of the device gave back other bits than were written: cells, the link to them, or an overclocked memory",
    "Look at nvidia-smi -q -d ECC,ROW_REMAPPER and the kernel log for Xid messages, take off any overclocking and restart the "
    "machine, so that rows are remapped; if it happens again, have the card replaced",
)

SMOKE = Smoke(
    id="burn-memory",
    tier="burn",
    title="Memory keeps its bandwidth, and most of what is free keeps what is written",
    needs="256 MiB of free memory",
    reference="the card's datasheet, where torchlift has it; the bits that were written",
    limits=(("every pattern, words that differ", 0.0),),
    kinds=("cuda", "rocm", "xpu", "cpu"),
    signatures=(_CORRUPT,),
    # One round of patterns over 288 GB takes seconds; over the memory of a slow card behind a slow driver, minutes.
    timeout=300.0,
    loads=True,
    lasts=0.5,
    guessed="The floors of 50 % and 20 % are guesses",
)

_BLOCK, _SMALLEST, _CPU = 1 << 30, 256 << 20, 32 << 20
_ONES = -1
PATTERNS: tuple[tuple[str, int | None], ...] = (
    ("0x00", 0),
    ("0xFF", _ONES),
    ("0x55", 0x5555555555555555),
    ("0xAA", ~0x5555555555555555),
    ("addresses", None),
)
"""What is written into every word of 64 bits, and its name; None stands for the number of the word."""


def run(bench: Bench) -> Measurement:
    most = 4 * _CPU if bench.kind == "cpu" else most_of_it(bench)
    if most < _SMALLEST and bench.kind != "cpu":
        raise Skip(f"only {most >> 20} MiB of the device's memory can be taken; it runs with {_SMALLEST >> 20} MiB")
    size = min(_BLOCK, most // 4)
    rate = _bandwidth(bench, size, bench.seconds * 0.2)
    blocks = _blocks(bench, size, most)
    words = sum(block.numel() for block in blocks)
    rounds, wrong = _patterns(bench, blocks, bench.seconds * 0.3)
    return bench.measurement(
        rates={"memory": {**rate, "unit": "B/s"}}, tested=words * 8, rounds=rounds, wrong=wrong, seconds=bench.seconds
    )


def _bandwidth(bench: Bench, size: int, seconds: float) -> dict[str, Any]:
    source = bench.torch.ones(size // 4, device=bench.name)
    target = bench.torch.empty_like(source)
    # Every byte is read once and written once.
    return sustained(bench, lambda: target.copy_(source), amount=2.0 * size, seconds=seconds).told()


def _blocks(bench: Bench, size: int, most: int) -> list[Any]:
    """The memory to test. A comparison needs room too: for its result, or for the numbers of the words."""
    torch = bench.torch
    blocks: list[Any] = []
    for _ in range(max(1, most // size - 2)):
        try:
            blocks.append(torch.empty(size // 8, dtype=torch.int64, device=bench.name))
        except RuntimeError:  # of which out-of-memory is one: somebody else took it meanwhile
            if len(blocks) < 3:
                raise
            del blocks[-2:]
            break
    return blocks


def _patterns(bench: Bench, blocks: list[Any], seconds: float) -> tuple[int, list[str]]:
    """Write all, then read all, pattern after pattern, at least one round; the rounds, and where words differed."""
    torch = bench.torch
    where: list[str] = []
    numbers = torch.arange(blocks[0].numel(), dtype=torch.int64, device=bench.name)
    deadline, rounds = time.monotonic() + seconds, 0
    while not rounds or (time.monotonic() < deadline and not where):
        for name, value in PATTERNS:
            for at, block in enumerate(blocks):
                # The number of the block is in the upper half of its words' numbers: no two blocks hold the same.
                block.fill_(value) if value is not None else block.copy_(numbers).add_(at << 40)
            bench.synchronize()
            different = 0
            for at, block in enumerate(blocks):
                found = block != value if value is not None else (block - (at << 40)) != numbers
                count = int(found.sum())
                if count:
                    different += count
                    where.append(f"{name}: {count} words, first {int(found.nonzero()[0])} of block {at}")
            bench.measured(f"pattern {name}", different / sum(block.numel() for block in blocks), 0.0)
        rounds += 1
    return rounds, where[:10]
