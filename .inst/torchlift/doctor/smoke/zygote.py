"""A process of the examined interpreter that imports torch once and runs smokes on request.

Where the system can fork, it never touches a device itself: every request is answered by a fork, in a session of its
own, that is killed when its time is over. Elsewhere (`fork` false) it does the work itself and whoever started it kills
it and starts another.

It reads one JSON request a line, see `trial.perform`, with "timeout" in seconds beside it, and answers with one JSON
line. A fork's answer has the outcomes "timeout", "crash" and "stuck" too, with "signal", "exit", "output" and "wall",
the seconds from request to answer.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

from .trial import perform

TAIL = 4000
"""So many bytes of what a smoke printed are kept."""

GRACE = 2.0
"""Seconds that a killed process has to be gone; after that it is stuck in the driver."""

_LONGEST_NAP = 0.02
_TIME_TO_SAY = 0.05


def serve(fork: bool) -> None:
    """Import torch, say so, and answer requests until there are no more."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    started = time.monotonic()
    # Without it torch.cuda.is_available() would call cuInit, and CUDA does not survive a fork.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    try:
        import torch
    except BaseException as error:
        traceback.print_exc()
        _say(channel, {"problem": f"{type(error).__name__}: {error}", "missing": _is_missing(error)})
        return
    seconds = time.monotonic() - started
    _say(channel, {"torch": str(torch.__version__), "python": sys.version.split()[0], "seconds": seconds})
    if fork:
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        begun = time.monotonic()
        answer = _forked(torch, request, channel) if fork else _here(torch, request)
        answer["wall"] = time.monotonic() - begun
        _say(channel, answer)
    channel.flush()
    # Not a normal exit: a child that is stuck must not be waited for, nor torch's threads.
    os._exit(0)


_running = 0


def _stop(number: int, frame: Any) -> None:
    if _running:
        with contextlib.suppress(OSError):
            os.killpg(_running, signal.SIGKILL)
    os._exit(0)


def _forked(torch: Any, request: dict[str, Any], channel: Any) -> dict[str, Any]:
    global _running  # noqa: PLW0603  (the signal handler must know it)
    # Files, not pipes: whoever waits for the end of a pipe waits for a stuck child.
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            _child(torch, request, channel, answer, output)
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        _running = child
        status, late = _wait(child, float(request["timeout"]), os.getppid())
        _running = 0
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)  # what it started and left behind
        said = _tail(output)
        if status is None:
            return {"outcome": "stuck", "output": said}
        if late:
            return {"outcome": "timeout", "output": said}
        code = _exit_code(status)
        answer.seek(0)
        try:
            found: dict[str, Any] = json.loads(answer.read().decode())
        except ValueError:
            found = {"outcome": "crash", **_death(code)}
        found["output"] = said
        return found


def _child(torch: Any, request: dict[str, Any], channel: Any, answer: Any, output: Any) -> None:
    """What the fork does; never returns."""
    try:
        with contextlib.suppress(OSError):
            os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(channel.fileno())
        _redirect(output)
        faulthandler.enable(all_threads=False)
        faulthandler.register(signal.SIGUSR1, all_threads=False)
        found = perform(torch, request, forked=True)
        answer.write(_json(found).encode())
        answer.flush()
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(0)


def _wait(child: int, timeout: float, parent: int) -> tuple[int | None, bool]:
    """The child's wait status, None while it cannot be killed; and whether its time was over."""
    deadline = time.monotonic() + timeout
    status = _poll(child, deadline, parent)
    if status is not None:
        return status, False
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGUSR1)  # it prints where it is
    status = _poll(child, time.monotonic() + _TIME_TO_SAY, parent)
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)  # when it did not get as far as a session of its own
    if status is None:
        status = _poll(child, time.monotonic() + GRACE, parent)
    return status, True


def _poll(child: int, deadline: float, parent: int) -> int | None:
    nap = 0.0005
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if os.getppid() != parent:  # nobody is left to read the answer
            _stop(0, None)
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(nap, left))
        nap = min(nap * 2, _LONGEST_NAP)


def _here(torch: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Answer in this process; what is printed goes to a file meanwhile."""
    kept = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile() as output:
        _redirect(output, keep_input=True)
        try:
            found = perform(torch, request, forked=False)
        except BaseException as error:
            found = {"outcome": "fail", "raised": True, "reason": f"{type(error).__name__}: {error}"}
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in zip((1, 2), kept):
                os.dup2(copy, number)
                os.close(copy)
        found["output"] = _tail(output)
    return json.loads(_json(found))  # type: ignore[no-any-return]


def _redirect(output: Any, *, keep_input: bool = False) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    if not keep_input:  # requests for later must not be eaten
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)


def _death(code: int) -> dict[str, Any]:
    if code >= 0:
        return {"exit": code, "reason": f"it ended with exit status {code} and without a result"}
    name = signal_name(-code)
    return {"signal": name, "reason": f"killed by {name}"}


def signal_name(number: int) -> str:
    """ "SIGSEGV" for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _exit_code(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def last_lines(data: bytes) -> str:
    """What fits into `TAIL` bytes. In half of a line nobody would recognise the path of a user that has to be redacted."""
    if len(data) > TAIL:
        _, _, data = data[-TAIL:].partition(b"\n")
    return data.decode(errors="replace")


def _tail(stream: Any) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - TAIL - 1))
    return last_lines(stream.read(TAIL + 1))


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, default=str)


def _is_missing(error: BaseException) -> bool:
    return isinstance(error, ModuleNotFoundError) and error.name == "torch"


def _say(channel: Any, answer: dict[str, Any]) -> None:
    channel.write(_json(answer) + "\n")
    channel.flush()
