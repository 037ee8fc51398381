"""Turns a value into plain data, in the process that made it."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import re
import types
from collections.abc import Mapping, Set
from typing import Any

from .nodes import Array, Container, Node, Observed, Opaque, Raised, Scalar

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST_MESSAGE = 500
_NO_PARTS = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, enum.Enum)


def describe(value: Any) -> Node:
    """Everything about `value` that can be compared with another process' value.

    Two descriptions are equal when structure, Python classes, dtypes, shapes, kinds of device, `requires_grad` and values
    are. Objects of unknown classes are described by their attributes.
    """
    return _describe(value, frozenset())


def describe_error(error: BaseException) -> Raised:
    """The class and the message of an exception."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    message = " ".join(lines)
    if len(message) > _LONGEST_MESSAGE:
        message = message[:_LONGEST_MESSAGE] + " ..."
    return Raised(type_name(error), _ADDRESS.sub("", message))


def type_name(value: object) -> str:
    """Qualified name of the class of `value`; without the module for built-in ones and for `torch.Tensor`."""
    kind = type(value)
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def _describe(value: Any, above: frozenset[int]) -> Node:
    import torch

    name = type_name(value)
    if isinstance(value, Observed):
        return value
    if value is None or (
        isinstance(value, (bool, int, float, complex, str, bytes)) and not isinstance(value, enum.Enum)
    ):
        return Scalar(name, _plain(value))
    if id(value) in above:
        return Opaque(name, f"<the {name} that it is part of>")
    above |= {id(value)}
    if isinstance(value, torch.Tensor):
        if value.is_nested:
            return Container(name, tuple((f"[{i}]", _describe(t, above)) for i, t in enumerate(value.unbind())))
        return _array(value, name)
    if isinstance(value, Mapping):
        return Container(name, tuple((f"[{_key(key)}]", _describe(value[key], above)) for key in value))
    if isinstance(value, (tuple, list)):
        return Container(name, tuple((f"[{i}]", _describe(item, above)) for i, item in enumerate(value)))
    if isinstance(value, Set):
        return Container(name, tuple((f"{{{key}}}", Opaque("", key)) for key in sorted(map(_key, value))))
    if not isinstance(value, (*_NO_PARTS, torch.nn.Module)):
        parts = _attributes(value)
        if parts is not None:
            return Container(name, tuple((f".{part}", _describe(item, above)) for part, item in parts.items()))
    return Opaque(name, _ADDRESS.sub("", repr(value)))


def _plain(value: Any) -> Any:
    """A number or string as its built-in class, so that it can be unpickled where the class of the user is missing."""
    kinds: tuple[Any, ...] = (bool, int, float, complex, str, bytes)
    return next((kind(value) for kind in kinds if isinstance(value, kind)), value)


def _key(key: object) -> str:
    return _ADDRESS.sub("", repr(key))


def _attributes(value: object) -> dict[str, Any] | None:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    attributes = getattr(value, "__dict__", None)
    return dict(attributes) if isinstance(attributes, dict) and attributes else None


def _array(value: Any, name: str) -> Array:
    import torch

    plain = value.detach()
    if plain.is_quantized:
        plain = plain.dequantize()
    if plain.layout != torch.strided:
        plain = plain.to_dense()
    if plain.device.type == "meta":
        plain = torch.empty(0)
    plain = plain.cpu().resolve_conj().resolve_neg()
    code = "d"
    if plain.dtype.is_complex:
        plain = torch.view_as_real(plain.to(torch.complex128))
    elif plain.dtype.is_floating_point:
        plain = plain.double()
    elif plain.dtype == torch.bool:
        code = "?"
    elif plain.dtype == torch.uint64:
        code = "Q"
    else:
        plain, code = plain.to(torch.int64), "q"
    plain = plain.contiguous()
    data = ctypes.string_at(plain.data_ptr(), plain.nbytes) if plain.numel() else b""
    dtype = str(value.dtype).removeprefix("torch.")
    shape = tuple(int(size) for size in value.shape)
    return Array(name, dtype, shape, value.device.type, value.requires_grad, code, data)
