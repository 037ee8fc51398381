"""Calls a value and writes down everything that can be seen of each call."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torchlift.testing.cases import Case, cases
from torchlift.testing.describe import describe, describe_error
from torchlift.testing.inputs import Inputs, fresh
from torchlift.testing.nodes import Array, Call, Container, Node, Observed, short


def observe(value: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Observed:
    """Calls `value` with the inputs as they are, with other values, and with two further batch sizes, one of them 1.

    Every call gets fresh copies and comes right after a seed; each inputs are used twice in a row. What is returned,
    raised and done to the inputs is data that can be compared with another process'.
    """
    return Observed(tuple(observe_calls(value, cases(Inputs(*args, **kwargs)))))


def observe_calls(
    value: Callable[..., Any],
    tried: Iterable[Case],
    *,
    seeds: Iterable[int] = (0,),
    calls: int = 2,
    mask: Callable[..., Any] | None = None,
    grad: bool = True,
    before: Callable[[str], None] = lambda doing: None,
) -> Iterator[Call]:
    """Every case with every seed, `calls` times in a row.

    Args:
        value: what is called.
        tried: the inputs.
        seeds: what the random generators are seeded with before each call.
        calls: consecutive calls with equal inputs; a second one shows state.
        mask: called as `mask(output, *args, **kwargs)`; gives what is compared instead of the output.
        grad: whether gradients are recorded.
        before: told what is about to happen, in case it does not come back.
    """
    import torch

    for case in tried:
        given = short_inputs(case.inputs)
        for seed in seeds:
            for number in range(1, calls + 1):
                before(f"{case.label} ({given}), call {number}")
                inputs = fresh(case.inputs)
                seed_everything(seed)
                outcome: Node
                try:
                    with torch.set_grad_enabled(grad):
                        output = value(*inputs.args, **inputs.kwargs)
                        if mask is not None:
                            output = mask(output, *inputs.args, **inputs.kwargs)
                    outcome = describe(output)
                except (Exception, SystemExit) as error:
                    outcome = describe_error(error)
                yield Call(case.label, given, seed, number, outcome, describe_inputs(inputs))


def seed_everything(seed: int) -> None:
    """Seeds Python's, torch's and, where it is imported, NumPy's global generator."""
    import torch

    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)


def describe_inputs(inputs: Inputs) -> Container:
    """The arguments, positional ones by number, keyword ones by name."""
    positional = describe(inputs.args)
    named = describe(inputs.kwargs)
    assert isinstance(positional, Container) and isinstance(named, Container)
    return Container("inputs", (*positional.items, *named.items))


def short_inputs(inputs: Inputs) -> str:
    """The arguments in a few words."""
    return ", ".join(_without_values(item) for _, item in describe_inputs(inputs).items) or "no arguments"


def _without_values(node: Node) -> str:
    if isinstance(node, Array):
        return f"{node.dtype}{list(node.shape)}"
    if isinstance(node, Container):
        parts = ", ".join(
            f"{key}: {_without_values(item)}" if key[1:2] == "'" else _without_values(item) for key, item in node.items
        )
        return f"{node.type.rpartition('.')[2]}({parts})"
    return short(node)
