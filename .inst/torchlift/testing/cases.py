"""The further inputs that show what an example alone hides: other values, other batch sizes, another dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .inputs import Inputs, changed, tensors

_MORE = 3


@dataclass(frozen=True)
class Case:
    """Inputs and the words that tell them from the others."""

    label: str
    inputs: Inputs


def cases(
    example: Inputs, name: str = "", batch_sizes: Sequence[int] | None = None, other_values: bool = True
) -> Iterator[Case]:
    """The example as it is, then with other values, then with each batch size.

    Args:
        example: inputs to start from.
        name: word that tells this example from others, empty if there is one only.
        batch_sizes: sizes of dimension 0 to try; None for three more than the example has, and 1.
        other_values: whether to try other values.
    """
    prefix = f"{name}, " if name else ""
    yield Case(f"{prefix}inputs as given", example)
    if other_values and any(True for _ in tensors(example)):
        yield Case(f"{prefix}other values", with_other_values(example))
    given = batch_size(example)
    if given is None:
        return
    for size in batch_sizes if batch_sizes is not None else (given + _MORE, 1):
        if size != given:
            resized = with_batch_size(example, given, size)
            yield Case(f"{prefix}batch size {size}", with_other_values(resized) if other_values else resized)


def batch_size(example: Inputs) -> int | None:
    """Dimension 0 of the first tensor that has one; None without such a tensor or when it is empty."""
    sizes = [int(tensor.shape[0]) for tensor in tensors(example) if tensor.dim()]
    return sizes[0] if sizes and sizes[0] else None


def with_batch_size(example: Inputs, given: int, size: int) -> Inputs:
    """The example with every tensor whose dimension 0 is `given` repeated or cut to `size`."""
    import torch

    def resize(tensor: Any) -> Any:
        if not tensor.dim() or tensor.shape[0] != given:
            return tensor.detach().clone().requires_grad_(tensor.requires_grad)
        plain = torch.cat([tensor.detach()] * max(1, -(-size // given)))[:size]
        return plain.clone().requires_grad_(tensor.requires_grad)

    return changed(example, _or_unchanged(resize))


def with_other_values(example: Inputs) -> Inputs:
    """The example with the values of each tensor moved on by some places, and floating ones made smaller.

    Signs, zeros and ranges such as 0 to 1 stay what they were, indices stay indices, and a tensor that was given twice
    becomes two with different values. A tensor that would stay as it is gets a half added.
    """
    import torch

    seen = 0

    def move(tensor: Any) -> Any:
        nonlocal seen
        seen += 1
        plain = tensor.detach()
        new = plain.flatten().roll(seen).reshape(plain.shape).clone()
        if plain.is_floating_point() or plain.is_complex():
            new = new * (1 - 0.5 / (seen + 1))
            if torch.equal(new, plain):
                new = new + 0.5
        return new.to(plain.dtype).requires_grad_(tensor.requires_grad)

    return changed(example, _or_unchanged(move))


def with_dtype(example: Inputs, dtype: Any) -> Inputs:
    """The example with every floating point tensor converted."""

    def convert(tensor: Any) -> Any:
        plain = tensor.detach().clone()
        return (plain.to(dtype) if plain.is_floating_point() else plain).requires_grad_(tensor.requires_grad)

    return changed(example, _or_unchanged(convert))


def _or_unchanged(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`change`, where torch can: not every operation exists for sparse, nested or 8-bit tensors."""

    def changed_if_possible(tensor: Any) -> Any:
        try:
            return change(tensor)
        except (RuntimeError, NotImplementedError):
            return tensor.detach().clone().requires_grad_(tensor.requires_grad)

    return changed_if_possible
