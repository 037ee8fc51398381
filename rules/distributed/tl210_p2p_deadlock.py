"""Point-to-point code that ends on the NCCL engine of torch 2.14 and hangs on that of 2.15."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.examples import deadlock_examples, named_ranks_examples
from torchlift.rules.distributed.facts.cpu_tensors import DEFAULT_DEVICES
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict
from torchlift.rules.distributed.p2p.findings import TARGETS, TRIGGERS, hang, judged_at, spans_a_collective
from torchlift.rules.rule import Context, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL210",
    name="p2p-deadlock",
    summary="Unbatched point-to-point that hangs on the one communicator of torch 2.15",
    why=(
        'Up to torch 2.14 `"nccl"` gave every pair of ranks a communicator of its own for unbatched `isend` and `irecv`. '
        "Since 2.15 all of a group runs in one queue per rank, and a large message needs its send and its receive at the "
        "head of both queues at once. In a ring where every rank sends first, none is. Before 2.15 the same happens with "
        "`init_process_group(device_id=...)`. The sends, receives, collectives and waits of the function were read for 2 "
        "to 8 ranks and run on a model of both engines; the notes show where each rank stands."
    ),
    fix=(
        "Safe when the operations stand in one list of statements that every rank runs, their handles are used for "
        "waiting only, nothing stands between the first operation and the first wait but assignments, and the group is "
        "the default one: each call becomes a `P2POp`, `batch_isend_irecv` runs them together where the first wait stood. "
        "Needs review when something had to be assumed: membership of the group or its backend, a condition that is the "
        "same on every rank, ranks that post nothing, a decorator, tensors that may share memory, calls in between, or what "
        "names such as `next_rank`, `world_size` or `is_last` mean, of which the message says how they were taken. "
        "Otherwise the help says what stands in the way."
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
    examples=(*deadlock_examples.EXAMPLES, *named_ranks_examples.EXAMPLES),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    judged = judged_at(use, context)
    judgement = judged.judgement if judged is not None else None
    if judged is None or judgement is None:
        return
    if judgement.verdict is ExchangeVerdict.HANGS_NOW and not spans_a_collective(judgement):
        yield hang("TL210", Severity.ERROR, use, judged, judgement, context)
