"""Reads the functions of a file that send and receive into what every rank of a world does.

A function is run for every world size and every rank on its source text, see `interpreter`. What cannot be known is said,
never guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.distributed.p2p.interpreter.code import Body, Code, FunctionNode
from torchlift.rules.distributed.p2p.interpreter.rank_run import RankRun
from torchlift.rules.distributed.p2p.interpreter.values import (
    CodeRaises,
    CommonChoice,
    Handle,
    Layout,
    Open,
    Unknown,
    parts,
)
from torchlift.rules.distributed.p2p.program import Exchange
from torchlift.view import ModuleView

SIZES = range(2, 9)
"""World sizes that are tried."""

_MOST_CHOICES = 4
_MOST_ENTRIES = 200


@dataclass(frozen=True)
class Reading:
    """One function, or the body of a module, as all ranks run it.

    A function whose course depends on a condition that is the same on every rank has a reading for each way it can come
    out, up to four such conditions.

    Attributes:
        function: the function; None for the body of the module.
        calls: calls in the file that send, receive or batch, in source order; where it is not known what is done, all those
            that the function may run.
        exchanges: what the ranks do, by world size; a size is left out where the code fails with it on some rank.
        unknown: why nothing could be read, as clauses; empty where `exchanges` has something.
        assumed: what was taken to be the same on every rank, and how it was taken to be, as clauses.
        escapes: handles that leave the function without having been waited for, as clauses.
    """

    function: FunctionNode | None
    calls: tuple[ast.Call, ...]
    exchanges: Mapping[int, Exchange]
    unknown: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    escapes: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the function could be read for at least one world size."""
        return bool(self.exchanges)


@dataclass(frozen=True)
class WorldRun:
    """One world with one set of choices.

    Attributes:
        exchange: what its ranks do.
        calls, assumed, escapes: as in `Reading`.
        taken: what names were taken for, as clauses.
        layout_matters: whether another layout would have given other numbers.
    """

    exchange: Exchange
    calls: tuple[ast.Call, ...]
    assumed: tuple[str, ...]
    escapes: tuple[str, ...]
    taken: tuple[str, ...] = ()
    layout_matters: bool = False


def exchanges_of(project: Project, view: ModuleView) -> list[Reading]:
    """How the functions of a file send and receive, for all who ask: `project.of_view(exchanges_of, view)`."""
    return exchanges(view, project)


def exchanges(view: ModuleView, project: Project, sizes: Iterable[int] = SIZES) -> list[Reading]:
    """How the functions of a file send and receive, in source order.

    Functions that other functions of the file call are read as part of those. Where that cannot be done, a called function
    is read by itself too, if everything it sends is received in it.

    Args:
        view: the file.
        project: its project.
        sizes: world sizes to try.
    """
    code = Code(view, project)
    if not code.is_concerned:
        return []
    tried = tuple(sizes)
    found: list[Reading] = []
    alone: dict[FunctionNode, list[Reading]] = {}
    for entry in code.entries()[:_MOST_ENTRIES]:
        readings = _readings(code, project, entry, tried)
        found += readings
        if not any(reading.is_known for reading in readings):
            for helper in code.helpers(entry):
                if helper not in alone:
                    alone[helper] = _whole(_readings(code, project, helper, tried))
    found += (reading for readings in alone.values() for reading in readings)
    return sorted(found, key=_position)


def _position(reading: Reading) -> tuple[int, int]:
    function = reading.function
    return (function.lineno, function.col_offset) if function is not None else (0, 0)


def _whole(readings: Sequence[Reading]) -> list[Reading]:
    """Those of `readings` in which everything that is sent is received and nothing is left to the caller."""
    kept = []
    for reading in readings:
        whole = {size: exchange for size, exchange in reading.exchanges.items() if exchange.messages_meet}
        if whole and not reading.escapes:
            kept.append(replace(reading, exchanges=whole))
    return kept


def _readings(code: Code, project: Project, entry: Body, sizes: Sequence[int]) -> list[Reading]:
    """One reading for every way the conditions of a function can come out."""
    found: list[Reading] = []
    pending: list[dict[str, tuple[bool, str]]] = [{}]
    while pending:
        choices = pending.pop()
        try:
            reading = _reading(code, project, entry, sizes, choices)
        except CommonChoice as choice:
            if len(choices) == _MOST_CHOICES:
                return [_unknown(code, entry, f"it depends on more than {_MOST_CHOICES} conditions")]
            for answer in (False, True):
                text = f"`{choice.condition.key}` in line {choice.line} is {str(answer).lower()} on every rank"
                pending.append({**choices, choice.condition.key: (answer, text)})
        except RecursionError:
            return [_unknown(code, entry, "its expressions are nested too deep")]
        else:
            if reading is not None:
                found.append(reading)
    return found


def _reading(
    code: Code, project: Project, entry: Body, sizes: Sequence[int], choices: Mapping[str, tuple[bool, str]]
) -> Reading | None:
    """The reading with some conditions taken for true or false; None if nothing is sent or received.

    Raises:
        CommonChoice: another condition has to be chosen.
    """
    taken = {key: answer for key, (answer, _) in choices.items()}
    attempts: dict[int, WorldRun] = {}
    failures: list[str] = []
    for size in sizes:
        try:
            attempts[size] = attempted(code, project, entry, size, taken)
        except Open as reason:
            return _unknown(code, entry, str(reason), tuple(text for _, text in choices.values()))
        except CodeRaises as error:
            failures.append(str(error))
    calls = {call: None for attempt in attempts.values() for call in attempt.calls}
    if not calls:
        return _unknown(code, entry, f"it fails with every number of ranks: {failures[0]}") if not attempts else None
    assumed = dict.fromkeys([text for _, text in choices.values()])
    assumed.update((text, None) for attempt in attempts.values() for text in attempt.assumed)
    return Reading(
        entry if isinstance(entry, FunctionNode) else None,
        tuple(sorted(calls, key=lambda call: (call.lineno, call.col_offset))),
        {size: attempt.exchange for size, attempt in attempts.items()},
        assumed=tuple(assumed),
        escapes=tuple(dict.fromkeys(text for attempt in attempts.values() for text in attempt.escapes)),
    )


def _unknown(code: Code, entry: Body, reason: str, assumed: tuple[str, ...] = ()) -> Reading:
    function = entry if isinstance(entry, FunctionNode) else None
    return Reading(function, code.point_to_point_calls(entry), {}, (reason,), assumed)


def attempted(
    code: Code, project: Project, entry: Body, size: int, choices: Mapping[str, bool], layout: Layout | None = None
) -> WorldRun:
    """One world with one set of choices.

    Raises:
        CommonChoice: another condition has to be chosen.
        Open: what some rank does cannot be said.
        CodeRaises: the code fails on some rank.
    """
    runs: list[RankRun] = []
    escapes: dict[str, None] = {}
    for rank in range(size):
        run = RankRun(code, project, rank, size, choices, layout)
        result = run.run(entry)
        runs.append(run)
        escapes.update(dict.fromkeys(_escapes(run, result)))
    groups = {key: group.members for run in runs for key, group in run.communication.groups.items()}
    exchange = Exchange(tuple(tuple(run.communication.program) for run in runs), groups)
    return WorldRun(
        exchange,
        tuple(dict.fromkeys(call for run in runs for call in run.calls)),
        tuple(dict.fromkeys(text for run in runs for text in (*run.assumed, *run.communication.assumed.values()))),
        tuple(escapes),
        tuple(dict.fromkeys(text for run in runs for text in run.taken)),
        any(run.layout_matters for run in runs),
    )


def _escapes(run: RankRun, result: object) -> list[str]:
    reached = [part for part in parts([result, *run.outlives]) if isinstance(part, (Handle, Unknown))]
    return [
        f"the operation posted in line {part.line} is left to the caller to wait for"
        for part in reached
        if isinstance(part, Handle) and not part.waited
    ]
