"""`dataclasses.dataclass`, whose methods are compiled when they are needed.

The standard one compiles six functions for every class as it is defined, a third of a millisecond on CPython 3.11: with more
than a hundred classes that was a third of the time it takes to start. Here classes share all methods but `__init__`, which
is compiled for the first instance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False, kw_only: bool = False
    ) -> type | Callable[[type], type]:
        """Make a data class, as the standard decorator does with the same arguments.

        Fields may have all that `dataclasses.field` takes, and `KW_ONLY` may stand above some of them.
        """

        def make(cls: type) -> type:
            return _data_class(cls, frozen, eq, slots, kw_only)

        return make if cls is None else make(cls)


def _data_class(cls: type, frozen: bool, eq: bool, slots: bool, kw_only: bool) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__  # the standard one would import a tokenizer to write its signature there
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    fields = dataclasses.fields(made)
    own = made.__dict__
    if "__init__" not in own:

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            made.__init__ = _initialiser(made, fields, frozen)
            made.__init__(self, *args, **kwargs)

        made.__init__ = __init__
    if "__repr__" not in own:
        made.__repr__ = _represent
    if eq:
        if "__eq__" not in own:
            made.__eq__ = _equality(_values([field.name for field in fields if field.compare]))
        if own.get("__hash__") is None:
            hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
            made.__hash__ = _hash(_values(hashed)) if frozen else None
    if frozen:
        made.__setattr__ = _refuse
        made.__delattr__ = _refuse
        if slots:
            made.__getstate__ = _state
            made.__setstate__ = _set_state
    return made


def _initialiser(cls: type, fields: Sequence[dataclasses.Field[Any]], frozen: bool) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_made": object()}
    positional, keywords, lines = ["self"], list[str](), list[str]()
    for field in fields:
        name, value = field.name, field.name
        if field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            default = f"_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_factory_{name}"] = field.default_factory
            default = "_made"
            value = f"_factory_{name}() if {name} is _made else {name}" if field.init else f"_factory_{name}()"
        else:
            default = ""
        if field.init:
            (keywords if field.kw_only else positional).append(f"{name}={default}" if default else name)
        elif value == name:
            if not default:
                continue
            value = default
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    parameters = [*positional, "*", *keywords] if keywords else positional
    exec(f"def __init__({', '.join(parameters)}):\n {body}\n", names)
    initialiser: Callable[..., None] = names["__init__"]
    initialiser.__qualname__ = f"{cls.__qualname__}.__init__"
    return initialiser


@recursive_repr()
def _represent(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _values(names: Sequence[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else _nothing


def _equality(values: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _nothing(_: Any) -> tuple[()]:
    return ()


def _refuse(self: Any, name: str, *_: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"`{name}` of a {type(self).__qualname__} cannot be changed")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
