"""What is left of a value once the process that made it has ended: plain data that can be compared and shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

_SHOWN_VALUES = 6


@dataclass(frozen=True)
class Scalar:
    """A Python value without parts: None, a number, a string."""

    type: str
    value: bool | int | float | complex | str | bytes | None


@dataclass(frozen=True)
class Array:
    """A tensor.

    Attributes:
        type: qualified name of its Python class.
        dtype: its dtype, without `torch.`.
        shape: its sizes.
        device: kind of device.
        requires_grad: whether it asks for a gradient.
        code: how `data` is read: a format of `struct`, in native byte order.
        data: all values in order, widened to the widest type of their kind; a complex number is two values.
    """

    type: str
    dtype: str
    shape: tuple[int, ...]
    device: str
    requires_grad: bool
    code: str = "d"
    data: bytes = field(default=b"", repr=False)

    @property
    def values(self) -> memoryview:
        """All values in order, as Python numbers."""
        return memoryview(self.data).cast("B").cast(self.code)  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True)
class Container:
    """A tuple, list, dictionary or other object with parts; each part is named as in code: `[0]`, `['a']`, `.mask`."""

    type: str
    items: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Opaque:
    """Anything else; only its class and its text can be compared."""

    type: str
    text: str


@dataclass(frozen=True)
class Raised:
    """An exception instead of a value."""

    type: str
    message: str


@dataclass(frozen=True)
class Call:
    """One call and everything that could be seen of it.

    Attributes:
        case: which inputs, in words.
        given: the inputs, in short.
        seed: what the random generators were seeded with.
        number: first, second, ... call with the same inputs.
        outcome: what was returned or raised.
        arguments: the inputs after the call; a call may change them in place.
    """

    case: str
    given: str
    seed: int
    number: int
    outcome: Node
    arguments: Node

    @property
    def label(self) -> str:
        """The case and the number, as they are named in a report."""
        return f"{self.case}, call {self.number}" + (f", seed {self.seed}" if self.seed else "")


@dataclass(frozen=True)
class Observed:
    """All calls of one value."""

    calls: tuple[Call, ...]

    @property
    def always_raised(self) -> bool:
        """Whether no call returned anything, so that nothing can be learnt from comparing them."""
        return all(isinstance(call.outcome, Raised) for call in self.calls)


Node = Union[Scalar, Array, Container, Opaque, Raised, Observed]


def short(node: Node) -> str:
    """A few words that show a value."""
    if isinstance(node, Array):
        shape = f"{node.dtype}{list(node.shape)}"
        values = node.values
        if 0 < len(values) <= _SHOWN_VALUES:
            return f"{shape} {', '.join(format_number(value) for value in values)}"
        return shape
    if isinstance(node, Scalar):
        return "None" if node.value is None else f"{node.type} {node.value!r}"
    if isinstance(node, Container):
        parts = ", ".join(short(item) for _, item in node.items[:_SHOWN_VALUES])
        dots = ", ..." if len(node.items) > _SHOWN_VALUES else ""
        return f"{node.type.rpartition('.')[2]}({parts}{dots})"
    if isinstance(node, Raised):
        return f"{node.type.rpartition('.')[2]}: {node.message}" if node.message else node.type
    if isinstance(node, Observed):
        return f"{len(node.calls)} calls"
    return node.text


def format_number(value: float | int | bool) -> str:
    """A number, short enough for a sentence."""
    return f"{value:.7g}" if isinstance(value, float) else str(value)
