"""TorchScript switched off: the same program, with every capture replaced by what is captured.

`torch.jit.trace(net, x)`, `script(net)`, `freeze(net)` and the like give `net` itself, and what is saved is kept in memory.
It shows what the Python code means where TorchScript changed its meaning. The environment variable `PYTORCH_JIT=0` does
less: it leaves nothing that could be saved, frozen or loaded.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_MARK = "torchlift eager mode "


def switch_torchscript_off() -> None:
    """Replaces the capturing functions of `torch.jit` for the rest of this process; it cannot be undone.

    What inspects TorchScript itself (`.graph`, `.code`) then raises AttributeError.
    """
    import torch

    jit: Any = torch.jit
    kept: list[tuple[Any, dict[str, Any]]] = []

    def itself(*args: Any, **kwargs: Any) -> Any:
        value = args[0] if args else next(kwargs[name] for name in ("func", "obj", "mod", "fn") if name in kwargs)
        return _savable(value, save)

    def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        kept.append((_duplicate(m), dict(_extra_files or {})))
        mark = f"{_MARK}{len(kept) - 1}".encode()
        if isinstance(f, (str, os.PathLike)):
            Path(f).write_bytes(mark)
        else:
            f.write(mark)

    def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None, **_: Any) -> Any:
        content = Path(f).read_bytes() if isinstance(f, (str, os.PathLike)) else f.read()
        mark, found, number = content.partition(_MARK.encode())
        if mark or not found:
            raise RuntimeError("With TorchScript switched off, only what the same program saved can be loaded.")
        value, extra = kept[int(number)]
        for name in _extra_files or {}:
            text = extra.get(name, "")
            _extra_files[name] = text.encode() if isinstance(text, str) else text  # type: ignore[index]
        loaded = _duplicate(value)
        if map_location is not None and isinstance(loaded, torch.nn.Module):
            loaded = loaded.to(map_location)
        return _savable(loaded, save)

    class PlainModule(torch.nn.Module):
        """Stands for `torch.jit.ScriptModule` as a base class."""

    for name in ("trace", "trace_module", "script", "freeze", "optimize_for_inference", "script_method", "interface"):
        setattr(jit, name, itself)
    for name in ("script_if_tracing", "_script_if_tracing"):
        setattr(jit, name, lambda fn: fn)
    jit.annotate = lambda the_type, the_value: the_value
    jit.Attribute = lambda value, type: value
    jit.run_frozen_optimizations = lambda *args, **kwargs: None
    jit.save, jit.load, jit.ScriptModule = save, load, PlainModule
    vars(torch.nn)["Module"].save = save


def _savable(value: Any, save: Callable[..., None]) -> Any:
    """`value` with a method `save`, if it is a function; modules have one, classes need none."""
    import torch

    if isinstance(value, (torch.nn.Module, type)) or not callable(value) or hasattr(value, "save"):
        return value
    try:
        value.save = functools.partial(save, value)
    except AttributeError:  # a bound method or a built-in function

        @functools.wraps(value)
        def function(*args: Any, **kwargs: Any) -> Any:
            return value(*args, **kwargs)

        function.save = functools.partial(save, value)  # type: ignore[attr-defined]
        return function
    return value


def _duplicate(value: Any) -> Any:
    """What a file would keep: later changes of the original do not reach it. Functions have no state to keep."""
    import torch

    return copy.deepcopy(value) if isinstance(value, torch.nn.Module) else value
