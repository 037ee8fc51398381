"""Overlapping point-to-point whose order cannot be worked out, so that a hang on the new engine cannot be ruled out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.facts.cpu_tensors import DEFAULT_DEVICES
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE, LAZY
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.facts.recorded_jobs import recorded_exchange
from torchlift.rules.distributed.groups.backends import BACKENDS
from torchlift.rules.distributed.p2p.findings import TARGETS, TRIGGERS, judged_at
from torchlift.rules.distributed.p2p.one_way import sends_first
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL212",
    name="p2p-order-unknown",
    summary="Overlapping unbatched point-to-point whose peers cannot be worked out",
    why=(
        "Since torch 2.15 all point-to-point of an NCCL group runs in one queue per rank. Messages that are open at the "
        "same time can then wait for each other in a circle, depending on who sends to whom in which order. Here the peers "
        "or the conditions are not expressions of the rank and the world size that torchlift can follow, also where names "
        "such as `next_rank`, `world_size`, `is_last_stage` or `group` are taken at their word, so it can neither report a "
        "hang nor rule it out."
    ),
    fix="Never rewritten: which operations belong together is not known.",
    since=NEW_ENGINE,
    targets=TARGETS,
    triggers=TRIGGERS,
    severity=Severity.INFO,
    collectors=(BACKENDS, DEFAULT_DEVICES),
    sources=(
        "headers and strings of the torch 2.10-2.15 wheels (nccl2/ProcessGroupNCCL.hpp), read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/192895 (eager), https://github.com/pytorch/pytorch/pull/192281 (default)",
    ),
)


_SEND_FIRST = (
    "Whoever runs this posts a send before a receive: where both sides of a message do, it hangs on every NCCL engine, and where all ranks "
    "of a ring do, on that of torch 2.15; small messages are buffered and pass. "
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.call is not None and any(isinstance(argument, ast.Starred) for argument in use.call.args):
        return  # it hands on what its callers say
    judged = judged_at(use, context)
    if judged is not None and judged.reading.unknown:
        reading = judged.reading
        message = (
            "Whether this exchange still ends on the NCCL engine of torch 2.15, where all of a group runs in one queue, "
            f"cannot be worked out: {judged.why or reading.unknown[0]}."
        )
        more = f" Also unknown: {'; '.join(reading.unknown[1:3])}." if len(reading.unknown) > 1 else ""
        first = _SEND_FIRST if sends_first(context.view, reading.calls) else ""
        advice = (
            f"{first}{'It ends' if first else 'It does'} if every message is posted in an order in which the first of each rank meets the first of its peer, as "
            f"in a batch (`dist.batch_isend_irecv`).{more} {LAZY} {ESCAPE}"
        )
        view = context.view
        notes = recorded_exchange(use, context)
        yield Finding("TL212", view.path, view.span(use.node), message, Severity.INFO, advice, notes=notes)


_HEAD = "import torch\nimport torch.distributed as dist\n\n\n"

_PAIRS = (
    _HEAD
    + "def swap(plan, group):\n    rank = dist.get_rank(group)\n    for peer in range(dist.get_world_size(group)):\n"
    "        if peer == rank:\n            continue\n        other = dist.get_global_rank(group, peer)\n        if {test}:\n"
    "            for x in plan.outgoing(peer):\n                dist.isend(x, other, group=group)\n"
    "            for y in plan.incoming(peer):\n                dist.irecv(y, other, group=group)\n        else:\n"
    "            for y in plan.incoming(peer):\n                dist.irecv(y, other, group=group)\n"
    "            for x in plan.outgoing(peer):\n                dist.isend(x, other, group=group)\n"
)

EXAMPLES = (
    Ok(_PAIRS.format(test="rank < peer"), "pair by pair, the lower rank first"),
    Bad(_PAIRS.format(test="plan.first(peer)"), why="pair by pair, whichever the plan says first"),
    Bad(
        _HEAD + "def exchange(x, y, plan):\n    a = dist.isend(x, plan.first)\n    b = dist.irecv(y, plan.second)\n"
        "    a.wait()\n    b.wait()\n",
        why="peers come from a plan",
    ),
    Bad(
        _HEAD + "def exchange(x, y, peer):\n    a = dist.isend(x, peer)\n    b = dist.irecv(y, peer)\n"
        "    a.wait()\n    b.wait()\n",
        why="hangs on every engine if both sides run it, which is not known",
    ),
    Ok(
        _HEAD + "def shift(x, y, rank, next_rank, prev_rank):\n    if rank % 2:\n        a = dist.isend(x, next_rank)\n"
        "        b = dist.irecv(y, prev_rank)\n    else:\n        b = dist.irecv(y, prev_rank)\n"
        "        a = dist.isend(x, next_rank)\n    a.wait()\n    b.wait()\n",
        "what the names say ends on every engine",
    ),
    Ok(
        _HEAD
        + "def isend(*args):\n    return dist.isend(*args)\n\n\ndef irecv(*args):\n    return dist.irecv(*args)\n\n\n"
        "def relay(x, y, plan):\n    a = isend(x, plan.first)\n    b = irecv(y, plan.second)\n    a.wait()\n    b.wait()\n",
        "functions that hand on what they are given",
    ),
    Ok(
        _HEAD
        + "def timed(x, plan):\n    for step in plan.steps:\n        if dist.get_rank() == 0:\n            if plan.wait(step):\n"
        "                dist.send(x, 1)\n            else:\n                dist.isend(x, 1)\n        if dist.get_rank() == 1:\n"
        "            if plan.wait(step):\n                dist.recv(x, src=0)\n            else:\n                dist.irecv(x, src=0)\n",
        "one rank sends, and one receives",
    ),
    Bad(
        _HEAD
        + "def both(x, plan):\n    for step in plan.steps:\n        if dist.get_rank() == 0:\n            dist.isend(x, 1)\n"
        "            dist.irecv(x, 1)\n        if dist.get_rank() == 1:\n            dist.isend(x, 0) if plan.first(step) else dist.irecv(x, 0)\n",
        why="both ranks send",
    ),
    Ok(_HEAD + "def send_to(x, to):\n    dist.isend(x, to).wait()\n", "nothing overlaps"),
    Ok(
        _HEAD
        + "def exchange(x, y, to, source):\n    ops = [dist.P2POp(dist.isend, x, to), dist.P2POp(dist.irecv, y, source)]\n"
        "    for request in dist.batch_isend_irecv(ops):\n        request.wait()\n",
        "a batch with unknown peers",
    ),
    Ok(
        _HEAD + "def exchange(x, y, to, source):\n    dist.send(x, to)\n    dist.recv(y, source)\n",
        "blocking calls run in their order on every engine",
    ),
    Ok(
        "import torch_npu\n" + _HEAD + "def exchange(x, y, plan):\n    a = dist.isend(x, plan.first)\n"
        "    b = dist.irecv(y, plan.second)\n    a.wait()\n    b.wait()\n",
        "a file for another chip",
    ),
    Ok(
        _HEAD + "dist.init_process_group('ccl')\n\n\ndef exchange(x, y, plan):\n    a = dist.isend(x, plan.first)\n"
        "    b = dist.irecv(y, plan.second)\n    a.wait()\n    b.wait()\n",
        "a program of its own on another backend, in a project that uses NCCL",
        files=(("train.py", "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"),),
    ),
    Ok(
        "import torch\n\n\nclass Channel:\n    def isend(self, x, to): ...\n    def irecv(self, y, source): ...\n\n\n"
        "def exchange(channel: Channel, x, y, to):\n    channel.isend(x, to)\n    channel.irecv(y, to)\n"
        '    """as torch.distributed.isend does"""\n',
        "an own class",
    ),
)
