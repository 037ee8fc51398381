"""A collective between a message and its wait, which on one communicator stands in the way of the other side."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.facts.cpu_tensors import DEFAULT_DEVICES
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict
from torchlift.rules.distributed.p2p.findings import TARGETS, TRIGGERS, hang, judged_at, spans_a_collective
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL213",
    name="p2p-handle-spans-collective",
    summary="A message that is still open when a collective of the same group is called",
    why=(
        'Up to torch 2.14 `"nccl"` ran unbatched `isend` and `irecv` beside the collectives of their group. Since 2.15 both '
        "go through one queue per rank: if one side posts its message before the collective and the other side behind it, "
        "the message waits for its other side, which waits for the collective, which waits for the message. The function "
        "was run for 2 to 8 ranks on a model of both engines; the notes show where each rank stands."
    ),
    fix=(
        "Never rewritten, because the order of messages and collectives is the program's: wait for the message before the "
        "collective, post both sides on the same side of it, or give the messages a group of their own."
    ),
    since=NEW_ENGINE,
    targets=TARGETS,
    triggers=TRIGGERS,
    severity=Severity.ERROR,
    collectors=(BACKENDS, DEFAULT_DEVICES),
    sources=(
        "headers and strings of the torch 2.10-2.15 wheels (nccl2/ProcessGroupNCCL.hpp, Batch.hpp), read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/192895 (eager), https://github.com/pytorch/pytorch/pull/192281 (default)",
        "simulation; no hang could be watched, because no machine with two GPUs was at hand",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    judged = judged_at(use, context)
    judgement = judged.judgement if judged is not None else None
    if judged is None or judgement is None:
        return
    if judgement.verdict is ExchangeVerdict.HANGS_NOW and spans_a_collective(judgement):
        yield hang("TL213", Severity.ERROR, use, judged, judgement, context, rewrite=False)


_HEAD = """\
import torch
import torch.distributed as dist


def step(x, total):
    rank = dist.get_rank()
"""

EXAMPLES = (
    Bad(
        _HEAD + "    if rank == 0:\n        sending = dist.isend(x, 1)\n    dist.all_reduce(total)\n    if rank == 0:\n"
        "        sending.wait()\n    elif rank == 1:\n        dist.recv(x, 0)\n",
        why="sent before, received after",
    ),
    Bad(
        _HEAD + "    world = dist.get_world_size()\n    work = None\n    if rank < world - 1:\n"
        "        work = dist.irecv(x, src=rank + 1)\n    dist.barrier()\n    if rank > 0:\n"
        "        dist.send(x, rank - 1)\n    if rank < world - 1:\n        work.wait()\n",
        why="a receive posted before a barrier",
    ),
    Ok(
        _HEAD + "    if rank == 0:\n        dist.isend(x, 1).wait()\n    elif rank == 1:\n        dist.recv(x, 0)\n"
        "    dist.all_reduce(total)\n",
        "the message is done before the collective",
    ),
    Ok(
        _HEAD + "    if rank == 0:\n        sending = dist.isend(x, 1)\n    elif rank == 1:\n"
        "        receiving = dist.irecv(x, 0)\n    dist.all_reduce(total)\n    if rank == 0:\n        sending.wait()\n"
        "    elif rank == 1:\n        receiving.wait()\n",
        "both sides stand before the collective",
    ),
    Ok(
        _HEAD + "    messages = dist.new_group(list(range(dist.get_world_size())))\n    if rank == 0:\n"
        "        sending = dist.isend(x, 1, group=messages)\n    dist.all_reduce(total)\n    if rank == 0:\n"
        "        sending.wait()\n    elif rank == 1:\n        dist.recv(x, 0, group=messages)\n",
        "the messages have a group of their own",
    ),
    Ok(
        _HEAD + "    if rank == 0:\n        sending = dist.isend(x, 1)\n    dist.all_reduce(total)\n    if rank == 0:\n"
        "        sending.wait()\n    elif rank == 1:\n        dist.recv(x, 0)\n\n\n"
        'dist.init_process_group("gloo")\n',
        "a project on gloo",
    ),
)
