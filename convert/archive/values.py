"""The values of a model's pickles: tensors by what is known of them, objects by class, the rest as Python has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torchlift.convert.archive.pickled import Global, Pairs, PickledCall, Stored
from torchlift.convert.archive.zip_entries import BadArchive

_DEEPEST = 120
_MOST_NUMBERS = 1 << 62
# Nested tuples that share their parts take a time to hash that doubles with every level.
_KEYS = (str, bytes, int, float, Global, type(None))

# The names of torch's storage classes, as they stand in pickles of every release, and the dtypes without `torch.`.
_DTYPES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "QInt8Storage": "qint8",
    "QUInt8Storage": "quint8",
    "QInt32Storage": "qint32",
    "UntypedStorage": "uint8",
}
STORAGES = {dtype: name for name, dtype in reversed(_DTYPES.items())}
"""The names of the storage classes, by dtype."""
ITEM_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1,
    "bool": 1, "complex64": 8, "complex128": 16, "qint8": 1, "quint8": 1, "qint32": 4,
}  # fmt: skip
"""Bytes of one element, by dtype."""


@dataclass(eq=False)
class Tensor:
    """A tensor in the archive.

    Attributes:
        key: of its storage: the name of the entry that holds the bytes.
        dtype: without `torch.`.
        shape, stride, offset: as torch has them, in elements.
        location: device that it was saved from.
        requires_grad: whether it asks for a gradient.
        parameter: whether it was pickled as a Parameter.
        quantizer: how its numbers are meant if it is quantized.
    """

    key: str
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    location: str
    requires_grad: bool = False
    parameter: bool = False
    quantizer: Any = None

    @property
    def numbers(self) -> int:
        """How many elements it has."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def bytes(self) -> int:
        """Bytes of its elements."""
        return self.numbers * ITEM_BYTES.get(self.dtype, 1)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(eq=False)
class Thing:
    """An object of a class of the archive, or of a class that would have to be imported.

    Attributes:
        kind: the class.
        attributes: by name, where its state is a dictionary.
        state: its state otherwise.
        args: what it is made with.
    """

    kind: Global
    attributes: dict[str, Any] = field(default_factory=dict)
    state: Any = None
    args: tuple[Any, ...] = ()


class Values:
    """Simplifies what `read_pickle` found; equal objects stay one object."""

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._kept: list[Any] = []

    def of(self, value: Any, depth: int = 0) -> Any:
        """The value. Raises `BadArchive` if it is nested too deeply or says nonsense."""
        if value is None or isinstance(value, (bool, int, float, str, bytes, Global)):
            return value
        if depth > _DEEPEST:
            raise BadArchive(f"holds values that are nested more than {_DEEPEST} deep")
        if id(value) in self._done:
            return self._done[id(value)]
        self._kept.append(value)
        made = self._made(value, depth + 1)
        self._done[id(value)] = made
        return made

    def _made(self, value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [self.of(item, depth) for item in value]
        if isinstance(value, tuple):
            return tuple(self.of(item, depth) for item in value)
        if isinstance(value, Pairs):
            return self._dictionary(value.pairs, depth)
        if isinstance(value, Stored):
            return self._storage(value, depth)
        if isinstance(value, PickledCall):
            return self._object(value, depth)
        return value

    def _dictionary(self, pairs: list[tuple[Any, Any]], depth: int) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, item in pairs:
            name = self.of(key, depth)
            if not isinstance(name, _KEYS) and not (
                isinstance(name, tuple) and all(isinstance(part, _KEYS) for part in name)
            ):
                raise BadArchive("holds a dictionary with a key that no model has")
            made[name] = self.of(item, depth)
        return made

    def _storage(self, value: Stored, depth: int) -> Any:
        key = self.of(value.key, depth)
        if isinstance(key, tuple) and len(key) == 4 and key[0] == "module" and isinstance(key[1], Global):
            return key[1]  # a class with its source beside it, as torch before 1.6 wrote classes of modules
        if isinstance(key, tuple) and len(key) >= 5 and key[0] == "storage" and isinstance(key[1], Global):
            return ("storage", _DTYPES.get(key[1].name, key[1].name), str(key[2]), str(key[3]))
        return Thing(Global("", "persistent"), state=key)

    def _object(self, value: PickledCall, depth: int) -> Any:
        maker = self.of(value.maker, depth)
        args = self.of(value.args, depth)
        if not isinstance(maker, Global):
            return Thing(Global("", "unknown"), state=args)
        if not isinstance(args, tuple):
            args = (args,)  # as TorchScript writes members of enumerations
        name = str(maker)
        if name in _REBUILD_TENSOR:
            return _tensor(args)
        if name == "torch._utils._rebuild_qtensor" and len(args) >= 6:
            tensor = _tensor((*args[:4], args[5]))
            tensor.quantizer = args[4]
            return tensor
        if name in _REBUILD_PARAMETER and args and isinstance(args[0], Tensor):
            args[0].parameter, args[0].requires_grad = True, bool(args[1:2] and args[1])
            return args[0]
        if maker.module == "torch.jit._pickle" and args:
            return args[0]
        if name in ("collections.OrderedDict", "builtins.dict"):
            return self._dictionary(value.pairs, depth)
        thing = Thing(maker, args=args)
        self._done[id(value)] = thing
        state = self.of(value.state, depth)
        if isinstance(state, dict) and all(isinstance(key, str) for key in state):
            thing.attributes = state
        else:
            thing.state = state
        for key, item in self._dictionary(value.pairs, depth).items():
            thing.attributes.setdefault(str(key), item)
        return thing


_REBUILD_TENSOR = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v3")
_REBUILD_PARAMETER = ("torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state")


def _tensor(args: tuple[Any, ...]) -> Tensor:
    storage, offset, shape, stride = (*args, None, None, None, None)[:4]
    whole = isinstance(storage, tuple) and len(storage) == 4 and storage[0] == "storage"
    if not (whole and _sizes(shape) and _sizes(stride) and len(shape) == len(stride) and _sizes((offset,))):
        raise BadArchive("holds a tensor that makes no sense")
    _, dtype, key, location = storage
    tensor = Tensor(key, dtype, shape, stride, offset, location, bool(len(args) > 4 and args[4] is True))
    if tensor.numbers > _MOST_NUMBERS:
        raise BadArchive("holds a tensor that is larger than any memory")
    return tensor


def _sizes(value: Any) -> bool:
    return isinstance(value, tuple) and all(type(item) is int and item >= 0 for item in value)


def tensors_of(value: Any) -> Iterator[tuple[str, Tensor]]:
    """All tensors inside, by the names under which they are first met: `conv.weight`, `layers.0.bias`."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, Tensor):
            if id(item) not in seen:
                seen.add(id(item))
                yield path, item
            continue
        if isinstance(item, (dict, list, tuple, Thing)):
            if id(item) in seen:
                continue
            seen.add(id(item))
            waiting += [(f"{path}.{name}" if path else name, part) for name, part in reversed(_parts(item))]


def _parts(item: Any) -> list[tuple[str, Any]]:
    if isinstance(item, dict):
        return [(str(key), part) for key, part in item.items()]
    if isinstance(item, Thing):
        inner = _module_parts(item) or list(item.attributes.items())
        return inner if item.state is None else [*inner, ("state", item.state)]
    return [(str(number), part) for number, part in enumerate(item)]


def _module_parts(thing: Thing) -> list[tuple[str, Any]]:
    """Parameters, buffers and modules of a pickled `nn.Module`, by their own names."""
    found: list[tuple[str, Any]] = []
    for name in ("_parameters", "_buffers", "_modules"):
        part = thing.attributes.get(name)
        if isinstance(part, dict):
            found += [(str(key), inner) for key, inner in part.items()]
    return found
