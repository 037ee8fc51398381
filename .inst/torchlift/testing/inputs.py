"""Example inputs: how they may be given, and fresh or changed copies of them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Inputs:
    """Arguments of one call: `Inputs(x, mask=mask)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs


def input_sets(given: object) -> list[Inputs]:
    """The calls that `given` stands for.

    A tuple holds positional arguments, a dictionary with names as keys holds keyword arguments, `Inputs` holds both,
    anything else is the only argument; a list holds several of these, each an example of its own.

    Raises:
        ValueError: if a list is empty.
    """
    if isinstance(given, list):
        if not given:
            raise ValueError("the list of example inputs is empty")
        return [one for item in given for one in input_sets(item if not isinstance(item, list) else (item,))]
    if isinstance(given, Inputs):
        return [given]
    if isinstance(given, dict) and given and all(isinstance(key, str) for key in given):
        return [Inputs(**given)]
    if isinstance(given, tuple) and not hasattr(given, "_fields"):
        return [Inputs(*given)]
    return [Inputs(given)]


def fresh(given: Inputs) -> Inputs:
    """A copy that shares nothing with the original; what shares memory inside the original does so in the copy."""
    memo: dict[int, Any] = {}
    clones: dict[int, Any] = {}

    def clone(tensor: Any) -> Any:
        if id(tensor) not in clones:
            clones[id(tensor)] = copy.deepcopy(tensor.detach(), memo).requires_grad_(tensor.requires_grad)
        return clones[id(tensor)]

    return changed(given, clone)


def changed(given: Inputs, change: Callable[[Any], Any]) -> Inputs:
    """A copy in which every tensor is replaced by `change(tensor)`; containers are built anew."""
    args = _changed(given.args, change)
    return Inputs(*args, **_changed(given.kwargs, change))


def tensors(value: Any) -> Iterator[Any]:
    """All tensors inside `value`, in order; a tensor that occurs twice comes twice."""
    import torch

    if isinstance(value, Inputs):
        yield from tensors(value.args)
        yield from tensors(value.kwargs)
    elif isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from tensors(getattr(value, field.name, None))


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple):
        items = [_changed(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    if isinstance(value, dict):
        copied = copy.copy(value)
        for key, item in value.items():
            copied[key] = _changed(item, change)
        return copied
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        duplicate = copy.copy(value)
        for field in dataclasses.fields(value):
            if hasattr(value, field.name):
                object.__setattr__(duplicate, field.name, _changed(getattr(value, field.name), change))
        return duplicate
    return copy.deepcopy(value)
