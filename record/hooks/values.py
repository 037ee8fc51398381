"""The captured values that are alive in this process, by identity, and what each was made from.

Nothing here keeps a value alive. A TorchScript module is known by its C++ object, which all its Python wrappers share.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from . import proving
from .spool import SPOOL

_LIVE: dict[Any, Any] = {}
_GONE_BUT_COPIED: list[Any] = []


class Live:
    """One captured value, or one made from it: loaded, copied, a part of it.

    Attributes:
        number: its identifier in the spool.
        source: the value that this was made from, or None.
        via: how: `load`, `copy`, `part`; None for a capture.
        prefix: for a part, its name inside the source, with a dot behind it.
        calls: records of `calls.py` by signature.
        told: operations and attributes that were told already.
        snapshot: of the prover, or None.
        archive: content hash of what it was loaded from.
        copy: counts what was loaded or copied from one capture, from one; None for others.
        copies: how many were.
        shown: descriptions of arguments by their signature.
        kept: bytes of inputs that were written to files.
        state: what `calls.py` knows of its parameters.
        written: whether there is an archive of it, which may be loaded when it is gone.
    """

    __slots__ = (
        "archive",
        "calls",
        "copies",
        "copy",
        "kept",
        "key",
        "number",
        "prefix",
        "reference",
        "shown",
        "snapshot",
        "source",
        "state",
        "told",
        "via",
        "written",
    )

    def __init__(self, key: Any, number: str) -> None:
        self.key = key
        self.number = number
        self.source: Any = None
        self.via: str | None = None
        self.snapshot: Any = None
        self.archive: str | None = None
        self.state: Any = None
        self.reference: Any = None
        self.copy: int | None = None
        self.copies = 0
        self.kept = 0
        self.shown: dict[Any, Any] = {}
        self.prefix = ""
        self.written = False
        self.calls: dict[Any, Any] = {}
        self.told: set[Any] = set()

    def root(self) -> Any:
        """The capture, the name of this value inside of it, and the number of the loaded copy, None for the capture itself."""
        live, prefix, copy = self, "", None
        while live.source is not None:
            prefix = live.prefix + prefix
            copy = live.copy if copy is None else copy
            live = live.source
        return live, prefix, copy


def is_script_module(value: Any) -> Any:
    """Whether it is a scripted, traced or loaded module."""
    return isinstance(value, sys.modules["torch"].jit.ScriptModule)


def is_script_function(value: Any) -> Any:
    """Whether it is a scripted or traced function."""
    return isinstance(value, sys.modules["torch"]._C.ScriptFunction)


def key_of(value: Any) -> Any:
    """What identifies a captured value, or None if it is none."""
    if is_script_function(value):
        return id(value)
    if is_script_module(value):
        inner = value.__dict__.get("_actual_script_module", value)
        pointer = inner.__dict__.get("_c")
        return None if pointer is None else ("module", hash(pointer))
    return None


def key_of_method(method: Any) -> Any:
    """What identifies the module that a `torch._C.ScriptMethod` is of."""
    return ("module", hash(method.owner))


def live(key: Any) -> Any:
    """The value with this key, or None."""
    return _LIVE.get(key)


def live_value(value: Any) -> Any:
    """What is known of a value, or None."""
    key = key_of(value)
    return None if key is None else _LIVE.get(key)


def remember(value: Any, source: Any = None, via: Any = None, prefix: str = "", archive: Any = None) -> Any:
    """Begin to follow a value. Returns its `Live`, and whether it is new; `(None, False)` where it cannot be followed."""
    key = key_of(value)
    if key is None:
        return None, False
    known = _LIVE.get(key)
    if known is not None:
        return known, False
    new = Live(key, SPOOL.number())
    new.source, new.via, new.prefix, new.archive = source, via, prefix, archive
    if source is not None and via in ("load", "copy"):
        root = new.root()[0]
        root.copies += 1
        new.copy = root.copies
    new.reference = weakref.ref(value)
    finalizer = weakref.finalize(value, _forget, key, new)
    finalizer.atexit = False
    _LIVE[key] = new
    return new, True


def all_live() -> Any:
    """All values that are followed; of those that are gone, the ones that there are copies or archives of."""
    return [*_LIVE.values(), *_GONE_BUT_COPIED]


def _forget(key: Any, value: Any) -> None:
    try:
        if _LIVE.get(key) is value:
            del _LIVE[key]
        if value.snapshot is not None and (value.written or value.copies):
            _GONE_BUT_COPIED.append(value)
        else:
            finish(value)
    except Exception as error:
        SPOOL.problem("a value that ended", error)


def drop(value: Live) -> None:
    """Follow a value no longer."""
    if _LIVE.get(value.key) is value:
        del _LIVE[value.key]


def begin_again() -> None:
    """In a fork of the process that captured: the prover listens to that one only."""
    for value in all_live():
        value.snapshot = None
        for record in value.calls.values():
            record.begin_again()


def finish(value: Any) -> None:
    """Tell what was only counted, and let the prover begin."""
    for record in list(value.calls.values()):
        record.tell_count()
    snapshot, value.snapshot = value.snapshot, None
    proving.ended(snapshot)
