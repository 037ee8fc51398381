"""Calls that nobody recorded, made from the first one that was; they say what a proof does not cover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from .exporting import leaves
from .shared import Inputs, batch_size, changed, tensors, with_batch_size, with_dtype, with_other_values

NAMES = ("rows + 3", "one row", "other values", "other dtype", "other numbers", "other sizes")


def probes(given: Inputs) -> Iterator[tuple[str, Optional[Inputs], str]]:
    """Name, inputs, and the reason why there are none."""
    rows = batch_size(given)
    yield ("rows + 3", with_batch_size(given, rows, rows + 3), "") if rows else ("rows + 3", None, "no tensor has rows")
    if rows != 1:
        yield ("one row", with_batch_size(given, rows, 1), "") if rows else ("one row", None, "no tensor has rows")
    if any(True for _ in tensors(given)):
        yield ("other values", with_other_values(given), "")
    other = _other_dtype(given)
    if other is not None:
        yield ("other dtype", with_dtype(given, other), "")
    if any(type(value) in (int, float, bool) for _, value in leaves(given)):
        yield ("other numbers", _with_other_numbers(given), "")
    if any(t.dim() > 1 for t in tensors(given)):
        yield ("other sizes", _with_other_sizes(given), "")


def _other_dtype(given: Inputs) -> Any:
    import torch

    floating = [t.dtype for t in tensors(given) if t.is_floating_point()]
    if not floating:
        return None
    return torch.float32 if floating[0] == torch.float64 else torch.float64


def _with_other_numbers(given: Inputs) -> Inputs:
    """Numbers one higher, booleans turned round."""

    def other(value: Any) -> Any:
        if type(value) is bool:
            return not value
        if type(value) in (int, float):
            return value + 1
        if type(value) in (list, tuple):
            return type(value)(other(item) for item in value)
        if type(value) is dict:
            return {key: other(item) for key, item in value.items()}
        return value

    return Inputs(*other(tuple(given.args)), **other(dict(given.kwargs)))


def _with_other_sizes(given: Inputs) -> Inputs:
    """Every dimension but the first longer by its own first element; what layers fix they then refuse, as TorchScript does."""
    import torch

    def longer(tensor: Any) -> Any:
        plain = tensor.detach()
        for dim in range(1, plain.dim()):
            if plain.shape[dim]:
                plain = torch.cat([plain, plain.narrow(dim, 0, 1)], dim)
        return plain.clone().requires_grad_(tensor.requires_grad)

    return changed(given, longer)
