"""Values as JSON without their data: dtype, shape and device of tensors, numbers, short strings, and structure."""

from __future__ import annotations

import enum
import sys
from typing import Any

LONGEST_TEXT = 32
_MOST_ITEMS = 64
_DEEPEST = 8


def signature(value: Any, depth: int = 0) -> Any:
    """A hashable that is equal for values of one description; cheap, for every call."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return (value.dtype, tuple(value.shape), value.device)
    if value is None or isinstance(value, (bool, int, float, str)):
        return (type(value), repr(value) if isinstance(value, float) else value)
    if depth < _DEEPEST and isinstance(value, (list, tuple)) and len(value) <= _MOST_ITEMS:
        return (type(value), *(signature(item, depth + 1) for item in value))
    if depth < _DEEPEST and isinstance(value, dict) and len(value) <= _MOST_ITEMS:
        return (type(value), *((str(key), signature(item, depth + 1)) for key, item in value.items()))
    return type(value)


def described(value: Any, depth: int = 0) -> Any:
    """The description, as `records.py` of the evidence says."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, enum.Enum):
        return {"object": name_of(type(value))}
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        # Infinity and NaN are no JSON.
        return value if value - value == 0 else {"float": repr(value)}
    if isinstance(value, str):
        return {"str": value if len(value) <= LONGEST_TEXT else len(value)}
    if isinstance(value, (torch.dtype, torch.device)):
        return {"object": str(value)}
    if depth >= _DEEPEST:
        return {"object": name_of(type(value))}
    return _container(value, depth + 1)


def _container(value: Any, depth: int) -> Any:
    if isinstance(value, (list, tuple)):
        items = [described(item, depth) for item in value[:_MOST_ITEMS]]
        if len(value) > _MOST_ITEMS:
            items.append({"more": len(value) - _MOST_ITEMS})
        if type(value) is list:
            return items
        if type(value) is tuple:
            return {"tuple": items}
        if hasattr(value, "_fields"):
            return {"namedtuple": name_of(type(value)), "items": items}
        return {"object": name_of(type(value)), "items": items}
    if isinstance(value, dict):
        shown = {str(key)[:LONGEST_TEXT]: described(item, depth) for key, item in list(value.items())[:_MOST_ITEMS]}
        return {"dict": shown}
    return {"object": name_of(type(value))}


def _tensor(value: Any) -> Any:
    text = f"{str(value.dtype).replace('torch.', '')}[{','.join(str(int(size)) for size in value.shape)}]"
    return text if value.device.type == "cpu" else f"{text}@{value.device}"


def name_of(thing: Any) -> Any:
    """`module:qualname` of a class or function."""
    return f"{getattr(thing, '__module__', None) or '?'}:{getattr(thing, '__qualname__', None) or '?'}"


def tensors_of(value: Any, depth: int = 0) -> Any:
    """All tensors in a nest of lists, tuples and dictionaries."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return [value]
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_of(item, depth + 1)]
    if depth < _DEEPEST and isinstance(value, dict):
        return [tensor for item in value.values() for tensor in tensors_of(item, depth + 1)]
    return []


def modes() -> dict[str, Any]:
    """Modes of this thread that decide what a call computes."""
    torch = sys.modules["torch"]
    autocast = {}
    for device in ("cpu", "cuda") if _is_autocast(torch) else ():
        try:
            if torch.is_autocast_enabled(device):
                autocast[device] = str(torch.get_autocast_dtype(device)).replace("torch.", "")
        except TypeError:  # before torch 2.4 there is a function for each device
            break
    return {"grad": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled(), "autocast": autocast}


def _is_autocast(torch: Any) -> bool:
    """Whether any device is under autocast, in one question; True where this torch cannot be asked so."""
    ask = getattr(torch._C, "_is_any_autocast_enabled", None)
    return True if ask is None else bool(ask())
