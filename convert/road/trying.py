"""Which inputs an archive runs with: those that are given, and where they were searched, what their errors ask for."""

from __future__ import annotations

import heapq
import math
import re
import time
from collections.abc import Iterator
from typing import Any

from torchlift.convert.road.repairs import Call, misfit_of, repaired
from torchlift.convert.road.step import FoundInputs, NoResult, first_line

_BELOWS = (100, 10, 2)
_MOST = 3000
_DEEPEST = 8


def first_that_runs(target: Any, tries: list[Call], searched: bool, end: float) -> FoundInputs | NoResult:
    """The first call that raises nothing.

    Args:
        target: what is called.
        tries: args and kwargs, as in `GivenInputs`, likely ones first.
        searched: whether others may be tried, too.
        end: when to stop, by the monotonic clock.
    """
    import torch

    first = ""
    waiting: list[tuple[int, int, int, Call]] = [(0, 0, number, one) for number, one in enumerate(tries)]
    known = {str(one) for one in tries}
    complaints: set[str] = set()
    nearest: dict[int, float] = {}
    steps_nearer = 0
    count = 0
    while waiting and count < _MOST and time.monotonic() < end:
        cost, _, _, (args, kwargs) = heapq.heappop(waiting)
        count += 1
        with torch.jit.optimized_execution(False):  # type: ignore[attr-defined]
            answer = _run(target, args, kwargs)
        if isinstance(answer, int):
            return FoundInputs(args, kwargs, answer, count)
        first = first or first_line(answer)
        complaint = first_line(answer)
        # What fails in another way than all before has come further.
        kind = re.sub(r"\d+", "0", complaint)
        step = 3 if kind in complaints else 0 if "KeyError" in complaint else 1  # a key is asked for by name
        complaints.add(kind)
        if (misfit := misfit_of(complaint)) is not None and misfit[1] < nearest.get(misfit[0], math.inf):
            step, steps_nearer = 0, steps_nearer + 1
            nearest[misfit[0]] = misfit[1]
        if not searched or cost > _DEEPEST:
            continue
        for place, one in enumerate(repaired((args, kwargs), complaint)):
            if str(one) not in known:
                known.add(str(one))
                heapq.heappush(waiting, (cost + step + place // 8, -steps_nearer * (step == 0), len(known), one))
    return NoResult(f"it runs with none of {count} inputs; the first failed with: {first}")


def _run(target: Any, args: list[Any], kwargs: dict[str, Any]) -> int | Exception:
    """What whole numbers were below when it ran, or the last error."""
    from torchlift.convert.road.made_inputs import made

    whole = any("int" in part and "<" not in part for part in _tensors_in([args, kwargs]))
    error: Exception = ValueError("nothing was tried")
    for below in _BELOWS if whole else _BELOWS[-1:]:
        inputs = made(args, kwargs, below)
        try:
            target(*inputs.args, **inputs.kwargs)
        except Exception as raised:
            error = raised
        else:
            return below
    return error


def _tensors_in(words: Any) -> Iterator[str]:
    if isinstance(words, str):
        yield words
    elif isinstance(words, list):
        for item in words:
            yield from _tensors_in(item)
    elif isinstance(words, dict) and "str" not in words:
        for item in words.values():
            yield from _tensors_in(item)
