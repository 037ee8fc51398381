"""A process that imports torch once and then only forks: every job starts from the same fresh state, in milliseconds.

It reads one JSON request a line, `{"job": path of a pickled Job, "timeout": seconds}`, and answers with one JSON line.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from torchlift.testing.job import perform

_LONGEST_PAUSE = 0.02
_COMMAND = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import torchlift.testing.zygote as z; z.{}()"


def command(function: str, path: list[str], *arguments: str) -> list[str]:
    """Command line of a new Python that runs a function of this file."""
    return [sys.executable, "-c", _COMMAND.format(function), json.dumps(path), *arguments]


def serve() -> None:
    """Imports torch, says so, and forks a process for each request until there are no more."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _say(channel, _prepare())
    child = 0

    def stop(number: int, frame: Any) -> None:
        if child:
            _kill(child)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os.setpgid(0, 0)
                channel.close()
                perform(pickle.loads(Path(request["job"]).read_bytes()))
            os._exit(0)
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        status = _wait(child, request["timeout"])
        _kill(child)  # whatever the job started and left behind
        child = 0
        _say(channel, {"status": None if status is None else os.waitstatus_to_exitcode(status)})
    os._exit(0)


def once() -> None:
    """Does one job in this process: for systems on which a process that imported torch must not fork."""
    prepared = _prepare(warm=False)
    print(json.dumps(prepared), flush=True)
    if "error" in prepared:
        return
    perform(pickle.loads(Path(sys.argv[2]).read_bytes()))
    os._exit(0)


def _prepare(*, warm: bool = True) -> dict[str, Any]:
    """Imports torch and makes it ready to be forked: one thread, no CUDA, the slow imports of torch.export done."""
    # Asking NVML instead of CUDA whether there is a GPU keeps CUDA usable in forked processes.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    os.environ.pop("PYTORCH_JIT", None)
    import logging

    try:
        import torch
    except ModuleNotFoundError as error:
        return {"error": "missing" if error.name == "torch" else "broken", "detail": str(error)}
    except Exception as error:
        return {"error": "broken", "detail": f"{type(error).__name__}: {error}"}
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    if warm:
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            torch.export.export(torch.nn.Linear(2, 2), (torch.ones(2, 2),))
    return {"torch": torch.__version__}


def _wait(child: int, timeout: float) -> int | None:
    """Status of the child; None if it had to be killed because the time was up."""
    end = time.monotonic() + timeout
    pause = 0.0005
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if time.monotonic() > end:
            _kill(child)
            os.waitpid(child, 0)
            return None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _kill(child: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)


def _say(channel: Any, answer: dict[str, Any]) -> None:
    channel.write(json.dumps(answer) + "\n")
    channel.flush()
