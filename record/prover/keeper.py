"""The sleeping copy: keeps what it is told, notices the end of the program, and then has everything tried in processes of its own.

It runs nothing of the program and nothing of torch, so that it comes to an end whatever they do.
"""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Optional

from .channel import HEADER
from .detached import start_of
from .limits import Limits
from .steps import end_descendants

_LOOK_AFTER_SECONDS = 2.0


@dataclass
class Subject:
    """What was captured, as it is at that line.

    Attributes:
        original, captured, kind, api, content: as given to `snapshot`.
        example: the encoded arguments of a trace.
        spool_path: file for the proof.
        originals: the Python objects of all captured modules that are alive, by id.
        process: of the program.
        drawn_before, drawn_after: digests of the random generator around the capture.
        functions: captured functions that are alive, each with its Python function and the file for its proof, by id.
        anew: gives `original` and `captured` again; steps of the proof then run in this process, where they change them.
    """

    original: Any
    captured: Any
    kind: str
    api: str
    example: Any
    spool_path: str
    content: Optional[str]
    originals: dict[int, Any]
    process: int
    drawn_before: Optional[bytes]
    drawn_after: Optional[bytes]
    anew: Optional[Callable[[], tuple[Any, Any]]] = None
    functions: dict[int, tuple[Any, Any, str]] = field(default_factory=dict)


@dataclass
class Doings:
    """What the program did with the value.

    Attributes:
        events: messages of kind `call`, `did` and `saved`, in order.
        missed: calls that are not replayed, by reason, without those that are like enough others.
        accelerator: kind of device that calls used.
        contents: hashes of the archives that it was written to.
        cut: the program was killed before it could say that it ends.
    """

    events: list[tuple[Any, ...]] = field(default_factory=list)
    missed: dict[str, int] = field(default_factory=dict)
    accelerator: Optional[str] = None
    contents: list[str] = field(default_factory=list)
    cut: bool = False


def keep(capture: Subject, channel: socket.socket, limits: Limits) -> None:
    """Listens until the end, then proves; the file holds the best that is known at any time."""
    path = capture.spool_path
    write_proof(path, {"unproved": "killed: the prover did not come to an end", "pending": os.getpid()})
    signal.signal(signal.SIGTERM, _stopped)
    course = _listen(capture.process, channel, path)
    with contextlib.suppress(OSError):
        os.nice(limits.nice)
    if capture.content is not None and capture.original is None:
        _wait_while_pending(pending_mark(path, capture.content), limits.wait)
    with _turn(os.path.join(os.path.dirname(path), "prover.lock"), limits.wait) as mine:
        if mine:
            proof = proved(capture, course, limits)
        else:
            proof = {"unproved": f"timeout: others were being proved for {limits.wait:.0f} seconds"}
    end_descendants()
    for content in course.contents:
        with contextlib.suppress(OSError):
            os.remove(pending_mark(path, content))
    write_proof(path, proof)


def proved(capture: Subject, course: Doings, limits: Limits) -> dict[str, Any]:
    """The proof; whatever goes wrong is said in it."""
    try:
        if course.accelerator is not None and capture.anew is None:
            from .on_accelerator import prove_there as prove
        else:
            from .proof import prove
        proof = prove(capture, course, limits)
    except BaseException as error:
        proof = {"unproved": f"prover: {type(error).__name__}: {error}"}
    if course.cut:
        proof["cut"] = True
    return proof


def _stopped(number: int, frame: object) -> None:
    end_descendants()
    os._exit(0)


def write_proof(path: str, proof: dict[str, Any]) -> None:
    """Writes the file, all or nothing; a folder that is gone is the end of it."""
    name = f"{path}.{os.getpid()}.part"
    with contextlib.suppress(OSError):
        with open(name, "w", encoding="utf-8") as file:
            json.dump(proof, file, sort_keys=True)
        os.replace(name, path)


def pending_mark(spool_path: str, content: str) -> str:
    """The file that exists while the program for an archive may still be proved."""
    return os.path.join(os.path.dirname(spool_path), f"{content}.pending")


def program_path(spool_path: str, content: str) -> str:
    """The proved program for an archive."""
    return os.path.join(os.path.dirname(spool_path), f"{content}.pt2")


def _listen(program: int, channel: socket.socket, path: str) -> Doings:
    course = Doings()
    started = start_of(program)
    waiting = b""
    while True:
        ready, _, _ = select.select([channel], [], [], _LOOK_AFTER_SECONDS)
        if not ready:
            if started is None or start_of(program) != started:
                course.cut = True
                return course
            continue
        data = channel.recv(1 << 20)
        if not data:
            course.cut = True
            return course
        waiting += data
        while len(waiting) >= HEADER.size:
            (size,) = HEADER.unpack_from(waiting)
            if len(waiting) < HEADER.size + size:
                waiting = _rest_of(channel, waiting, HEADER.size + size)
                if len(waiting) < HEADER.size + size:
                    course.cut = True
                    return course
            message = marshal.loads(waiting[HEADER.size : HEADER.size + size])
            waiting = waiting[HEADER.size + size :]
            if message[0] == "end":
                return course
            note(course, message)
            if message[0] == "saved":
                with contextlib.suppress(OSError), open(pending_mark(path, message[1]), "w") as mark:
                    mark.write(str(os.getpid()))


def _rest_of(channel: socket.socket, begun: bytes, size: int) -> bytes:
    """A message that has begun, whole; or shorter, if the program went away in the middle of it."""
    parts, length = [begun], len(begun)
    channel.settimeout(_LOOK_AFTER_SECONDS * 5)
    with contextlib.suppress(OSError):
        while length < size:
            data = channel.recv(min(1 << 20, size - length))
            if not data:
                break
            parts.append(data)
            length += len(data)
    channel.settimeout(None)
    return b"".join(parts)


def note(course: Doings, message: tuple[Any, ...]) -> None:
    """Add a message of the program, other than `end`."""
    kind = message[0]
    if kind == "missed":
        course.missed[message[1]] = course.missed.get(message[1], 0) + 1
    elif kind == "accelerator":
        course.accelerator = message[1]
    else:
        course.events.append(message)
    if kind == "saved":
        course.contents.append(message[1])


def _wait_while_pending(mark: str, seconds: float) -> None:
    """Until the writer of an archive has been proved; a writer that is gone proves nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(mark) as file:
                prover = int(file.read() or 0)
        except (OSError, ValueError):
            return
        if prover and start_of(prover) is None:
            return
        time.sleep(0.2)


@contextlib.contextmanager
def _turn(path: str, wait: float) -> Any:
    """Holds the lock that one prover at a time has; gives False if it could not be had in time."""
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        yield _locked(file, time.monotonic() + wait)
    finally:
        os.close(file)


def _locked(file: int, end: float) -> bool:
    import fcntl

    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
        time.sleep(0.1)
