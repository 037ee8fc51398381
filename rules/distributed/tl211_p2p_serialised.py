"""Messages that overlapped on the old NCCL engine and run one after the other on that of torch 2.15."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import Finding, Safety, Severity
from torchlift.rules.distributed.facts.cpu_tensors import DEFAULT_DEVICES
from torchlift.rules.distributed.facts.nccl_environment import LAZY
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict
from torchlift.rules.distributed.p2p.findings import TARGETS, TRIGGERS, batching, judged_at
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL211",
    name="p2p-serialised",
    summary="Unbatched point-to-point that loses its overlap on the one communicator of torch 2.15",
    why=(
        'Up to torch 2.14 `"nccl"` gave every pair of ranks a communicator of its own for unbatched `isend` and `irecv`, so '
        "messages to different ranks overlapped. Since 2.15 they run in one queue per rank, in the order they were posted. "
        "Everything still ends; along a chain of ranks each message waits for the one before."
    ),
    fix=(
        "Needs review, because nothing is wrong: the operations become one `batch_isend_irecv`, which runs them together, "
        'where the same conditions hold as for TL210. A second group, or `backend="nccl-lazy"` (2.14 and later) for a group '
        "that only does point-to-point, brings the overlap back too."
    ),
    since=NEW_ENGINE,
    targets=TARGETS,
    triggers=TRIGGERS,
    severity=Severity.INFO,
    collectors=(BACKENDS, DEFAULT_DEVICES),
    sources=(
        "headers and strings of the torch 2.10-2.15 wheels (nccl2/ProcessGroupNCCL.hpp, lazy/LazyBackend.hpp), read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/192895 (eager), https://github.com/pytorch/pytorch/pull/192281 (default)",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    judged = judged_at(use, context)
    judgement = judged.judgement if judged is not None else None
    if judged is not None and judgement is not None and judgement.verdict is ExchangeVerdict.SERIALISED:
        size = judgement.sizes[-1]
        last = judged.at(size)
        message = (
            f"Nothing hangs, but messages that overlapped run one after the other since torch 2.15: with {size} ranks "
            f"{last.now.rounds} messages stand on the longest path, on the old engine {last.before.rounds}."
        )
        fix, words = batching(judged, context, proven=True)
        if fix is not None:
            fix = replace(fix, safety=Safety.UNSAFE)
            words = (
                words or "Needs review: nothing is wrong, and whether a batch is faster is for a measurement to say."
            )
        view = context.view
        yield Finding("TL211", view.path, view.span(use.node), message, Severity.INFO, f"{words} {LAZY}", fix)


_HEAD = """\
import torch
import torch.distributed as dist


def pass_on(x):
    rank, world = dist.get_rank(), dist.get_world_size()
    received = torch.zeros_like(x)
"""
_RUN = 'dist.init_process_group("gloo")\nresult = pass_on(torch.arange(3.0) + 10 * dist.get_rank())\n'

EXAMPLES = (
    Bad(
        _HEAD + "    requests = []\n    if rank < world - 1:\n        requests.append(dist.isend(x, rank + 1))\n"
        "    if rank > 0:\n        requests.append(dist.irecv(received, rank - 1))\n    for request in requests:\n"
        "        request.wait()\n    return received\n",
        _HEAD
        + "    requests = []\n    if rank < world - 1:\n        requests.append(dist.P2POp(dist.isend, x, rank + 1))\n"
        "    if rank > 0:\n        requests.append(dist.P2POp(dist.irecv, received, rank - 1))\n"
        "    for request in dist.batch_isend_irecv(requests) if requests else []:\n"
        "        request.wait()\n    return received\n",
        safety="unsafe",
        why="an open chain",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Ok(
        _HEAD + "    if rank < world - 1:\n        dist.send(x, rank + 1)\n    if rank > 0:\n"
        "        dist.recv(received, rank - 1)\n    return received\n",
        "blocking calls never overlapped",
    ),
    Ok(
        _HEAD + "    ops = [dist.P2POp(dist.isend, x, (rank + 1) % world)]\n"
        "    ops += [dist.P2POp(dist.irecv, received, (rank - 1) % world)]\n"
        "    for request in dist.batch_isend_irecv(ops):\n        request.wait()\n    return received\n",
        "a batch",
    ),
    Ok(
        _HEAD + "    if rank == 0:\n        dist.isend(x, 1).wait()\n    elif rank == 1:\n"
        "        dist.irecv(received, 0).wait()\n    return received\n",
        "one message at a time",
    ),
    Ok(
        "import socket\n\n\ndef pass_on(data: bytes, peer: socket.socket):\n    peer.send(data)\n"
        "    return peer.recv(1024)  # not torch.distributed.irecv\n",
        "sockets",
    ),
)
