"""One rank's part in examining a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchlift.doctor.derived.visible_gpus import visible_gpus
from torchlift.doctor.facts import Facts
from torchlift.doctor.fleet.exchange import FactsExchange, Gathered, Patience
from torchlift.doctor.fleet.launch import Launch
from torchlift.doctor.fleet.record import Record


def examine_rank(
    launch: Launch,
    *,
    python: str,
    environment: Mapping[str, str],
    patience: Patience,
    node: str,
    look: Callable[[], Facts],
    smokes: Callable[[Facts], list[dict[str, Any]]],
    speaks_for_machine: bool,
    is_here: bool = True,
    burn: bool = False,
) -> Gathered:
    """Look at this machine, run this rank's smokes, exchange records.

    Args:
        launch: who this is.
        python: an interpreter with torch, for the exchange.
        environment: for the exchange.
        patience: how long to wait for others.
        node: what the machine is called.
        look: takes the facts.
        smokes: runs smokes, results as JSON objects.
        speaks_for_machine: whether the facts go to rank 0: one of the ranks of a machine is enough.
        burn: measure the rates of the collectives, too.
        is_here: the facts are about the machine that this runs on, so that its GPUs can be used.
    """
    exchange = FactsExchange(launch, python, environment, patience, burn=burn)
    try:
        facts = look()
        results = smokes(facts)
        record = Record(
            node, launch.rank, facts if speaks_for_machine else None, results, is_here and _has_own_gpu(facts, launch)
        )
    except BaseException:
        exchange.stop()
        raise
    return exchange.finish(record)


def _has_own_gpu(facts: Facts, launch: Launch) -> bool:
    """Whether NCCL could connect this rank: two ranks on one GPU it refuses."""
    built = facts.torch is not None and facts.torch.cuda is not None
    seen = len(visible_gpus(facts).gpus) if facts.libcuda.outcome == "ok" else 0
    # Where a scheduler shows each rank one GPU only, that one is its own.
    return (
        built and facts.system.os == "linux" and (launch.local_rank < seen or (seen == 1 and launch.launcher == "srun"))
    )
