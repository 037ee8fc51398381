"""A capture as files in the spool, where its process cannot be copied: `fresh` proves it in a process of its own.

The files hold the user's data. They lie in the recorder's private folder, have a bound, and go with the proof.
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import inspect
import io
import marshal
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from .channel import HEADER
from .keeper import Doings, Subject, note, write_proof
from .limits import Limits
from .main_program import import_main, way_to_main


class CannotSpool(Exception):
    """It cannot be written to a file; the message says why, as the end of a sentence."""


def subject_path(spool_path: str) -> str:
    """What was captured."""
    return spool_path + ".subject"


def course_path(spool_path: str) -> str:
    """What the program did with it."""
    return spool_path + ".course"


def write_subject(subject: Subject, limits: Limits) -> None:
    """Write what `read_subject` reads, and the proof that nobody has come to yet.

    Raises:
        CannotSpool: that is not possible.
    """
    path = subject_path(subject.spool_path)
    size = sum(_size(value) for value in (subject.original, subject.captured))
    there = sum(os.path.getsize(other) for other in glob.glob(os.path.join(os.path.dirname(path), "*.subject")))
    if size > limits.spooled or there + size > 4 * limits.spooled:
        raise CannotSpool(f"takes more than {limits.spooled >> 20} MiB, or all of them take more than four times that")
    try:
        data = {
            "kind": subject.kind,
            "api": subject.api,
            "example": subject.example,
            "content": subject.content,
            "process": subject.process,
            "drawn": (subject.drawn_before, subject.drawn_after),
            "original": None if subject.original is None else _packed(subject.original, subject.kind),
            "main": _way_to_main(subject.original, subject.kind),
            "captured": _archive(subject.captured),
            "limits": asdict(limits),
            "path": list(sys.path),
            "folder": os.getcwd(),
        }
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            marshal.dump(data, file)
        open(course_path(subject.spool_path), "wb").close()
    except CannotSpool:
        raise
    except Exception as error:
        with contextlib.suppress(OSError):
            os.remove(path)
        raise CannotSpool(f"cannot be written to a file: {type(error).__name__}: {error}"[:300]) from None
    fresh = {"python": sys.executable, "loaded": subject.original is None}
    write_proof(subject.spool_path, {"unproved": "killed: the fresh process did not come to an end", "fresh": fresh})


def read_subject(spool_path: str) -> tuple[Subject, Limits]:
    """What was captured, in another process; each step of the proof gets it anew."""
    with open(subject_path(spool_path), "rb") as file:
        data = marshal.load(file)
    os.chdir(data["folder"])
    sys.path[:] = data["path"]
    if data["main"]:
        _noting_what_is_scripted("__mp_main__", lambda: import_main(data["main"]))

    def anew() -> tuple[Any, Any]:
        import torch

        load: Any = torch.jit.load
        original = None if data["original"] is None else _unpacked(data["original"])
        return original, load(io.BytesIO(data["captured"]))

    original, captured = anew()
    subject = Subject(
        original,
        captured,
        kind=data["kind"],
        api=data["api"],
        example=data["example"],
        spool_path=spool_path,
        content=data["content"],
        originals={},
        process=data["process"],
        drawn_before=data["drawn"][0],
        drawn_after=data["drawn"][1],
        anew=anew,
    )
    return subject, Limits(**data["limits"])


def read_course(spool_path: str) -> Doings:
    """What the program did, as far as it came."""
    course = Doings(cut=True)
    with open(course_path(spool_path), "rb") as file:
        data = file.read()
    while len(data) >= HEADER.size:
        (size,) = HEADER.unpack_from(data)
        if len(data) < HEADER.size + size:
            break
        message = marshal.loads(data[HEADER.size : HEADER.size + size])
        data = data[HEADER.size + size :]
        if message[0] == "end":
            course.cut = False
            break
        note(course, message)
    return course


def _size(value: Any) -> int:
    if inspect.ismethod(value):
        value = value.__self__
    state = value.state_dict().values() if hasattr(value, "state_dict") else ()
    return sum(tensor.numel() * tensor.element_size() for tensor in state if hasattr(tensor, "element_size"))


def _archive(captured: Any) -> bytes:
    import torch

    archive = io.BytesIO()
    torch.jit.save(captured, archive)
    return archive.getvalue()


def _packed(original: Any, kind: str) -> tuple[str, ...]:
    import torch

    if kind == "function":
        function = inspect.unwrap(original)
        if "<locals>" in function.__qualname__:
            raise CannotSpool("is a function inside of another one")
        return ("function", function.__module__, function.__qualname__)
    owner = original.__self__ if kind == "method" else original
    data = io.BytesIO()
    torch.save(owner, data)
    return ("object", data.getvalue(), original.__name__ if kind == "method" else "")  # type: ignore[return-value]


def _way_to_main(original: Any, kind: str) -> Any:
    """How another process gets what is defined in the program that was started; None where nothing of it is."""
    if original is None:
        return None
    if kind == "function":
        modules = {inspect.unwrap(original).__module__}
    else:
        owner = original.__self__ if kind == "method" else original
        parts = owner.modules() if hasattr(owner, "modules") else (owner,)
        modules = {type(part).__module__ for part in parts}
    if "__main__" not in modules:
        return None
    way = way_to_main()
    if way is None:
        raise CannotSpool(
            "is defined in the program that was started, which another process would have to run again: only where all"
            ' that it does stands below `if __name__ == "__main__":` is that an import'
        )
    return way


def _unpacked(packed: Any) -> Any:
    import torch

    if packed[0] == "object":
        load: Any = torch.load
        owner = load(io.BytesIO(packed[1]), weights_only=False)
        return getattr(owner, packed[2]) if packed[2] else owner
    module, name = packed[1:]
    scripted = _scripted_by(module)
    if name in scripted:
        return scripted[name]
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return found


_SCRIPTED: dict[str, dict[str, Any]] = {}


def _scripted_by(module: str) -> dict[str, Any]:
    """Functions that a module scripts as it is imported, by name: the name is then that of what came out."""
    if module == "__main__":
        return _SCRIPTED["__mp_main__"]
    if module not in _SCRIPTED:
        _noting_what_is_scripted(module, lambda: importlib.import_module(module))
    return _SCRIPTED[module]


def _noting_what_is_scripted(module: str, imported: Callable[[], object]) -> None:
    import torch

    found = _SCRIPTED[module] = {}
    script: Any = torch.jit.script

    def noting(obj: Any, *args: Any, _frames_up: int = 0, **kwargs: Any) -> Any:
        if inspect.isfunction(obj) and obj.__module__ == module:
            found[obj.__qualname__] = obj
        return script(obj, *args, _frames_up=_frames_up + 1, **kwargs)

    torch.jit.script = noting
    try:
        imported()
    finally:
        torch.jit.script = script
