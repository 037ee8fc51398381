"""Random programs, read and run: every rank does in both what it does in the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from textwrap import indent

from exchange_programs import open_programs, programs
from exhaustive import tried
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_ranks import recorded

from torchlift.project import Project
from torchlift.rules.distributed.p2p.interpreter.reading import Reading, exchanges
from torchlift.rules.distributed.p2p.program import Exchange, Post, RankProgram, Wait
from torchlift.source import SourceText

SIZES = (2, 3, 4, 5)


def _plain(exchange: Exchange, rank: int) -> RankProgram:
    """The program of a rank as the recorder writes it: groups by members, no lines, handles in the order of posts."""
    numbers: dict[int, int] = {}
    steps: list[Post | Wait] = []
    for step in exchange.programs[rank]:
        if isinstance(step, Wait):
            steps.append(Wait(numbers[step.handle], 0))
            continue
        numbers[step.handle] = len(numbers)
        operations = tuple(
            replace(operation, group=str(exchange.groups[operation.group]), line=0, name="")
            for operation in step.operations
        )
        steps.append(Post(operations, numbers[step.handle], step.batched))
    return tuple(steps)


def _sends_or_receives(program: RankProgram | None) -> bool:
    posts = [step for step in program or () if isinstance(step, Post)]
    return any(operation.kind != "collective" for post in posts for operation in post.operations)


def _read(source: str) -> Reading | None:
    project = Project(Path("/nowhere"), ["program.py"], {"program.py": SourceText.from_bytes(source.encode())})
    view = project.view("program.py")
    assert view is not None
    readings = [reading for reading in exchanges(view, project, SIZES) if reading.function is not None]
    readings = [reading for reading in readings if reading.function is not None and reading.function.name == "program"]
    return readings[0] if readings else None


@settings(max_examples=tried(40, 150), suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_known_program_is_read_as_python_runs_it(source: str) -> None:
    ran = {size: [recorded(source, "program", rank, size) for rank in range(size)] for size in SIZES}
    reading = _read(source)
    if reading is None:
        assert not any(map(_sends_or_receives, chain.from_iterable(p for p in ran.values() if None not in p)))
        return
    assert not reading.assumed
    if reading.unknown:
        # One that does not end with some number of ranks is not read for the others either.
        enough = any if any("too long" in reason for reason in reading.unknown) else all
        assert enough(None in programs_ for programs_ in ran.values()), reading.unknown
        return
    for size, found in ran.items():
        if None in found:
            assert size not in reading.exchanges
        else:
            assert [_plain(reading.exchanges[size], rank) for rank in range(size)] == found


def test_a_program_that_does_not_end_is_not_read() -> None:
    counting = "left = world - 1\nwhile left > 0:\n    left -= 1\n"
    sending = indent(
        f"dist.send(x, (dist.get_rank() + 1) % world)\n{counting}    if left == 1:\n        break\n", "    "
    )
    body = indent(f"world = dist.get_world_size()\n{counting}{sending}", "    ")
    source = f"import torch.distributed as dist\n\n\ndef program(x):\n{body}"
    reading = _read(source)
    assert reading is not None and reading.unknown and "too long" in reading.unknown[0]
    assert [recorded(source, "program", 1, size) is None for size in SIZES] == [False, True, True, True]


@settings(max_examples=tried(40, 150), suppress_health_check=list(HealthCheck))
@given(open_programs(), st.lists(st.integers(-2, 4), min_size=5, max_size=5))
def test_what_is_known_of_a_program_does_not_depend_on_what_is_not(source: str, values: list[int]) -> None:
    try:
        compile(source, "program.py", "exec")
    except SyntaxError:
        return
    reading = _read(source)
    if reading is not None and (reading.unknown or reading.assumed):
        return
    for size in SIZES:
        ran = [recorded(source, "program", rank, size, values[rank]) for rank in range(size)]
        if reading is None:
            assert not any(map(_sends_or_receives, ran)) or None in ran
        elif size not in reading.exchanges:
            assert None in ran
        else:
            for rank, program in enumerate(ran):
                assert program is None or program == _plain(reading.exchanges[size], rank)


def test_ranks_that_may_have_returned_before_an_error_are_not_taken_to_fail() -> None:
    source = (
        "import torch.distributed as dist\n\n\ndef program(x, k):\n    rank, world = dist.get_rank(), dist.get_world_size()\n"
        "    if world == 3:\n        dist.isend(x, (rank + 1) % world).wait()\n        if k > 1:\n            return\n"
        "        if k > 5:\n            [][0]\n        else:\n            [][1]\n"
    )
    assert all(recorded(source, "program", rank, 3, 2) for rank in range(3))
    reading = _read(source)
    assert reading is not None and reading.unknown
