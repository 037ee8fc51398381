"""The archive and what stands in its place, called side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from torchlift.convert.road.step import CaseDifferences, Difference, Emit, Task, callee, loaded

_CALLS = 2


def compare(task: Task, other: Any, emit: Emit, *, plain: bool, gradients: bool = True) -> None:
    """Calls the archive and `other` with the same inputs, and emits what differs, case by case."""
    import torch

    from torchlift.convert.road.made_inputs import made
    from torchlift.record.prover.shared import Tolerance, call_mismatches

    script = loaded(task)
    target = callee(script, task.method)
    torch.set_grad_enabled(gradients)
    given = made(*task.tries[0], below=task.below)
    for name, inputs in _cases(given, target, task.reads_dtype):
        differences: list[Difference] = []
        for number in range(1, _CALLS + 1):
            left, words = _called(target, inputs, name, number, plain)
            right, _ = _called(other, inputs, name, number, plain)
            for one in call_mismatches(left, right, Tolerance()):
                if task.flow and one.aspect == "requires_grad" and one.right == "True":
                    continue
                differences.append((one.aspect, one.path, one.left, one.right, one.extent))
        differences += _state(script, other)
        emit(CaseDifferences(name, words, _CALLS, differences))


def _cases(given: Any, script: Any, reads_dtype: bool) -> Iterator[tuple[str, Any]]:
    from torchlift.record.prover.probes import probes
    from torchlift.record.prover.shared import changed, fresh, tensors

    yield "inputs as given", given
    for name, inputs, _ in probes(given, script, alike=False):
        if inputs is not None and (name != "other dtype" or reads_dtype):
            yield name, inputs
    if any(one.is_floating_point() for one in tensors(given)):
        yield (
            "around zero",
            changed(fresh(given), _around_zero),
        )


def _around_zero(one: Any) -> Any:
    return (one.detach() * 2 - 1).requires_grad_(one.requires_grad) if one.is_floating_point() else one.clone()


def _called(target: Any, inputs: Any, case: str, number: int, plain: bool) -> tuple[Any, str]:
    """One call, seeded, with inputs of its own; what it returns, raises, changes and draws."""
    import torch

    from torchlift.record.prover.modes import generator_state
    from torchlift.record.prover.replay import described
    from torchlift.record.prover.shared import Call, Container, Scalar, describe_error, fresh

    own = fresh(inputs)
    torch.manual_seed(number)
    try:
        outcome = described(target(*own.args, **own.kwargs), plain)
    except Exception as error:
        outcome = describe_error(error)
    drawn = hashlib.sha256(generator_state(torch)).hexdigest()[:12]
    left = [described(value) for value in (list(own.args), own.kwargs)]
    after = Container(
        "inputs", (("args", left[0]), ("kwargs", left[1]), (" random numbers drawn", Scalar("str", drawn)))
    )
    words = ", ".join(f"{str(one.dtype).removeprefix('torch.')}{list(one.shape)}" for one in _all_tensors(inputs))
    return Call(case, words, number, number, outcome, after), words


def _state(script: Any, other: Any) -> list[Difference]:
    """Buffers that both have and that are not equal."""
    import torch

    theirs = dict(other.named_buffers()) if isinstance(other, torch.nn.Module) else {}
    found: list[Difference] = []
    for name, value in script.named_buffers() if isinstance(script, torch.nn.Module) else ():
        twin = theirs.get(name)
        if twin is not None and not (
            twin.shape == value.shape
            and twin.dtype == value.dtype
            and torch.allclose(twin, value, 1e-5, 1e-5, equal_nan=True)
        ):
            found.append(("values", f"state {name}", "another value", "its own value", ""))
    return found


def _all_tensors(inputs: Any) -> Iterator[Any]:
    from torchlift.record.prover.shared import tensors

    return tensors(inputs)
