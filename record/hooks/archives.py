"""Files of TorchScript that are written and read, linked by the hash of their bytes, and what `torch.load` loads."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from . import around, inside, proving
from .guard import guarded
from .places import caller, current_test
from .spool import SPOOL
from .values import is_script_module, live_value, remember

_WHOLE = 256 << 20
_END = 64 << 20
_HEX_DIGITS = 12


def watch() -> Iterator[str]:
    """Place the hooks. Yields what could not be watched, as a sentence each."""
    torch = sys.modules["torch"]
    recursive = torch.jit._script.RecursiveScriptModule
    watched: list[Any] = [
        ("torch.jit.save", torch.jit.save, _saving, _saved),
        ("torch.jit.load", torch.jit.load, _reading, _read),
        ("torch.load", torch.load, _loading, _loaded),
    ]
    if hasattr(recursive, "save"):  # not where TorchScript is switched off
        watched += [
            ("ScriptModule.save", recursive.save, _saving_itself, _saved),
            ("ScriptModule.save_to_buffer", recursive.save_to_buffer, _saving_to_buffer, _saved_to_buffer),
        ]
    for name, function, entered, left in watched:
        try:
            inside.watch(function, entered, left, _load_failed if name == "torch.load" else _nothing)
        except inside.NotWatched as error:
            yield f"{name} is not watched: {error}"
    function = torch._C.ScriptFunction
    around.wrap(function, "save", _function_saving, _saved, _nothing)
    around.wrap(function, "save_to_buffer", _function_saving_to_buffer, _saved_to_buffer, _nothing)


def _nothing(*_: Any) -> None:
    pass


class ArchiveDigest:
    """Hash of an archive's bytes; of very large ones, of both ends and the size."""

    @staticmethod
    def of_bytes(data: Any) -> Any:
        """Of what is in memory."""
        digest = hashlib.sha256()
        if len(data) <= _WHOLE:
            digest.update(data)
        else:
            for part in (str(len(data)).encode(), data[:_END], data[-_END:]):
                digest.update(part)
        return digest.hexdigest()[:_HEX_DIGITS]

    @staticmethod
    def of_file(path: str) -> Any:
        """Of a file. Raises `OSError`."""
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            if size <= _WHOLE:
                return ArchiveDigest.of_bytes(file.read())
            digest = hashlib.sha256(str(size).encode())
            digest.update(file.read(_END))
            file.seek(-_END, os.SEEK_END)
            digest.update(file.read(_END))
            return digest.hexdigest()[:_HEX_DIGITS]


def _is_path(target: Any) -> Any:
    return isinstance(target, (str, os.PathLike))


def _shown_path(target: Any) -> Any:
    """Path from the root; None for what lies elsewhere, and for files without a name."""
    name = os.fspath(target) if _is_path(target) else getattr(target, "name", None)
    if not isinstance(name, str):
        return None
    path = os.path.realpath(name)
    root = os.path.join(SPOOL.root, "")
    return path[len(root) :].replace(os.sep, "/") if path.startswith(root) else None


def _extra(names: Any) -> Any:
    return sorted(str(name) for name in names or ())


@guarded("torch.jit.save")
def _saving(arguments: dict[str, Any]) -> Any:
    return _save_begun(arguments["m"], arguments["f"], arguments["_extra_files"], caller(1).place)


@guarded("the method save")
def _saving_itself(arguments: dict[str, Any]) -> Any:
    where = caller(1)
    if not where.direct:
        return None
    extra = arguments["kwargs"].get("_extra_files")
    return _save_begun(arguments["self"], str(arguments["f"]), extra, where.place)


@guarded("the method save of a function")
def _function_saving(function: Any, args: Any, kwargs: Any) -> Any:
    where = caller(0)
    target = args[0] if args else kwargs.get("filename")
    return _save_begun(function, target, kwargs.get("_extra_files"), where.place) if where.direct else None


def _save_begun(module: Any, target: Any, extra: Any, place: Any) -> Any:
    start = None
    if not _is_path(target):
        start = target.tell() if hasattr(target, "tell") else 0
    return live_value(module), target, start, _extra(extra), place


@guarded("what was saved")
def _saved(token: Any, _: Any) -> None:
    value, target, start, extra, place = token
    if _is_path(target):
        content = ArchiveDigest.of_file(os.fspath(target))
    elif hasattr(target, "getbuffer"):
        content = ArchiveDigest.of_bytes(bytes(target.getbuffer()[start : target.tell()]))
    elif isinstance(getattr(target, "name", None), str):
        target.flush()
        with open(target.name, "rb") as file:
            file.seek(start)
            content = ArchiveDigest.of_bytes(file.read())
    else:
        SPOOL.problem("what was saved into an object that cannot be read again", None, place)
        return
    _tell_written(value, content, _shown_path(target), extra, place)


@guarded("save_to_buffer")
def _saving_to_buffer(arguments: dict[str, Any]) -> Any:
    where = caller(1)
    extra = arguments["kwargs"].get("_extra_files")
    return (live_value(arguments["self"]), _extra(extra), where.place) if where.direct else None


@guarded("save_to_buffer of a function")
def _function_saving_to_buffer(function: Any, args: Any, kwargs: Any) -> Any:
    where = caller(0)
    return (live_value(function), _extra(kwargs.get("_extra_files")), where.place) if where.direct else None


@guarded("what was saved to a buffer")
def _saved_to_buffer(token: Any, result: Any) -> None:
    value, extra, place = token
    _tell_written(value, ArchiveDigest.of_bytes(result), None, extra, place)


def _tell_written(value: Any, content: str, path: str | None, extra: Any, place: Any) -> None:
    number = None if value is None else value.number
    event = {"e": "wrote", "object": number, "content": content, "path": path, "extra_files": extra, "place": place}
    SPOOL.write(event)
    if value is not None:
        snapshot = value.root()[0].snapshot
        if snapshot is not None:
            _written[content] = value
            value.root()[0].written = True
            snapshot.saved(content)


_written: dict[str, Any] = {}


@guarded("torch.jit.load")
def _reading(arguments: dict[str, Any]) -> Any:
    target = arguments["f"]
    return _content_of(target), _shown_path(target), caller(1).place, _extra(arguments["_extra_files"])


def _content_of(target: Any) -> Any:
    """Hash of what will be read from here; None where reading it twice is not possible."""
    if _is_path(target):
        return ArchiveDigest.of_file(os.fspath(target)) if os.path.isfile(target) else None
    if hasattr(target, "getbuffer"):
        return ArchiveDigest.of_bytes(bytes(target.getbuffer()[target.tell() :]))
    if hasattr(target, "seekable") and target.seekable():
        start = target.tell()
        try:
            return ArchiveDigest.of_bytes(target.read())
        finally:
            target.seek(start)
    return None


@guarded("what was read")
def _read(token: Any, result: Any) -> None:
    content, path, place, extra = token
    if content is None:
        SPOOL.problem("what was loaded from an object that can be read only once", None, place)
    source = _written.get(content)
    value, new = remember(result, source=source, via="load", archive=content)
    number = value.number if new else None
    event = {"e": "read", "object": number, "content": content, "path": path, "place": place}
    proof = None
    if new and source is None and content is not None and SPOOL.options.get("prover"):
        proof = proving.proof_path(value.number)
    SPOOL.write({**event, "extra_files": extra, "test": current_test(), "proof": proof})
    if proof is not None:
        # Written by another process: compared there with the program that is proved for the archive.
        facts = {"kind": "module", "api": "torch.jit.load", "content": content, "spool_path": proof}
        value.snapshot = proving.snapshot(None, result, None, **facts)


@guarded("torch.load")
def _loading(arguments: dict[str, Any]) -> Any:
    where = caller(1)
    given = arguments["weights_only"]
    target = arguments["f"]
    return {
        "e": "load",
        "place": where.place,
        "weights_only": given if isinstance(given, bool) else None,
        "content": _content_of(target),
        "unsafe_globals": _unsafe_globals(target),
        "test": current_test(),
    }


def _unsafe_globals(target: Any) -> Any:
    """What a load with `weights_only=True` would refuse, of a file in the zip format."""
    ask: Any = getattr(sys.modules["torch"].serialization, "get_unsafe_globals_in_checkpoint", None)
    if ask is None:
        from .pickled_names import unsafe_globals as ask
    start = None if _is_path(target) else target.tell()
    try:
        found = ask(target)
        return None if found is None else sorted(found)
    except (ValueError, RuntimeError, OSError):  # another format, a TorchScript archive, or not there
        return None
    finally:
        if start is not None:
            target.seek(start)


@guarded("what was loaded")
def _loaded(event: dict[str, Any], result: Any) -> None:
    event["torchscript"] = is_script_module(result)
    SPOOL.write(event)


@guarded("a load that failed")
def _load_failed(event: dict[str, Any]) -> None:
    error = sys.exc_info()[1]
    if event is not None and isinstance(error, Exception):
        event["torchscript"] = False
        event["refused"] = f"{type(error).__name__}: {error}".splitlines()[0].partition("\033")[0].strip()[:200]
        SPOOL.write(event)
