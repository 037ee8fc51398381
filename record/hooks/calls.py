"""Every call of every method of a captured value, from Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from . import around, inputs, proving
from .describe import described, modes, signature, tensors_of
from .guard import guarded
from .places import caller, current_test
from .spool import SPOOL
from .values import key_of_method, live

_MOST_SIGNATURES = 100
_MOST_TESTS = 20
_MOST_STATE = 400


class _Record:
    """Calls of one value that were alike."""

    __slots__ = ("count", "number", "tests", "told")

    def __init__(self, number: str) -> None:
        self.number = number
        self.count = 0
        self.told = 1  # the event that introduces it counts as one
        self.tests: set[str] = set()

    def add(self, test: str | None) -> None:
        self.count += 1
        if test is not None and test not in self.tests and len(self.tests) < _MOST_TESTS:
            self.tests.add(test)
            SPOOL.write({"e": "tested", "call": self.number, "test": test})
        if self.count & (self.count - 1) == 0:
            self.tell_count()  # at powers of two: a process that is killed loses less than half of the count

    def tell_count(self) -> None:
        """Tell how often it was made in this process."""
        if self.count > self.told:
            self.told = self.count
            SPOOL.write({"e": "count", "call": self.number, "count": self.count})

    def begin_again(self) -> None:
        """In a fork, count what the fork does."""
        self.count = self.told = 0


class _Call:
    __slots__ = ("arguments", "live", "method", "modes", "place", "replay", "signature", "training", "versions")
    arguments: Any
    live: Any
    method: Any
    modes: Any
    place: Any
    replay: Any
    signature: Any
    training: Any
    versions: Any


def watch() -> Iterator[str]:
    """Place the hooks on calls of methods and of functions. Yields what could not be watched, as a sentence each."""
    kinds = sys.modules["torch"]._C
    for kind, entered in (("ScriptMethod", _method_entered), ("ScriptFunction", _function_entered)):
        if hasattr(kinds, kind):
            around.wrap(getattr(kinds, kind), "__call__", entered, _left, _raised)
        else:
            yield f"calls of {kind} are not watched: this torch has none"


@guarded("a call of a method")
def _method_entered(method: Any, args: Any, kwargs: Any) -> Any:
    value = live(key_of_method(method))
    if value is None:
        return None
    owner = method.owner
    training = bool(owner.getattr("training")) if owner.hasattr("training") else None
    return _begun(value, method.name, args, kwargs, training)


@guarded("a call of a function")
def _function_entered(function: Any, args: Any, kwargs: Any) -> Any:
    value = live(id(function))
    return None if value is None else _begun(value, "forward", args, kwargs, None)


def _begun(value: Any, method: Any, args: Any, kwargs: Any, training: Any) -> Any:
    torch = sys.modules["torch"]
    if torch._C._get_tracing_state() is not None:
        return None  # a part of a larger capture, no call with values
    call = _Call()
    call.live, call.method, call.training = value, method, training
    call.place = caller(0).place
    call.modes = modes()
    call.signature = (method, signature(args), signature(kwargs) if kwargs else ())
    # Before the call, which may change them; once for what is alike.
    shown = value.shown.get(call.signature)
    if shown is None:
        shown = described(list(args)), {name: described(item) for name, item in kwargs.items()}
        if len(value.shown) < _MOST_SIGNATURES:
            value.shown[call.signature] = shown
    call.arguments = shown
    call.versions = [tensor._version for tensor in tensors_of((args, kwargs)) if not tensor.is_inference()]
    inputs.keep(value, method, args, kwargs, call.signature, call.place)
    call.replay = proving.begin(value, method, args, kwargs)
    call.arguments = (*call.arguments, args, kwargs)
    return call


@guarded("the end of a call")
def _left(call: Any, result: Any) -> None:
    args, kwargs = call.arguments[2:]
    value = call.live
    autocast = tuple(call.modes["autocast"].items())
    key = (
        call.signature,
        signature(result),
        call.training,
        call.modes["grad"],
        call.modes["inference"],
        autocast,
        call.place,
    )
    proving.end(call.replay, result)
    record = value.calls.get(key)
    if record is None:
        if len(value.calls) >= _MOST_SIGNATURES:
            SPOOL.problem(f"calls of one value that differ beyond the first {_MOST_SIGNATURES}", None, call.place)
            return
        record = value.calls[key] = _Record(SPOOL.number())
        SPOOL.write(_event(call, record, result))
    record.add(current_test())
    changed = [tensor._version for tensor in tensors_of((args, kwargs)) if not tensor.is_inference()] != call.versions
    if changed and "mutates" not in value.told:
        value.told.add("mutates")
        SPOOL.write({"e": "flag", "object": value.number, "flag": "mutates_inputs"})
    if record.count & (record.count - 1) == 0:
        _look_at_state(value)


@guarded("a call that failed")
def _raised(call: Any) -> None:
    error = sys.exc_info()[1]
    proving.end(call.replay, None, error)
    if "raised " + call.method not in call.live.told:
        call.live.told.add("raised " + call.method)
        event = _event(call, _Record(SPOOL.number()), None)
        event["raised"] = f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]
        SPOOL.write(event)


def _event(call: Any, record: Any, result: Any) -> Any:
    value = call.live
    plain = type(result).__module__ not in ("builtins", "torch")
    return {
        "e": "call",
        "call": record.number,
        "object": value.number,
        "method": call.method,
        "args": call.arguments[0],
        "kwargs": call.arguments[1],
        "out": described(result),
        "training": call.training,
        "context": call.modes,
        "place": call.place,
        "class_of_output": f"{type(result).__module__}:{type(result).__qualname__}" if plain else None,
    }


def _look_at_state(value: Any) -> None:
    """Whether parameters or buffers were changed in between; asked the first times and ever more rarely after that."""
    module = value.reference()
    if module is None or "state" in value.told or not hasattr(module, "state_dict"):
        return
    state = module.state_dict()
    if len(state) > _MOST_STATE:
        return
    now = [(name, tensor.data_ptr(), tensor._version) for name, tensor in state.items() if not tensor.is_inference()]
    if value.state is not None and now != value.state:
        value.told.add("state")
        SPOOL.write({"e": "flag", "object": value.number, "flag": "state_changed_between_calls"})
    value.state = now
