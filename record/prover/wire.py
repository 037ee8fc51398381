"""Values as plain data that a process can send to its snapshot; no code of the program runs for it.

Tensors travel as their bytes and those of their gradients, named tuples and enumerations as the name of their class. What cannot be sent raises `Unsent`.
"""

from __future__ import annotations

import collections
import ctypes
import enum
import importlib
import sys
from typing import Any, Optional

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Unsent(Exception):
    """The value holds something that is not data; the message names its class."""


class Encoder:
    """Encodes values; a tensor that occurs twice in what one encoder sees is sent once.

    Attributes:
        size: bytes of tensors so far.
        accelerator: kind of device of the last tensor that was not on the CPU.
    """

    def __init__(self, limit: int) -> None:
        self.size = 0
        self.accelerator: Optional[str] = None
        self._limit = limit
        self._seen: dict[int, int] = {}
        self._keep: list[Any] = []

    def encode(self, value: Any) -> Any:
        """Plain data for `marshal`.

        Raises:
            Unsent: if the value holds anything but tensors, numbers, strings and containers of them, or is too large.
        """
        import torch

        kind = type(value)
        if kind in _PLAIN:
            return value
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
            return ("torch", str(value))
        if isinstance(value, enum.Enum):
            return ("enum", kind.__module__, kind.__qualname__, value.name)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            fields = tuple(str(name) for name in value._fields)
            return ("named", kind.__module__, kind.__qualname__, fields, [self.encode(item) for item in value])
        if kind is tuple or kind is torch.Size:
            return ("tuple", [self.encode(item) for item in value])
        if kind is list:
            return ("list", [self.encode(item) for item in value])
        if isinstance(value, dict):
            name = "ordered" if isinstance(value, collections.OrderedDict) else "dict"
            return (name, [(self.encode(key), self.encode(item)) for key, item in value.items()])
        raise Unsent(f"an object of class {kind.__module__}.{kind.__qualname__}")

    def _tensor(self, value: Any) -> Any:
        import torch

        if id(value) in self._seen:
            return ("again", self._seen[id(value)])
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.is_nested or value.layout != torch.strided:
            raise Unsent(f"a {value.layout} tensor of class {type(value).__name__}".replace("torch.strided ", ""))
        device = "" if value.device.type == "cpu" else str(value.device)
        if device:
            self.accelerator = value.device.type
        plain, scale = value.detach(), None
        if plain.is_quantized:
            if plain.qscheme() not in (torch.per_tensor_affine, torch.per_tensor_symmetric):
                raise Unsent("a tensor quantized per channel")
            scale = (plain.q_scale(), plain.q_zero_point())
            plain = plain.int_repr()
        self.size += plain.numel() * plain.element_size()
        if self.size > self._limit:
            raise Unsent(f"more than {self._limit >> 20} MiB of tensors")
        strides = tuple(plain.stride())
        packed = plain.to("cpu").contiguous().resolve_conj().resolve_neg()
        data = ctypes.string_at(packed.data_ptr(), packed.numel() * packed.element_size()) if packed.numel() else b""
        self._seen[id(value)] = len(self._seen)
        self._keep.append(value)
        grad = bool(value.requires_grad)
        held = value.grad if value.is_leaf else None
        slope = None if held is None else self.encode(held)
        return ("tensor", str(value.dtype), tuple(plain.shape), strides, grad, scale, data, device, slope)


class Decoder:
    """Decodes what one `Encoder` encoded; every call gives fresh tensors."""

    def __init__(self) -> None:
        self._seen: list[Any] = []

    def decode(self, data: Any) -> Any:
        """The value."""
        import torch

        if not isinstance(data, tuple):
            return data
        kind, *rest = data
        if kind == "tensor":
            return self._tensor(*rest)
        if kind == "again":
            return self._seen[rest[0]]
        if kind == "torch":
            name = rest[0].replace("torch.", "")
            return getattr(torch, name) if hasattr(torch, name) else torch.device(name)
        if kind == "enum":
            return _find(rest[0], rest[1])[rest[2]]
        if kind == "named":
            return _named(rest[0], rest[1], rest[2])(*[self.decode(item) for item in rest[3]])
        if kind == "tuple":
            return tuple(self.decode(item) for item in rest[0])
        if kind == "list":
            return [self.decode(item) for item in rest[0]]
        made: dict[Any, Any] = collections.OrderedDict() if kind == "ordered" else {}
        for key, item in rest[0]:
            made[self.decode(key)] = self.decode(item)
        return made

    def _tensor(
        self, dtype: str, shape: Any, strides: Any, grad: bool, scale: Any, data: bytes, device: str, slope: Any
    ) -> Any:
        import torch

        kind = getattr(torch, dtype.replace("torch.", ""))
        stored = {torch.quint8: torch.uint8, torch.qint8: torch.int8, torch.qint32: torch.int32}.get(kind, kind)
        flat = torch.frombuffer(bytearray(data), dtype=stored) if data else torch.empty(0, dtype=stored)
        value = flat.reshape(shape)
        if scale is not None:
            value = torch._make_per_tensor_quantized_tensor(value, *scale)
        else:
            try:
                value = torch.empty_strided(shape, strides, dtype=stored).copy_(value)
            except RuntimeError:  # expanded: several elements lie in one place
                value = value.clone()
        if device:
            value = value.to(device)
        value.requires_grad_(grad)
        self._seen.append(value)
        value.grad = self.decode(slope)
        return value


def _find(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module) or importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _named(module: str, qualname: str, fields: tuple[str, ...]) -> Any:
    """The class of the program, or one that is like it: TorchScript makes classes that have no home."""
    try:
        found = _find(module, qualname)
    except (ImportError, AttributeError):
        found = None
    if isinstance(found, type) and getattr(found, "_fields", None) == fields:
        return found
    return collections.namedtuple(qualname.rpartition(".")[2], fields, rename=True)
