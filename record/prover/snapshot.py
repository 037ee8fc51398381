"""The program's side: makes the sleeping copy, and sends it what happens to the captured value."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import marshal
import os
import socket
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, Literal, Optional, TypeVar, Union

from .channel import CourseFile, Pipe
from .detached import fork_detached
from .keeper import Subject, keep, write_proof
from .limits import Limits
from .modes import Tracked, generator_state, modes_now, unobservable
from .wire import Encoder, Unsent

Function = TypeVar("Function", bound=Callable[..., Any])

_MODES = ("train", "eval", "requires_grad_")
_originals: dict[int, Any] = {}
_functions: dict[int, tuple[Any, Any, str]] = {}
_awake: weakref.WeakSet[Snapshot] = weakref.WeakSet()


def silent(function: Function) -> Function:
    """Whatever goes wrong is not the program's business: the function then returns None."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            return None

    return guarded  # type: ignore[return-value]


@silent
def random_state() -> Optional[bytes]:
    """The state of torch's random generators, to be given to `snapshot`; None where it cannot be read."""
    import torch

    return hashlib.sha256(generator_state(torch)).digest()


@silent
def snapshot(
    original: Any,
    captured: Any,
    *,
    kind: Literal["module", "function", "method"],
    api: str,
    example: Optional[tuple[tuple[Any, ...], dict[str, Any]]] = None,
    spool_path: str,
    limits: Limits = Limits(),  # noqa: B008 (a constant)
    quiet: Optional[Callable[[], None]] = None,
    drawn: Optional[bytes] = None,
    content: Optional[str] = None,
    derived: bool = False,
) -> Optional[Snapshot]:
    """A sleeping copy of the process at this line, which will prove that `original` can take the place of `captured`.

    Args:
        original, captured: what was captured, and what came out; the first is None for a value that was loaded.
        kind: what the original is; `method` for a bound one.
        api: qualified name of the function that captured it.
        example: arguments of a trace.
        spool_path: file for the proof; its folder holds the lock and the programs.
        limits: what it may cost.
        quiet: called in the copy, to switch the recorder off.
        drawn, content: `random_state()` from before the capture; hash of the archive that the value was loaded from.
        derived: whether the value was made from another captured one: frozen, optimised.

    Returns:
        None if it cannot be proved; the file then says why.
    """
    import torch

    reason = _why_not(limits)
    if reason is None and (isinstance(original, type) or (original is None and content is None)):
        reason = "ScriptModule: there is no Python object that TorchScript was made from"
    if reason is not None:
        write_proof(spool_path, {"unproved": reason})
        return None
    if original is not None and not derived and kind == "module":
        _remember(captured, original)
    apart = _why_no_copy(torch)
    encoder = Encoder(limits.recorded)
    try:
        given = None if example is None else encoder.encode((tuple(example[0]), dict(example[1])))
    except Unsent as problem:
        write_proof(spool_path, {"unproved": _unsent("the example", problem)})
        return None
    around = (drawn, random_state())
    subject = Subject(original, captured, kind, api, given, spool_path, content, dict(_originals), os.getpid(), *around)
    subject.functions = {
        key: (alive, *rest) for key, (made, *rest) in _functions.items() if (alive := made()) is not None
    }
    if kind == "function" and original is not None:
        weakref.finalize(captured, _functions.pop, id(captured), None).atexit = False
        _functions[id(captured)] = (weakref.ref(captured), original, spool_path)
    return _forked(subject, limits, quiet) if apart is None else _spooled(subject, limits, apart)


class Snapshot:
    """A captured value on its way; its methods never raise and do nothing in forks of the process that made it."""

    def __init__(self, channel: Union[Pipe, CourseFile], module: Any, limits: Limits) -> None:
        self._channel: Optional[Union[Pipe, CourseFile]] = channel
        self._accelerator: Optional[str] = None
        self._process = os.getpid()
        self._limits = limits
        self._lock = threading.RLock()
        self._alike: dict[Any, int] = {}
        self._kept = 0
        self._size = 0
        self._state = {0: Tracked(module)}

    def begin(
        self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], copy: Optional[int] = 0, module: Any = None
    ) -> Any:
        """Before a call: a token for `end`, or None if nothing has to be noted.

        Args:
            method: its name; `forward` or `__call__` for a call of the value itself.
            args, kwargs: its arguments.
            copy: 0 for the captured value, else the number of a value that was loaded.
            module: the value that is called; needed for loaded ones.
        """
        try:
            return self._begun(method, args, kwargs, copy or 0, module) if self._mine() else None
        except Exception as problem:
            silent(self._missed)(f"{type(problem).__name__}: {problem}"[:200])
            return None

    def _begun(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], copy: int, module: Any) -> Any:
        import torch

        if unobservable(torch):
            self._missed("made while another tool observed it")
            return None
        method = "forward" if method == "__call__" else method
        tracked = self._state.setdefault(copy, Tracked(module))
        modes = modes_now(torch, module if module is not None else tracked.module())
        moved = tracked.moved()
        if tracked.trained():
            modes["trained"] = True
        with torch._C.DisableTorchFunction():
            return self._noted(torch, method, args, kwargs, copy, modes, moved, tracked)

    def _noted(
        self,
        torch: Any,
        method: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        copy: int,
        modes: dict[str, Any],
        moved: Optional[str],
        tracked: Tracked,
    ) -> Any:
        key = (method, copy, _shape((tuple(args), kwargs)), repr(modes))
        seen = self._alike.get(key, 0)
        if seen >= self._limits.alike or (seen and self._kept >= self._limits.few):
            return ("skipped", tracked)
        if self._kept >= self._limits.calls:
            self._missed(f"after {self._limits.calls} others")
            return ("skipped", tracked)
        encoder = Encoder(self._limits.recorded - self._size)
        try:
            state = None
            if moved is not None:
                state = (moved, _state(tracked.module(), Encoder(self._limits.state)))
            inputs = encoder.encode((tuple(args), dict(kwargs)))
        except Unsent as problem:
            if not seen:
                self._missed(_unsent("an argument", problem))
            return ("skipped", tracked)
        if encoder.accelerator not in (None, self._accelerator):
            self._accelerator = encoder.accelerator
            self._send(("accelerator", encoder.accelerator))
        self._alike[key] = seen + 1
        self._kept += 1
        self._size += encoder.size
        random = generator_state(torch)
        return ("call", tracked, method, copy, modes, inputs, random, state, (args, kwargs))

    @silent
    def end(self, token: Any, result: Any = None, error: Optional[BaseException] = None) -> None:
        """After the call that `begin` gave the token for."""
        if token is None or not self._mine():
            return
        tracked = token[1]
        if token[0] == "skipped":
            tracked.skipped()
            return
        import torch

        _, _, method, copy, modes, inputs, random, state, given = token
        with torch._C.DisableTorchFunction():
            encoder = Encoder(self._limits.recorded - self._size)
            outcome: Any
            if error is not None:
                kind = type(error)
                outcome = ("raised", f"{kind.__module__}.{kind.__qualname__}", str(error)[:500])
            else:
                try:
                    outcome = ("returned", encoder.encode(result), encoder.encode((tuple(given[0]), dict(given[1]))))
                except Unsent as problem:
                    outcome = ("unsent", _unsent("a result", problem))
            self._size += encoder.size
            after = generator_state(torch)
        tracked.called()
        drawn = hashlib.sha256(after).digest()
        self._send(("call", method, copy, modes, inputs, random, state, outcome, drawn))

    @silent
    def did(
        self, method: str, args: tuple[Any, ...] = (), kwargs: Optional[dict[str, Any]] = None, copy: Optional[int] = 0
    ) -> None:
        """After a method of the module that is not a call: `eval`, `to`, `load_state_dict`."""
        if not self._mine():
            return
        try:
            given = Encoder(self._limits.state).encode((tuple(args), dict(kwargs or {})))
        except Unsent as problem:
            given = _unsent("an argument", problem)
        self._send(("did", method, copy or 0, given))
        tracked = self._state.get(copy or 0)
        if tracked is not None and method not in _MODES:
            tracked.refresh()

    @silent
    def saved(self, content: str) -> None:
        """After the value was written to an archive with this hash."""
        if self._mine():
            self._send(("saved", content))

    @silent
    def ended(self) -> None:
        """The value is gone, or the process is about to end: the proof starts."""
        if not self._mine():
            return
        self._send(("end",))
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
        self._state.clear()

    def _mine(self) -> bool:
        """Whether the channel is open, and this the process that opened it."""
        return self._channel is not None and os.getpid() == self._process and self._channel.is_open()

    def _missed(self, why: str) -> None:
        if self._mine():
            self._send(("missed", why))

    def _send(self, message: tuple[Any, ...]) -> None:
        data = marshal.dumps(message)
        with self._lock:
            if self._channel is not None and not self._channel.send(data):
                self._channel.close()
                self._channel = None


def _forked(subject: Subject, limits: Limits, quiet: Optional[Callable[[], None]]) -> Optional[Snapshot]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def close() -> None:
        if quiet is not None:
            quiet()
        ours.close()

    if not fork_detached(lambda: keep(subject, theirs, limits), (theirs.fileno(),), close):
        ours.close()
        theirs.close()
        write_proof(subject.spool_path, {"unproved": "the process could not be forked"})
        return None
    theirs.close()
    return _awaken(Pipe(ours), subject, limits)


def _spooled(subject: Subject, limits: Limits, apart: str) -> Optional[Snapshot]:
    """The value as files; what cannot be written there is not proved."""
    from .spooled import CannotSpool, course_path, write_subject

    try:
        write_subject(subject, limits)
    except CannotSpool as problem:
        write_proof(subject.spool_path, {"unproved": f"{apart}, and it {problem}"})
        return None
    return _awaken(CourseFile(course_path(subject.spool_path)), subject, limits)


def _awaken(channel: Union[Pipe, CourseFile], subject: Subject, limits: Limits) -> Snapshot:
    made = Snapshot(channel, subject.captured if subject.kind == "module" else None, limits)
    _awake.add(made)
    return made


def _why_no_copy(torch: Any) -> Optional[str]:
    if not hasattr(os, "fork") or not sys.platform.startswith("linux"):
        return "fork: this system does not copy processes"
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_initialized():
            return f"{kind}: a process that uses a GPU cannot be copied"
    # No question to torch here: `torch.cuda.is_available` starts the driver, and the program could not be copied any more.
    if _driver_was_started():
        return "cuda: a process that asked for its GPUs cannot be copied"
    return None


def _driver_was_started() -> bool:
    """Whether the CUDA driver was started here (cuInit), which opens its device; NVML, which does not, opens another."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/self/fd/{name}") in ("/dev/nvidia-uvm", "/dev/dxg"):
                    return True
    return False


def _why_not(limits: Limits) -> Optional[str]:
    if sum(1 for one in _awake if one._mine()) >= limits.sleeping:
        return f"limit: {limits.sleeping} captured values were alive at once"
    return None


def _unsent(what: str, problem: Unsent) -> str:
    return f"{what} is or holds {problem}, which cannot be replayed"


def _remember(captured: Any, original: Any) -> None:
    """Modules that contain a captured one are exported with its original in its place."""
    key = id(captured)
    weakref.finalize(captured, _originals.pop, key, None).atexit = False
    _originals[key] = original


def _state(module: Any, encoder: Encoder) -> Any:
    """The encoded state dict; None if it is too large or cannot be sent."""
    try:
        return encoder.encode(dict(module.state_dict()))
    except Unsent:
        return None


def _shape(value: Any) -> Any:
    """What makes two calls alike: everything but the values of tensors."""
    import torch

    if isinstance(value, torch.Tensor):
        return (str(value.dtype), tuple(value.shape), value.requires_grad, value.is_leaf and value.grad is not None)
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, tuple(_shape(item) for item in value))
    if isinstance(value, dict):
        return ("dict", tuple((repr(key), _shape(item)) for key, item in value.items()))
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__
