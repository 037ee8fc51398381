"""Plays what the program did on a value: the captured one, the Python object, or an exported program."""

from __future__ import annotations

import collections
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

from .gradients import gradients, has_gradients, held
from .modes import entered, generator_state, set_generator_state
from .shared import Array, Call, Container, Inputs, Node, Raised, Scalar, describe, describe_error
from .wire import Decoder

Label = str


@dataclass(frozen=True)
class PlayedCall:
    """A call as it went: the label says which."""

    label: Label
    call: Call


class Player:
    """A value and its copies, which see the events of the program one after the other.

    Args:
        value: what is called.
        loaded: makes a copy, as it comes from the archive that the value is written to now.
        moves: whether it takes part in `eval`, `to` and the like; modes have no meaning for an exported program.
        plain: whether named tuples are compared as plain ones.
    """

    def __init__(
        self, value: Any, loaded: Callable[[Any], Any], moves: Callable[[str], bool], plain: bool = False
    ) -> None:
        self._values = {0: value}
        self._loaded = loaded
        self._moves = moves
        self._plain = plain
        self._archive: Optional[Callable[[], Any]] = None

    def play(self, events: Iterable[tuple[Any, ...]], *, again: bool = True) -> Iterator[PlayedCall]:
        """Every call once, in order, then, with `again`, once more those since the last change from outside.

        With gradients a third time: TorchScript runs its optimised form, which may round otherwise, from then on.
        """
        number, differentiated = 0, False
        latest: list[tuple[int, tuple[Any, ...]]] = []
        for event in events:
            if event[0] == "saved":
                self._archive = self._loaded(self._values[0])
            elif event[0] == "did":
                self._did(*event[1:])
                latest.clear()
            else:
                number += 1
                if event[6] is not None:
                    latest.clear()
                    self._load_state(event[2], event[6][1])
                played = PlayedCall(f"call {number}", self.called(event, f"call {number}"))
                differentiated = differentiated or has_gradients(played.call)
                yield played
                latest.append((number, event))
        for which in ("once more", "a third time")[: 1 + differentiated] if again else ():
            for number, event in latest:
                label = f"call {number} {which}"
                yield PlayedCall(label, self.called(event, label))

    def called(self, event: tuple[Any, ...], label: str, inputs: Optional[Inputs] = None) -> Call:
        """One call with the recorded modes and random state; `inputs` in the place of its own."""
        import torch

        _, method, copy, modes, encoded, random, *_ = event
        if inputs is None:
            args, kwargs = Decoder().decode(encoded)
            inputs = Inputs(*args, **kwargs)
        with_gpu = set_generator_state(torch, random)
        value = self._value(copy)
        try:
            target = value if method == "forward" else getattr(value, method)
            with entered(torch, modes):
                result = target(*inputs.args, **inputs.kwargs)
            outcome = described(result, self._plain)
        except (Exception, SystemExit) as error:
            outcome = describe_error(error)
        drawn = hashlib.sha256(generator_state(torch, with_gpu)).hexdigest()[:12]
        after = _after(described(inputs.args), described(inputs.kwargs), drawn)
        if not isinstance(outcome, Raised):
            after = Container(after.type, (*after.items, *held(inputs), *gradients(result, inputs, value, modes)))
        return Call(label, "", 0, 1, outcome, after)

    def _value(self, copy: int) -> Any:
        if copy not in self._values:
            if self._archive is None:
                self._archive = self._loaded(self._values[0])
            self._values[copy] = self._archive()
        return self._values[copy]

    def _did(self, method: str, copy: int, given: Any) -> None:
        if not self._moves(method):
            return
        if isinstance(given, str):
            raise RuntimeError(f"{method}: {given}")
        args, kwargs = Decoder().decode(given)
        getattr(self._value(copy), method)(*args, **kwargs)

    def _load_state(self, copy: int, state: Any) -> None:
        import torch

        with torch.no_grad():
            self._value(copy).load_state_dict(Decoder().decode(state), strict=False)


def recorded(event: tuple[Any, ...], label: str) -> Optional[Call]:
    """The call as the program saw it; None if its result could not be sent."""
    outcome, drawn = event[7], event[8].hex()[:12]
    if outcome[0] == "unsent":
        return None
    if outcome[0] == "raised":
        return Call(label, "", 0, 1, Raised(outcome[1], outcome[2]), _after(described(()), described({}), drawn))
    decoder = Decoder()  # what is returned may be an input
    result = described(decoder.decode(outcome[1]))
    args, kwargs = decoder.decode(outcome[2])
    after = _after(described(args), described(kwargs), drawn)
    return Call(label, "", 0, 1, result, Container(after.type, (*after.items, *held(Inputs(*args, **kwargs)))))


def described(value: Any, plain: bool = False) -> Node:
    """The description of a value; named tuples are equal if their class has the same name and fields.

    TorchScript returns named tuples of classes that it makes.
    """
    return describe(_homeless(value, plain))


_classes: dict[tuple[str, tuple[str, ...]], Any] = {}


def _homeless(value: Any, plain: bool) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = [_homeless(item, plain) for item in value]
        if plain:
            return tuple(items)
        key = (type(value).__name__, tuple(value._fields))
        if key not in _classes:
            _classes[key] = collections.namedtuple(key[0], key[1], rename=True, module="named")
        return _classes[key](*items)
    if type(value) in (list, tuple):
        return type(value)(_homeless(item, plain) for item in value)
    if type(value) is dict:
        return {key: _homeless(item, plain) for key, item in value.items()}
    return value


def _after(args: Node, kwargs: Node, drawn: str) -> Container:
    assert isinstance(args, Container) and isinstance(kwargs, Container)
    stream = (" random numbers drawn", Scalar("str", drawn))
    return Container("inputs", (*args.items, *kwargs.items, stream))


def furthest(left: Node, right: Node) -> float:
    """The largest absolute difference of two floating point elements in the same place."""
    import torch

    if isinstance(left, Array) and isinstance(right, Array):
        if left.code != "d" or right.code != "d" or left.data == right.data or len(left.data) != len(right.data):
            return 0.0
        one, other = (torch.frombuffer(bytearray(a.data), dtype=torch.float64) for a in (left, right))
        return float((one - other).abs().nan_to_num().max())
    if isinstance(left, Container) and isinstance(right, Container):
        there = dict(right.items)
        return max((furthest(item, there[key]) for key, item in left.items if key in there), default=0.0)
    return 0.0


def script_loaded(value: Any) -> Callable[[], Any]:
    """Copies of a TorchScript value as it is now."""
    import torch

    archive = io.BytesIO()
    torch.jit.save(value, archive)
    load: Any = torch.jit.load
    return lambda: load(io.BytesIO(archive.getvalue()))


def eager_loaded(value: Any) -> Callable[[], Any]:
    """Copies of a Python object as it is now."""
    import copy

    kept = copy.deepcopy(value)
    return lambda: copy.deepcopy(kept)


def program_loaded(program: Any) -> Callable[[], Any]:
    """Copies of an ExportedProgram as its file gives them."""
    import torch

    archive = io.BytesIO()
    torch.export.save(program, archive)
    return lambda: torch.export.load(io.BytesIO(archive.getvalue())).module()
