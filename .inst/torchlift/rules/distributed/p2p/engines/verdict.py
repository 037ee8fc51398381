"""What becomes of an exchange when `"nccl"` turns into the engine with one communicator: nothing, less overlap, or a hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.distributed.p2p.engines.simulation import Engine, ExchangeOutcome, simulate
from torchlift.rules.distributed.p2p.program import Exchange


class ExchangeVerdict(Enum):
    """What happens to an exchange; the worst of all world sizes counts, in this order."""

    HANGS_NOW = "hangs on the new engine only"
    HUNG_BEFORE = "hangs on both engines"
    SERIALISED = "ends on both engines, on the new one with less overlap"
    FINE = "the same on both"
    OPEN = "not a whole exchange: sends and receives do not pair up"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One exchange on both engines.

    Attributes:
        verdict: the worst of what was found.
        sizes: world sizes it was found with, ascending.
        exchange: the exchange with the smallest of them.
        before: its end on the engine up to torch 2.14 without `device_id`.
        now: its end on the engine of torch 2.15.
        small_messages_pass: whether it ends on the new engine with every size while sends are buffered, so that a test
            with small tensors does not notice.
    """

    verdict: ExchangeVerdict
    sizes: tuple[int, ...]
    exchange: Exchange
    before: ExchangeOutcome
    now: ExchangeOutcome
    small_messages_pass: bool


def judge(exchanges: Mapping[int, Exchange]) -> Judgement | None:
    """The verdict on one function, given as the exchange it makes with each world size; None if there is none."""
    found: dict[ExchangeVerdict, list[tuple[int, ExchangeOutcome, ExchangeOutcome]]] = {}
    for size, exchange in sorted(exchanges.items()):
        before, now = simulate(exchange, Engine.LAZY), simulate(exchange, Engine.SINGLE)
        found.setdefault(_verdict(exchange, before, now), []).append((size, before, now))
    for verdict in ExchangeVerdict:
        if verdict in found:
            sizes = tuple(size for size, _, _ in found[verdict])
            smallest, before, now = found[verdict][0]
            buffered = all(simulate(exchanges[size], Engine.BUFFERED).done for size in sizes)
            return Judgement(verdict, sizes, exchanges[smallest], before, now, buffered)
    return None


def _verdict(exchange: Exchange, before: ExchangeOutcome, now: ExchangeOutcome) -> ExchangeVerdict:
    if not before.done or not now.done:
        if not _pairs_up(exchange):
            return ExchangeVerdict.OPEN
        return ExchangeVerdict.HANGS_NOW if before.done else ExchangeVerdict.HUNG_BEFORE
    return ExchangeVerdict.SERIALISED if now.rounds > before.rounds else ExchangeVerdict.FINE


def _pairs_up(exchange: Exchange) -> bool:
    """Whether every send has a receive, and every member of a group takes part in its collectives equally often."""
    collectives = Counter((one.group, rank) for rank, one in exchange.operations() if one.kind == "collective")
    counts = ({collectives[group, rank] for rank in members} for group, members in exchange.groups.items())
    return exchange.messages_meet and all(len(count) <= 1 for count in counts)
