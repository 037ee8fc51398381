"""Tensors out of an archive's bytes, without its loader."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torchlift.convert.archive.torchscript import TorchScript
from torchlift.convert.archive.values import ITEM_BYTES, Tensor, Thing
from torchlift.convert.archive.zip_entries import BadArchive
from torchlift.convert.translation.quantised import CODES


class StoredTensors:
    """The tensors of one archive; those that share memory in it share it here.

    Args:
        path: the file.
        archive: what is known of it.
    """

    def __init__(self, path: Path, archive: TorchScript) -> None:
        self._zip = zipfile.ZipFile(path)
        self._prefix = archive.prefix
        self._constants = {id(value) for value in _tensors(archive.constants)}
        self._storages: dict[tuple[str, str], Any] = {}
        name = f"{archive.prefix}byteorder"
        if name in self._zip.namelist() and self._zip.read(name).strip() == b"big":
            raise BadArchive("was written on a machine with the other order of bytes")

    def of(self, tensor: Tensor) -> Any:
        """The tensor, on the CPU; of a quantised one the whole numbers. Raises `BadArchive`."""
        import torch

        folder = "constants" if id(tensor) in self._constants else "data"
        dtype = getattr(torch, CODES.get(tensor.dtype, tensor.dtype), None)
        if not isinstance(dtype, torch.dtype) or tensor.dtype not in ITEM_BYTES:
            raise BadArchive(f"holds a tensor of {tensor.dtype}, which torch does not have")
        if (folder, tensor.key) not in self._storages:
            entry = f"{self._prefix}{folder}/{tensor.key}"
            try:
                data = self._zip.read(entry)
            except (KeyError, zipfile.BadZipFile, OSError, ValueError, RuntimeError) as error:
                raise BadArchive(f"has no readable entry {entry!r} for a tensor ({error})") from None
            self._storages[folder, tensor.key] = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else None
        raw = self._storages[folder, tensor.key]
        last = tensor.offset + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride, strict=True))
        if not tensor.numbers:
            return torch.empty(tensor.shape, dtype=dtype)
        if raw is None or (last + 1) * ITEM_BYTES[tensor.dtype] > raw.numel():
            raise BadArchive(f"holds a tensor {tensor} with too few bytes")
        whole = raw[: raw.numel() - raw.numel() % ITEM_BYTES[tensor.dtype]].view(dtype)
        return whole.as_strided(tensor.shape, tensor.stride, tensor.offset)

    def number(self, tensor: Tensor) -> Any:
        """The value of a tensor that has one element."""
        return self.of(tensor).item()

    def all(self, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
        """Tensors by name."""
        return {name: self.of(tensor) for name, tensor in tensors.items()}


def _tensors(value: Any) -> Iterator[Tensor]:
    """Those among constants, and in the objects among them."""
    if isinstance(value, Tensor):
        yield value
        yield from _tensors(value.quantizer)
    elif isinstance(value, Thing):
        yield from _tensors(value.state)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
