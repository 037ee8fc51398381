"""Calls that nobody recorded, made from the first one that was; they say what a proof does not cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

from .exporting import leaves
from .shared import Inputs, batch_size, changed, tensors, with_batch_size, with_dtype, with_other_values

_DIMENSIONS = 4
Probe = tuple[str, Optional[Inputs], str]


def probes(given: Inputs, script: Any, alike: bool) -> Iterator[Probe]:
    """Name, inputs, and without inputs what is known without a call.

    Args:
        given: inputs of a recorded call.
        script: the value that TorchScript made.
        alike: whether all recorded calls have the same shapes, so that more has to be asked.
    """
    rows = batch_size(given)
    yield ("rows + 3", with_batch_size(given, rows, rows + 3), "") if rows else ("rows + 3", None, _NO_ROWS)
    if rows != 1:
        yield ("one row", with_batch_size(given, rows, 1), "") if rows else ("one row", None, _NO_ROWS)
    some = any(True for _ in tensors(given))
    if some:
        yield ("other values", with_other_values(given), "")
    floating = [t.dtype for t in tensors(given) if t.is_floating_point()]
    if floating:
        yield ("other dtype", with_dtype(given, _other_dtype(floating[0])), "")
    if any(type(value) in (int, float, bool) for _, value in leaves(given)):
        yield ("other numbers", _with_numbers(given, _other_number), "")
    if alike:
        yield from _further(given, script, bool(floating), some)


def _further(given: Inputs, script: Any, floating: bool, some: bool) -> Iterator[Probe]:
    """What else may vary, where nothing was seen to vary."""
    for dimension in range(1, min(_DIMENSIONS, max((t.dim() for t in tensors(given)), default=0))):
        yield (f"dimension {dimension} + 1", _with_longer(given, dimension), "")
    if some and _asks_for_rank(script):
        yield ("one more dimension", changed(given, _each(lambda t: t.unsqueeze(0))), "")
        yield ("one dimension less", changed(given, _each(lambda t: t[0] if t.dim() else t)), "")
    if floating:
        yield ("integers", changed(given, _each(_as_bytes)), "")
    if any(isinstance(value, list) for value in [*given.args, *given.kwargs.values()]):
        yield ("longer lists", _with_longer_lists(given), "")
    for name in _left_out(script, given):
        yield ("left out", None, f"raises: the program has no input `{name}`, which no call gave")
        break
    for name in _other_methods(script):
        yield ("other methods", None, f"raises: an exported program has no `{name}`, which no call asked for")
        break


def _asks_for_rank(script: Any) -> bool:
    """Whether scripted code looks at the number of dimensions."""
    graph = str(getattr(script, "inlined_graph", ""))
    return "aten::dim(" in graph and "prim::If(" in graph


_NO_ROWS = "not tried: no tensor has rows"


def _other_dtype(dtype: Any) -> Any:
    import torch

    return torch.float32 if dtype == torch.float64 else torch.float64


def _as_bytes(tensor: Any) -> Any:
    import torch

    return tensor.to(torch.uint8) if tensor.is_floating_point() else tensor.clone()


def _each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def changed_tensor(tensor: Any) -> Any:
        plain = change(tensor.detach()).clone()
        return plain.requires_grad_(tensor.requires_grad and plain.is_floating_point())

    return changed_tensor


def _other_number(value: Any) -> Any:
    return not value if type(value) is bool else value + 1


def _with_numbers(given: Inputs, change: Callable[[Any], Any]) -> Inputs:
    """Numbers one higher, booleans turned round."""

    def other(value: Any) -> Any:
        if type(value) in (bool, int, float):
            return change(value)
        if type(value) in (list, tuple):
            return type(value)(other(item) for item in value)
        if type(value) is dict:
            return {key: other(item) for key, item in value.items()}
        return value

    return Inputs(*other(tuple(given.args)), **other(dict(given.kwargs)))


def _with_longer(given: Inputs, dimension: int) -> Inputs:
    """Every dimension of that size one longer, if it is not the first; what layers fix they refuse, as TorchScript does."""
    import torch

    size = next(t.shape[dimension] for t in tensors(given) if t.dim() > dimension)

    def longer(tensor: Any) -> Any:
        for place in range(1, tensor.dim()):
            if size and tensor.shape[place] == size and (place == dimension or tensor.dim() <= dimension):
                tensor = torch.cat([tensor, tensor.narrow(place, 0, 1)], place)
        return tensor

    return changed(given, _each(longer))


def _with_longer_lists(given: Inputs) -> Inputs:
    def longer(value: Any) -> Any:
        return [*value, value[-1]] if isinstance(value, list) and value else value

    return Inputs(*map(longer, given.args), **{name: longer(value) for name, value in given.kwargs.items()})


def _left_out(script: Any, given: Inputs) -> Iterator[str]:
    """Parameters with a default that the call did not give. A traced module has none."""
    schema = getattr(getattr(script, "forward", script), "schema", None)
    arguments = [argument for argument in schema.arguments if argument.name != "self"] if schema is not None else []
    for number, argument in enumerate(arguments):
        if argument.has_default_value() and number >= len(given.args) and argument.name not in given.kwargs:
            yield str(argument.name)


def _other_methods(script: Any) -> Iterator[str]:
    """Methods that TorchScript compiled for callers, which an exported program does not have."""
    methods = getattr(getattr(script, "_c", None), "_method_names", None)
    own = set(methods()) if methods is not None else set()
    yield from sorted(name for name in own - {"forward"} if not name.startswith("__"))
