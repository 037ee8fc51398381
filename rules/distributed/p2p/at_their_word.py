"""Exchanges that a strict reading leaves open, read with names taken at their word, as a person reads them.

`next_rank` is the next rank, a group that comes from outside holds all ranks, and what comes from outside is the same on
every rank. Where the exchange ends then on 2 to 8 ranks, there is nothing to say; where it hangs, the finding names what was
taken for what. Nothing read here is ever the reason for a safe fix.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.distributed.p2p.calls import OVERLAPPING
from torchlift.rules.distributed.p2p.engines.verdict import ExchangeVerdict, Judgement, judge
from torchlift.rules.distributed.p2p.interpreter.code import Body, Code
from torchlift.rules.distributed.p2p.interpreter.reading import SIZES, Reading, WorldRun, attempted
from torchlift.rules.distributed.p2p.interpreter.values import CodeRaises, CommonChoice, Layout, Open
from torchlift.rules.distributed.p2p.program import Exchange, Post, Wait

_MOST_CHOICES = 9
_MOST_WAYS = 160
"""Ways through one function that are tried, over all layouts."""
_FIRST_SIZES = (2, 4)
"""A way in which messages do not meet with these numbers of ranks is not one in which the function is called."""


@dataclass(frozen=True)
class AtTheirWord:
    """One function with its names at their word.

    Attributes:
        reading: the way through it that hangs, or the first in which all messages meet; without exchanges where none does.
        judgement: what becomes of it; None where it stays open.
        taken: what names were taken for, as clauses.
        why: why it stays open, as a clause; empty where it does not.
    """

    reading: Reading
    judgement: Judgement | None
    taken: tuple[str, ...] = ()
    why: str = ""

    @property
    def ends(self) -> bool:
        """Whether it ends on the new engine, as far as names say."""
        return self.judgement is not None and self.judgement.verdict in _ENDING


_ENDING = {ExchangeVerdict.FINE, ExchangeVerdict.SERIALISED}


@dataclass(frozen=True)
class _Way:
    """One way through a function.

    Attributes:
        attempts: by number of ranks, where all messages meet.
        choices: what conditions were taken to be, and how to say it, by key.
        failed: whether the code fails with some number of ranks.
        why: why what it does cannot be said, as a clause; empty where it can.
    """

    attempts: Mapping[int, WorldRun]
    choices: Mapping[str, tuple[bool, str]]
    failed: bool = False
    why: str = ""

    @property
    def layout_matters(self) -> bool:
        """Whether it may do something else in another layout."""
        return self.failed or any(attempt.layout_matters for attempt in self.attempts.values())

    @property
    def exchanges(self) -> dict[int, Exchange]:
        return {size: attempt.exchange for size, attempt in self.attempts.items()}


def at_their_word(code: Code, project: Project, reading: Reading) -> AtTheirWord:
    """An exchange that a strict reading leaves open, with its names at their word.

    Where the whole function stays open, the functions it calls are asked: if all of its messages are theirs and all of those
    end, so does it.
    """
    body: Body = reading.function if reading.function is not None else code.view.tree
    whole = _function(code, project, body, reading)
    if whole.judgement is not None:
        return whole
    ended: set[ast.Call] = set()
    for helper in code.helpers(body):
        part = _function(code, project, helper, replace(reading, function=helper))
        if part.judgement is not None and not part.ends:
            return part
        if part.ends:
            ended.update(part.reading.calls)
    if reading.calls and ended.issuperset(reading.calls):
        return replace(whole, why="", judgement=part.judgement)
    return whole


def _function(code: Code, project: Project, body: Body, reading: Reading) -> AtTheirWord:
    left = [_MOST_WAYS]
    why = ""
    for layout in Layout:
        ways: list[_Way] = []
        matters = False
        for way in _ways(code, project, body, layout, left):
            why = why or way.why
            matters = matters or way.layout_matters
            if any(_communicates(exchange) for exchange in way.exchanges.values()):
                ways.append(way)
        if left[0] < 0:
            why = "it depends on too many conditions"
            break
        if ways:
            return _judged(ways, reading, code, why)
        if not matters:
            break
    return AtTheirWord(reading, None, why=why or "no way through it is known in which all messages meet")


def _communicates(exchange: Exchange) -> bool:
    return any(operation.kind != "collective" for _, operation in exchange.operations())


def _ways(code: Code, project: Project, body: Body, layout: Layout, left: list[int]) -> Iterator[_Way]:
    """Every way through a function, until `left` runs out."""
    pending: list[dict[str, tuple[bool, str]]] = [{}]
    while pending:
        choices = pending.pop()
        left[0] -= 1
        if left[0] < 0 or len(choices) > _MOST_CHOICES:
            left[0] = -1
            return
        try:
            yield _way(code, project, body, layout, choices)
        except CommonChoice as choice:
            for answer in (False, True):
                text = f"`{choice.condition.key}` in line {choice.line} is {str(answer).lower()} on every rank"
                pending.append({**choices, choice.condition.key: (answer, text)})
        except (Open, RecursionError) as reason:
            yield _Way({}, choices, failed=True, why=str(reason) or "its expressions are nested too deep")


def _way(code: Code, project: Project, body: Body, layout: Layout, choices: Mapping[str, tuple[bool, str]]) -> _Way:
    """One way through a function.

    Raises:
        CommonChoice: another condition has to be chosen.
        Open: what some rank does cannot be said.
    """
    taken = {key: answer for key, (answer, _) in choices.items()}
    found: dict[int, WorldRun] = {}
    failed = False
    for size in (*_FIRST_SIZES, *(size for size in SIZES if size not in _FIRST_SIZES)):
        if size not in _FIRST_SIZES and not any(_communicates(attempt.exchange) for attempt in found.values()):
            break
        try:
            attempt = attempted(code, project, body, size, taken, layout)
        except CodeRaises:
            failed = True
            continue
        if attempt.exchange.messages_meet:
            found[size] = attempt
        else:
            failed = True
            if choices:
                return _Way(
                    {}, choices, failed
                )  # in a ring of two, what is sent to the next may come from the one before
    return _Way(dict(sorted(found.items())), choices, failed)


def _judged(ways: Sequence[_Way], reading: Reading, code: Code, why: str) -> AtTheirWord:
    """The worst of all ways; a ring that only hangs where it is closed, though the code may leave it open, stays open."""
    worst: tuple[_Way, Judgement] | None = None
    for way in ways:
        judgement = judge(way.exchanges)
        if judgement is not None and (
            worst is None or _ORDER.index(judgement.verdict) < _ORDER.index(worst[1].verdict)
        ):
            worst = way, judgement
    assert worst is not None
    way, judgement = worst
    taken = tuple(dict.fromkeys(text for attempt in way.attempts.values() for text in attempt.taken))
    assumed = tuple(
        dict.fromkeys(
            [
                *(text for _, text in way.choices.values()),
                *(text for attempt in way.attempts.values() for text in attempt.assumed),
            ]
        )
    )
    calls = dict.fromkeys(call for other in ways for attempt in other.attempts.values() for call in attempt.calls)
    read = replace(
        reading,
        calls=tuple(sorted(calls, key=lambda call: (call.lineno, call.col_offset))),
        exchanges=way.exchanges,
        unknown=(),
        assumed=(*taken, *assumed),
    )
    if judgement.verdict in _ENDING:
        missed = next((call for call in reading.calls if _may_wait(code, call) and call not in calls), None)
        if missed is not None:
            return AtTheirWord(
                reading, None, taken, why or f"what is posted in line {missed.lineno} meets nothing that is known"
            )
        return AtTheirWord(read, judgement, taken)
    if judgement.verdict is ExchangeVerdict.OPEN:
        return AtTheirWord(reading, None, taken, "not all ranks of a group take part in its collectives equally often")
    if judgement.verdict is ExchangeVerdict.HUNG_BEFORE and taken:
        return AtTheirWord(reading, None, taken, f"it would hang on every engine if {', and '.join(taken)}")
    if way.choices and _ends_as_a_line(way):
        return AtTheirWord(
            reading,
            None,
            taken,
            "it hangs where all ranks form a ring, and ends where the first or the last leaves one side out",
        )
    return AtTheirWord(read, judgement, taken)


_ORDER = tuple(ExchangeVerdict)


def _may_wait(code: Code, call: ast.Call) -> bool:
    return code.view.possible_name(call.func) in OVERLAPPING


def _ends_as_a_line(way: _Way) -> bool:
    """Whether the exchange ends where no message goes from the last rank to the first or back."""
    judgement = judge({size: _opened(exchange, size) for size, exchange in way.exchanges.items() if size > 2})
    return judgement is not None and judgement.verdict in _ENDING


def _opened(exchange: Exchange, size: int) -> Exchange:
    programs = []
    for rank, program in enumerate(exchange.programs):
        steps: list[Post | Wait] = []
        dropped: set[int] = set()
        for step in program:
            if isinstance(step, Post):
                kept = tuple(one for one in step.operations if {rank, one.peer} != {0, size - 1})
                if kept:
                    steps.append(replace(step, operations=kept))
                else:
                    dropped.add(step.handle)
            elif step.handle not in dropped:
                steps.append(step)
        programs.append(tuple(steps))
    return replace(exchange, programs=tuple(programs))
