"""What else is done with captured values: modes and moves, copies, attributes asked for, parts taken out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from . import around, inside, proving
from .guard import guarded
from .places import caller
from .spool import SPOOL
from .values import is_script_module, live_value, remember

_OPERATIONS = """train eval to half float double cuda cpu type requires_grad_ load_state_dict state_dict zero_grad
share_memory apply register_forward_hook register_forward_pre_hook parameters named_parameters buffers named_buffers
children named_children modules named_modules""".split()
_MOVES = {"train", "to", "type", "cuda", "requires_grad_"}
_ASKED = ("graph", "inlined_graph", "code", "code_with_constants", "original_name")


def watch() -> Iterator[str]:
    """Place the hooks. Yields what could not be watched, as a sentence each."""
    script = sys.modules["torch"].jit._script
    for name in _OPERATIONS:
        around.wrap(script.ScriptModule, name, _operation(name), _nothing, _nothing)
        if name in script.RecursiveScriptModule.__dict__:
            around.wrap(script.RecursiveScriptModule, name, _operation(name), _nothing, _nothing)
    traced = sys.modules["torch"].jit._trace.TracedModule
    recursive = script.RecursiveScriptModule
    watched: list[Any] = [
        (f"{cls.__name__}.__getattr__", cls.__getattr__, _asked, _got)
        for cls in (script.ScriptModule, recursive, traced)
    ]
    watched += [(name, getattr(recursive, name).fget, _asking(name), _nothing) for name in _ASKED]
    watched += [(name, getattr(recursive, name), _copying, _copied) for name in ("__copy__", "__deepcopy__")]
    for name, function, entered, left in watched:
        try:
            inside.watch(function, entered, left, _nothing)
        except inside.NotWatched as error:
            yield f"{name} of ScriptModule is not watched: {error}"


def _nothing(*_: Any) -> None:
    pass


def _operation(name: str) -> Any:
    @guarded(f"the method {name}")
    def entered(module: Any, args: Any, kwargs: Any) -> None:
        value = live_value(module)
        if value is not None:
            where = caller(0)
            if where.direct:
                detail = None
                if name in _MOVES and (args or kwargs):
                    texts = [_text(item) for item in args] + [f"{key}={_text(item)}" for key, item in kwargs.items()]
                    detail = ", ".join(texts)
                _tell(value, "operation", name, where.place, detail)
                proving.did(value, name, args, kwargs)

    return entered


def _text(item: Any) -> str:
    torch = sys.modules["torch"]
    if item is None or isinstance(item, (bool, int, str, torch.dtype, torch.device)):
        return str(item)[:40]
    return type(item).__qualname__


def _tell(value: Any, event: str, name: str, place: Any, detail: Any = None) -> None:
    key = (event, name, place, detail)
    if key not in value.told and len(value.told) < 500:
        value.told.add(key)
        SPOOL.write({"e": event, "object": value.number, "name": name, "place": place, "detail": detail})


@guarded("an attribute")
def _asked(arguments: dict[str, Any]) -> Any:
    name = arguments["attr"]
    # What `forward` is asked for is a call, which is told as one; names with two underscores are asked by Python itself.
    if name == "forward" or name.startswith("__") or name in ("training", "_c"):
        return None
    module = arguments["self"]
    value = live_value(module)
    if value is None:
        return None
    where = caller(1)
    return (value, name, where.place) if where.direct else None


@guarded("an attribute that was found")
def _got(token: Any, result: Any) -> None:
    value, name, place = token
    if is_script_module(result):
        remember(result, source=value, via="part", prefix=f"{name}.")
        part = live_value(result)
        if part is not None and part.source is value:
            SPOOL.write({"e": "made", "object": part.number, "source": value.number, "via": "part", "name": name})
    elif isinstance(result, sys.modules["torch"]._C.ScriptMethod):
        return  # its call will be told
    _tell(value, "attribute", name, place)


def _asking(name: str) -> Any:
    @guarded(f"the property {name}")
    def entered(arguments: dict[str, Any]) -> None:
        value = live_value(arguments["self"])
        if value is not None:
            where = caller(1)
            if where.direct:
                _tell(value, "attribute", name, where.place)

    return entered


@guarded("a copy")
def _copying(arguments: dict[str, Any]) -> Any:
    return live_value(arguments["self"])


@guarded("a copy that was made")
def _copied(value: Any, result: Any) -> None:
    copy, new = remember(result, source=value, via="copy")
    if new:
        SPOOL.write({"e": "made", "object": copy.number, "source": value.number, "via": "copy", "name": "copy"})
