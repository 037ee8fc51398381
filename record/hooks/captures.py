"""The calls that make TorchScript: `script`, `trace`, `trace_module`, `freeze`, and classes that script themselves."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from typing import Any

from . import around, inside, proving
from .describe import described, modes, name_of, tensors_of
from .guard import guarded
from .places import Caller, caller, current_test, inside_installed
from .spool import SPOOL
from .values import drop, is_script_module, live_value, remember

_MOST_VALUES = 32
_OBVIOUS = {"obj", "func", "mod", "example_inputs", "inputs", "self", "_frames_up", "_rcb"}
_made: dict[Any, int] = {}


class _Capture:
    __slots__ = ("api", "arguments", "drawn", "event", "keywords", "original", "place")
    api: Any
    arguments: Any
    drawn: Any
    event: Any
    keywords: Any
    original: Any
    place: Any


def watch() -> Iterator[str]:
    """Place the hooks. Yields what could not be watched, as a sentence each."""
    jit = sys.modules["torch"].jit
    for name in ("script", "trace", "trace_module", "freeze", "optimize_for_inference"):
        try:
            function = getattr(jit, name)
            inside.watch(function, _entered(f"torch.jit.{name}", _defaults(function)), _left, _raised)
        except (inside.NotWatched, AttributeError) as error:
            yield f"torch.jit.{name} is not watched: {error}"
    meta = getattr(jit, "ScriptModule", None)
    if meta is not None and type(meta) is not type:
        around.wrap(type(meta), "__call__", _class_entered, _left, _raised)


def _defaults(function: Any) -> Any:
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name not in _OBVIOUS}


def _entered(api: Any, defaults: Any) -> Any:
    @guarded(f"the beginning of {api}")
    def entered(arguments: dict[str, Any]) -> Any:
        # Frames: the body of this hook is below `guarded`; all are files of the hooks, so they are skipped.
        where = caller(1)
        if not where.direct:
            return None
        if where.place is None:
            SPOOL.problem(f"captures inside of {inside_installed(1) or 'other files'}, outside of the project")
            return None
        given = [name for name, value in defaults.items() if _is_given(arguments[name], value)]
        return _begun(api, arguments, where, given)

    return entered


def _is_given(value: Any, default: Any) -> bool:
    return value is not default and not (isinstance(value, (bool, int, float, str)) and value == default)


@guarded("the making of a ScriptModule")
def _class_entered(cls: Any, args: Any, kwargs: Any) -> Any:
    if cls.__module__.partition(".")[0] == "torch" or getattr(cls, "_disable_script_meta", False):
        return None
    where = caller(0)
    if where.place is None or not where.direct:
        return None
    return _begun("torch.jit.ScriptModule", {"self": cls}, Caller(True, where.place), [])


def _begun(api: Any, arguments: dict[str, Any], where: Any, given: Any) -> Any:
    capture = _Capture()
    capture.api, capture.arguments, capture.place, capture.keywords = api, arguments, where.place, given
    original = next(arguments[name] for name in ("obj", "func", "mod", "self") if name in arguments)
    capture.original = original
    capture.drawn = proving.random_state()
    example, aliased = _example(arguments)
    capture.event = {
        "api": api,
        "place": where.place,
        "test": current_test(),
        "keywords": sorted(given),
        "of": _definition(original),
        "kind": _kind(original),
        "training": bool(getattr(original, "training", False)) if isinstance(original, _module_class()) else False,
        "context": modes(),
        "example": example,
        "aliased_inputs": aliased,
        "classes": _classes(original),
    }
    return capture


@guarded("the end of a capture")
def _left(capture: Any, result: Any) -> None:
    event = capture.event
    event["e"] = "capture"
    if result is capture.original and capture.api in ("torch.jit.script", "torch.jit.trace", "torch.jit.trace_module"):
        return  # what is scripted already, an Enum, or TorchScript is switched off: nothing was made
    source = live_value(capture.original)
    value, new = remember(result, source=source, via=None if source is None else "copy")
    if value is None:
        SPOOL.write({**event, "object": None})  # a class, a dictionary or a list: a hit, and nothing to follow
        return
    made = _made[capture.place] = _made.get(capture.place, 0) + 1
    if made > _MOST_VALUES:
        SPOOL.write({"e": "hit", "api": capture.api, "place": capture.place, "test": event["test"]})
        SPOOL.problem(f"values of one place beyond the first {_MOST_VALUES} of a process", None, capture.place)
        drop(value)
        return
    event["object"] = value.number
    event["source"] = None if source is None else source.number
    proof = proving.proof_path(value.number) if new and source is None else None
    event["proof"] = proof if SPOOL.options.get("prover") else None
    SPOOL.write(event)
    if event["proof"]:
        value.snapshot = proving.snapshot(
            capture.original,
            result,
            kind=event["kind"],
            api=capture.api,
            example=_example_values(capture.arguments),
            spool_path=proof,
            drawn=capture.drawn,
        )


@guarded("a capture that failed")
def _raised(capture: Any) -> None:
    if capture is None:
        return
    error = sys.exc_info()[1]
    if not isinstance(error, Exception):
        return  # Ctrl-C, or the end of the process
    text = [line for line in str(error).strip().splitlines() if line.strip()]
    failed = {"error": type(error).__name__, "message": text[0][:200] if text else ""}
    event = capture.event
    kept = {key: event[key] for key in ("api", "place", "test", "keywords")}
    SPOOL.write({"e": "failed", **kept, **failed})


def _module_class() -> Any:
    return sys.modules["torch"].nn.Module


def _kind(original: Any) -> Any:
    if isinstance(original, (_module_class(), type)):
        return "module"
    return "method" if inspect.ismethod(original) else "function"


def _definition(original: Any) -> Any:
    if is_script_module(original):
        return {"name": f"{type(original).__module__}:{getattr(original, 'original_name', '')}", "kind": "class"}
    if isinstance(original, type) or not (inspect.isfunction(original) or inspect.ismethod(original)):
        cls = original if isinstance(original, type) else type(original)
        return {"name": name_of(cls), "kind": "class", "path": _file_of(cls)}
    function = inspect.unwrap(original)
    code = getattr(function, "__code__", None)
    place = {} if code is None else {"path": os.path.abspath(code.co_filename), "line": code.co_firstlineno}
    return {"name": name_of(original), "kind": "function", **place}


def _file_of(cls: Any) -> Any:
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return None if path is None else os.path.abspath(path)


def _classes(original: Any) -> Any:
    if inspect.ismethod(original):
        original = original.__self__
    if not isinstance(original, _module_class()) or is_script_module(original):
        return []
    inner = {type(module) for module in original.modules()}
    found = [{"name": name_of(cls), "path": _file_of(cls)} for cls in inner if not cls.__module__.startswith("torch.")]
    return sorted(found, key=lambda one: one["name"])


def _example_values(arguments: dict[str, Any]) -> Any:
    """Positional and keyword inputs of a trace; None for what is scripted."""
    given = arguments.get("example_inputs")
    if "inputs" in arguments:
        forward = arguments["inputs"].get("forward") if isinstance(arguments["inputs"], dict) else None
        given = forward
    keywords = arguments.get("example_kwarg_inputs")
    if given is None and keywords is None:
        return None
    if given is None:
        return (), dict(keywords or {})
    if isinstance(given, dict):
        return (), dict(given)
    return (given if isinstance(given, tuple) else (given,) if not isinstance(given, list) else tuple(given)), {}


def _example(arguments: dict[str, Any]) -> Any:
    if (
        arguments.get("example_inputs") is None
        and "inputs" not in arguments
        and not arguments.get("example_kwarg_inputs")
    ):
        return None, False
    found = _example_values(arguments)
    if found is None:
        return None, False
    args, kwargs = found
    shown = {
        "args": [described(item) for item in args],
        "kwargs": {name: described(item) for name, item in kwargs.items()},
    }
    tensors = tensors_of((args, kwargs))
    return shown, len({id(tensor) for tensor in tensors}) < len(tensors)
