"""What flows back through a call: TorchScript differentiates with formulas of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .shared import Call, Container, Inputs, Node, describe, describe_error, tensors

GRADIENTS, TRAINED = " gradients", " gradients in training"
"""Names of the part of a call that holds them."""


def gradients(result: Any, inputs: Inputs, value: Any, modes: dict[str, Any]) -> tuple[tuple[str, Node], ...]:
    """Gradients of a weighted sum of what a call returned, by input and parameter; none if nobody may ask for them.

    Args:
        result: what the call returned.
        inputs: what it was given.
        value: what was called.
        modes: of the call.
    """
    import torch

    trained = modes["training"] is not False or modes.get("trained", False)
    outputs = [tensor for tensor in tensors(Inputs(result)) if tensor.requires_grad] if modes["grad"] else []
    wanted = dict(_leaves(inputs, value if trained else None)) if outputs else {}
    if not wanted:
        return ()
    name = TRAINED if trained else GRADIENTS
    try:
        weights = [torch.linspace(0.5, 1.5, tensor.numel()).to(tensor).view(tensor.shape) for tensor in outputs]
        found = torch.autograd.grad(outputs, list(wanted.values()), weights, allow_unused=True)
    except Exception as error:
        return ((name, describe_error(error)),)
    slopes = ((leaf, describe(slope)) for leaf, slope in zip(wanted, found) if slope is not None)
    return ((name, Container("dict", tuple(slopes))),)


def held(inputs: Inputs) -> tuple[tuple[str, Node], ...]:
    """The `.grad` of each input that has one: what is called may write to it."""
    leaves = ((number, tensor) for number, tensor in enumerate(tensors(inputs)) if tensor.is_leaf)
    return tuple((f" `.grad` of {number}", describe(leaf.grad)) for number, leaf in leaves if leaf.grad is not None)


def has_gradients(call: Call) -> bool:
    """Whether any were asked for."""
    return without_gradients(call) is not call


def without_gradients(call: Call) -> Call:
    """The same call, as a program sees it that asks for none."""
    assert isinstance(call.arguments, Container)
    items = tuple(item for item in call.arguments.items if item[0] not in {GRADIENTS, TRAINED})
    if len(items) == len(call.arguments.items):
        return call
    return replace(call, arguments=Container(call.arguments.type, items))


def of_training(call: Call) -> Container:
    """The gradients of a call that training may use."""
    assert isinstance(call.arguments, Container)
    return Container("dict", tuple(item for item in call.arguments.items if item[0] == TRAINED))


def _leaves(inputs: Inputs, value: Any) -> Iterator[tuple[str, Any]]:
    for number, tensor in enumerate(tensors(inputs)):
        if tensor.requires_grad:
            yield f"[input {number}]", tensor
    for name, parameter in getattr(value, "named_parameters", dict)() or ():
        if parameter.requires_grad:
            yield f"[{name}]", parameter
