"""From source text to verdict: the patterns of point-to-point code that were worked out for this project, and their kin."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.project import Project
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict, Judgement, judge
from torchlift.rules.distributed.p2p.interpreter.reading import exchanges

HEAD = """\
import torch
import torch.distributed as dist


def exchange(x, y):
    rank, world = dist.get_rank(), dist.get_world_size()
    following, preceding = (rank + 1) % world, (rank - 1) % world
"""


def judged(folder: Path, body: str) -> Judgement:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (folder / "code.py").write_text(HEAD + lines, encoding="utf-8")
    project = Project(folder, ["code.py"])
    (reading,) = exchanges(project.parse("code.py"), project)
    assert not reading.unknown
    judgement = judge(reading.exchanges)
    assert judgement is not None
    return judgement


WAIT = "\na.wait()\nb.wait()"
DRAIN = "\nfor request in requests:\n    request.wait()"

PATTERNS = {
    "a ring that sends first": (
        "a = dist.isend(x, following)\nb = dist.irecv(y, preceding)" + WAIT,
        ExchangeVerdict.HANGS_NOW,
    ),
    "a ring that receives first": (
        "a = dist.irecv(y, preceding)\nb = dist.isend(x, following)" + WAIT,
        ExchangeVerdict.HANGS_NOW,
    ),
    "a ring with a blocking receive": (
        "a = dist.isend(x, following)\ndist.recv(y, preceding)\na.wait()",
        ExchangeVerdict.HANGS_NOW,
    ),
    "a handle across a collective": (
        "if rank == 0:\n    a = dist.isend(x, 1)\ndist.all_reduce(y)\nif rank == 1:\n    dist.recv(x, 0)\n"
        "if rank == 0:\n    a.wait()",
        ExchangeVerdict.HANGS_NOW,
    ),
    "a ring in parity order": (
        "if rank % 2 == 0:\n    a = dist.isend(x, following)\n    b = dist.irecv(y, preceding)\n"
        "else:\n    a = dist.irecv(y, preceding)\n    b = dist.isend(x, following)" + WAIT,
        ExchangeVerdict.SERIALISED,
    ),
    "an open chain that sends first": (
        "requests = []\nif rank < world - 1:\n    requests.append(dist.isend(x, rank + 1))\n"
        "if rank > 0:\n    requests.append(dist.irecv(y, rank - 1))" + DRAIN,
        ExchangeVerdict.SERIALISED,
    ),
    "an open chain that receives first": (
        "requests = []\nif rank > 0:\n    requests.append(dist.irecv(y, rank - 1))\n"
        "if rank < world - 1:\n    requests.append(dist.isend(x, rank + 1))" + DRAIN,
        ExchangeVerdict.SERIALISED,
    ),
    "many to one": (
        "if rank == 0:\n    requests = [dist.irecv(y, other) for other in range(1, world)]\n"
        "else:\n    requests = [dist.isend(x, 0)]" + DRAIN,
        ExchangeVerdict.SERIALISED,
    ),
    "many to one, every root in turn": (
        "for root in range(world):\n    requests = []\n    if rank == root:\n        for other in range(world):\n"
        "            if other != root:\n                requests.append(dist.irecv(y, src=other))\n    else:\n"
        "        requests.append(dist.isend(x, dst=root))\n    for request in requests:\n        request.wait()",
        ExchangeVerdict.SERIALISED,
    ),
    "a swap that sends first": (
        "other = rank ^ 1\nif other < world:\n    a = dist.isend(x, other)\n    b = dist.irecv(y, other)\n    a.wait()\n    b.wait()",
        ExchangeVerdict.HUNG_BEFORE,
    ),
    "a halo that sends first": (
        "requests = []\nif rank > 0:\n    requests.append(dist.isend(x, rank - 1))\nif rank < world - 1:\n"
        "    requests.append(dist.isend(x, rank + 1))\nif rank > 0:\n    requests.append(dist.irecv(y, rank - 1))\n"
        "if rank < world - 1:\n    requests.append(dist.irecv(y, rank + 1))" + DRAIN,
        ExchangeVerdict.HUNG_BEFORE,
    ),
    "all to all that receives first": (
        "requests = [dist.irecv(y, other) for other in range(world) if other != rank]\n"
        "requests += [dist.isend(x, other) for other in range(world) if other != rank]" + DRAIN,
        ExchangeVerdict.HUNG_BEFORE,
    ),
    "a batched ring": (
        "requests = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, following), dist.P2POp(dist.irecv, y, preceding)])"
        + DRAIN,
        ExchangeVerdict.FINE,
    ),
    "a batched halo": (
        "ops = []\nfor other in (rank - 1, rank + 1):\n    if 0 <= other < world:\n"
        "        ops.append(dist.P2POp(dist.isend, x, other))\n        ops.append(dist.P2POp(dist.irecv, y, other))\n"
        "requests = dist.batch_isend_irecv(ops)" + DRAIN,
        ExchangeVerdict.FINE,
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_gets_the_verdict_of_the_table(name: str, tmp_path: Path) -> None:
    body, verdict = PATTERNS[name]
    assert judged(tmp_path, body).verdict is verdict


def test_a_ring_is_found_from_three_ranks_on(tmp_path: Path) -> None:
    assert judged(tmp_path, PATTERNS["a ring that sends first"][0]).sizes == (3, 4, 5, 6, 7, 8)
