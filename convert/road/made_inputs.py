"""Inputs in words as values: the same numbers in every process."""

from __future__ import annotations

import re
import zlib
from typing import Any

from torchlift.record.prover.shared import Inputs

_TENSOR = re.compile(r"(\w+)\[([\d,]*)\](?:@[\w:]+)?(?:<(\d+))?(\+grad)?")
_BELOW = 2


def made(args: list[Any], kwargs: dict[str, Any], below: int = _BELOW) -> Inputs:
    """The inputs, on the CPU.

    Args:
        args, kwargs: as in `GivenInputs`.
        below: what whole numbers in tensors stay below where the words do not say.
    """
    maker = _Maker(below)
    return Inputs(*(maker.value(one) for one in args), **{name: maker.value(one) for name, one in kwargs.items()})


class _Maker:
    def __init__(self, below: int) -> None:
        import torch

        self._below = below
        self._random = torch.Generator().manual_seed(zlib.crc32(b"inputs"))

    def value(self, words: Any) -> Any:
        if isinstance(words, str):
            return self._tensor(words)
        if isinstance(words, list):
            return [self.value(item) for item in words]
        if isinstance(words, dict):
            if "str" in words:
                return words["str"] if isinstance(words["str"], str) else "a" * words["str"]
            if "tuple" in words:
                return tuple(self.value(item) for item in words["tuple"])
            if "items" in words:
                return tuple(self.value(item) for item in words["items"])
            return {key: self.value(item) for key, item in words["dict"].items()}
        return words

    def _tensor(self, words: str) -> Any:
        import torch

        found = _TENSOR.fullmatch(words)
        if found is None:
            raise ValueError(f"{words} is no tensor")
        dtype = getattr(torch, found[1])
        shape = [int(size) for size in found[2].split(",") if size]
        if dtype == torch.bool:
            return torch.rand(shape, generator=self._random) > 0.5
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(shape, generator=self._random).to(dtype).requires_grad_(found[4] is not None)
        below = int(found[3] or self._below)
        return torch.randint(0, min(below, torch.iinfo(dtype).max), shape, generator=self._random).to(dtype)
