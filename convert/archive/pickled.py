"""What a pickle would make, without making it: its opcodes are followed, no class is imported, nothing is called.

`torch.load(weights_only=True)` imports a few classes and refuses the rest; here none is imported, and all are named.
"""

from __future__ import annotations

import io
import pickletools
from dataclasses import dataclass, field
from typing import Any

from torchlift.convert.archive.zip_entries import BadArchive

_MOST_OPCODES = 4_000_000
_MARK = object()


@dataclass(frozen=True)
class Global:
    """A class or function that the pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False)
class PickledCall:
    """What calling `maker` with `args` would give, filled in with `state`, `items` and `pairs`."""

    maker: Any
    args: Any
    state: Any = None
    items: list[Any] = field(default_factory=list)
    pairs: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(eq=False)
class Pairs:
    """A dictionary whose keys may be anything."""

    pairs: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Stored:
    """What lies outside of the pickle under this key."""

    key: Any


@dataclass
class Pickle:
    """A pickle that was read.

    Attributes:
        value: what it would make.
        imports: everything that it would import, in order.
        calls: what it would call.
        end: position behind it.
    """

    value: Any
    imports: list[Global]
    calls: list[Global]
    end: int


def read_pickle(data: bytes, start: int = 0) -> Pickle:
    """The pickle that begins at `start`.

    Raises:
        BadArchive: it is damaged, too long, or of no meaning.
    """
    stream = io.BytesIO(data)
    stream.seek(start)
    machine = _Machine()
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(stream)):
            if number >= _MOST_OPCODES:
                raise BadArchive("holds a pickle of more than four million steps")
            machine.step(opcode.name, argument)
        value = machine.stack.pop()
    except BadArchive:
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        said = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise BadArchive(f"holds a damaged pickle ({said})") from None
    return Pickle(value, list(machine.imports), list(machine.calls), stream.tell())


class _Machine:
    """The stack machine of pickle, on descriptions."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.imports: dict[Global, None] = {}
        self.calls: dict[Global, None] = {}
        self._memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self.stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = self.stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self.stack.append(self._memo[argument])
        else:
            handler = getattr(self, f"_{name.lower()}", None)
            if handler is None:
                raise BadArchive(f"holds a pickle with the step {name}, which no model needs")
            handler(argument)

    def _since_mark(self) -> list[Any]:
        found: list[Any] = []
        while (item := self.stack.pop()) is not _MARK:
            found.append(item)
        return found[::-1]

    def _proto(self, argument: Any) -> None:
        """Nothing to do; so for the two below."""

    _frame = _stop = _proto

    def _mark(self, argument: Any) -> None:
        self.stack.append(_MARK)

    def _pop(self, argument: Any) -> None:
        self.stack.pop()

    def _pop_mark(self, argument: Any) -> None:
        self._since_mark()

    def _dup(self, argument: Any) -> None:
        self.stack.append(self.stack[-1])

    def _empty_list(self, argument: Any) -> None:
        self.stack.append([])

    def _empty_dict(self, argument: Any) -> None:
        self.stack.append(Pairs())

    def _empty_set(self, argument: Any) -> None:
        self.stack.append(PickledCall(Global("builtins", "set"), ()))

    def _list(self, argument: Any) -> None:
        self.stack.append(self._since_mark())

    def _tuple(self, argument: Any) -> None:
        self.stack.append(tuple(self._since_mark()))

    def _frozenset(self, argument: Any) -> None:
        self.stack.append(PickledCall(Global("builtins", "frozenset"), (self._since_mark(),)))

    def _dict(self, argument: Any) -> None:
        self.stack.append(Pairs(_paired(self._since_mark())))

    def _tuple1(self, argument: Any) -> None:
        self._last_as_tuple(1)

    def _tuple2(self, argument: Any) -> None:
        self._last_as_tuple(2)

    def _tuple3(self, argument: Any) -> None:
        self._last_as_tuple(3)

    def _last_as_tuple(self, count: int) -> None:
        items = tuple(self.stack[-count:])
        if len(items) < count:
            raise IndexError("too little on the stack")
        del self.stack[-count:]
        self.stack.append(items)

    def _append(self, argument: Any) -> None:
        item = self.stack.pop()
        self._extend([item])

    def _appends(self, argument: Any) -> None:
        self._extend(self._since_mark())

    _additems = _appends

    def _extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        (target.items if isinstance(target, PickledCall) else target).extend(items)

    def _setitem(self, argument: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.stack[-1].pairs.append((key, value))

    def _setitems(self, argument: Any) -> None:
        pairs = _paired(self._since_mark())
        self.stack[-1].pairs.extend(pairs)

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._import(module, name)

    def _stack_global(self, argument: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise TypeError("an import without a name")
        self._import(module, name)

    def _import(self, module: str, name: str) -> None:
        found = Global(module, name)
        self.imports[found] = None
        self.stack.append(found)

    def _reduce(self, argument: Any) -> None:
        args, maker = self.stack.pop(), self.stack.pop()
        self._make(maker, args)

    _newobj = _reduce

    def _newobj_ex(self, argument: Any) -> None:
        named, args, maker = self.stack.pop(), self.stack.pop(), self.stack.pop()
        self._make(maker, (*args, named))

    def _obj(self, argument: Any) -> None:
        maker, *args = self._since_mark()
        self._make(maker, tuple(args))

    def _inst(self, argument: str) -> None:
        args = tuple(self._since_mark())
        self._global(argument)
        self._make(self.stack.pop(), args)

    def _make(self, maker: Any, args: Any) -> None:
        if isinstance(maker, Global):
            self.calls[maker] = None
        self.stack.append(PickledCall(maker, args))

    def _build(self, argument: Any) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if not isinstance(target, PickledCall):
            raise TypeError("state for something that has none")
        target.state = state

    def _binpersid(self, argument: Any) -> None:
        self.stack.append(Stored(self.stack.pop()))

    def _persid(self, argument: Any) -> None:
        self.stack.append(Stored(argument))


def _paired(items: list[Any]) -> list[tuple[Any, Any]]:
    if len(items) % 2:
        raise ValueError("a key without a value")
    return list(zip(items[::2], items[1::2], strict=True))


_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_VALUES = frozenset(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 STRING BINSTRING SHORT_BINSTRING UNICODE SHORT_BINUNICODE BINUNICODE "
    "BINUNICODE8 FLOAT BINFLOAT BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8".split()
)
