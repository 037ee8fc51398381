"""Point-to-point code that hangs on every NCCL engine as soon as its messages are large."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.facts.cpu_tensors import DEFAULT_DEVICES
from torchlift.rules.distributed.groups.backends import BACKENDS
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict
from torchlift.rules.distributed.p2p.findings import TARGETS, TRIGGERS, hang, judged_at
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL222",
    name="p2p-deadlock-on-every-engine",
    summary="Unbatched point-to-point in which two ranks wait for each other on every NCCL engine",
    why=(
        "Two ranks that both send to each other first, or both receive first, use one communicator, also on the engine up "
        "to torch 2.14. A send ends without its receive only while the message fits into NCCL's buffers, so such code runs "
        "until a tensor grows. This is not new in 2.15; it is reported because the same reading finds it."
    ),
    fix="As for TL210.",
    targets=TARGETS,
    triggers=TRIGGERS,
    severity=Severity.WARNING,
    collectors=(BACKENDS, DEFAULT_DEVICES),
    sources=(
        "headers and strings of the torch 2.10-2.15 wheels, read 2026-11-21",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/p2p.html (grouping sends and receives)",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    judged = judged_at(use, context)
    judgement = judged.judgement if judged is not None else None
    if judged is None or judgement is None:
        return
    if judgement.verdict is ExchangeVerdict.HUNG_BEFORE:
        yield hang("TL222", Severity.WARNING, use, judged, judgement, context)


_HEAD = """\
import torch
import torch.distributed as dist


def swap(x):
    other = dist.get_rank() ^ 1
    received = torch.empty_like(x)
"""
_RUN = 'dist.init_process_group("gloo")\nresult = swap(torch.arange(3.0) + 10 * dist.get_rank())\n'

EXAMPLES = (
    Bad(
        _HEAD + "    a = dist.isend(x, other)\n    b = dist.irecv(received, other)\n    a.wait()\n    b.wait()\n"
        "    return received\n",
        _HEAD + "    a = dist.P2POp(dist.isend, x, other)\n    b = dist.P2POp(dist.irecv, received, other)\n"
        "    for req in dist.batch_isend_irecv([a, b]):\n        req.wait()\n    return received\n",
        why="neighbours swap, both send first",
        run=_RUN,
        ranks=(2, 4),
    ),
    Ok(
        _HEAD + "    if dist.get_rank() < other:\n        dist.isend(x, other).wait()\n"
        "        dist.irecv(received, other).wait()\n    else:\n        dist.irecv(received, other).wait()\n"
        "        dist.isend(x, other).wait()\n    return received\n",
        "the lower rank sends first",
    ),
    Ok(
        _HEAD + "    ops = [dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, received, other)]\n"
        "    for request in dist.batch_isend_irecv(ops):\n        request.wait()\n    return received\n",
        "a batch",
    ),
    Ok(
        _HEAD + "    a = dist.isend(x, other)\n    b = dist.irecv(received, other)\n    a.wait()\n    b.wait()\n"
        '    return received\n\n\ndist.init_process_group(backend="gloo")\n',
        "a project on gloo",
    ),
)
