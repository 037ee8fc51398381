"""A process that imports torch once and then only forks: every job starts from the same fresh state, in milliseconds.

It reads one JSON request a line, `{"jobs": paths of pickled Jobs, "timeout": seconds, "grace": seconds}`, and answers with
one JSON line, `{"statuses": [...]}`, once all jobs have ended; see `wait_for_all`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
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
from torchlift.testing.waiting import wait_for_all

_TIME_TO_SAY = 0.05
_COMMAND = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import torchlift.testing.zygote as z; z.{}()"


def command(function: str, path: list[str], *arguments: str) -> list[str]:
    """Command line of a new Python that runs a function of this file."""
    return [sys.executable, "-c", _COMMAND.format(function), json.dumps(path), *arguments]


def serve() -> None:
    """Imports torch, says so, and forks a process for each request until there are no more."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _say(channel, _prepare())
    _settle()
    children: list[_Child] = []

    def stop(number: int, frame: Any) -> None:
        for child in children:
            child.kill()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        for job in request["jobs"]:
            identifier = os.fork()
            if identifier == 0:
                children.clear()
                with contextlib.suppress(BaseException):
                    os.setpgid(0, 0)
                    channel.close()
                    perform(pickle.loads(Path(job).read_bytes()))
                os._exit(0)
            children.append(_Child(identifier))
        statuses = wait_for_all(children, request["timeout"], request["grace"])
        children.clear()
        _say(channel, {"statuses": statuses})
    os._exit(0)


class _Child:
    """A forked process and the processes it starts: a process group of its own."""

    def __init__(self, identifier: int) -> None:
        self._identifier = identifier
        self._status: int | None = None
        with contextlib.suppress(OSError):
            os.setpgid(identifier, identifier)

    def poll(self) -> int | None:
        if self._status is None:
            done, status = os.waitpid(self._identifier, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if done else None
        return self._status

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._identifier, signal.SIGKILL)

    def end(self, *, running: bool) -> None:
        """Kills the process and whatever it started and left behind; a rank is first asked to print where it is."""
        if running and self.poll() is None:
            with contextlib.suppress(OSError):
                os.kill(self._identifier, signal.SIGUSR1)
            time.sleep(_TIME_TO_SAY)
        self.kill()
        if self._status is None:
            os.waitpid(self._identifier, 0)


def once() -> None:
    """Does one job in this process: for systems on which a process that imported torch must not fork."""
    prepared = _prepare(warm=False)
    print(json.dumps(prepared), flush=True)
    if "error" in prepared:
        return
    perform(pickle.loads(Path(sys.argv[2]).read_bytes()))
    os._exit(0)


def _prepare(*, warm: bool = True) -> dict[str, Any]:
    """Imports torch and makes it ready to be forked: one thread, no CUDA, one capture of each kind done."""
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
            _capture_once()
    return {"torch": torch.__version__}


def _capture_once() -> None:
    """Captures a layer in every way, so that what torch imports and sets up for it is there in every fork.

    The layer has a class of its own: TorchScript gives another name to the second class of a name.
    """
    import torch

    class CapturedOnce(torch.nn.Linear):
        pass

    layer, example = CapturedOnce(2, 2), (torch.ones(2, 2),)
    torch.jit.script(layer)(*example)
    traced = torch.jit.trace(layer, example)  # type: ignore[no-untyped-call]
    exported = torch.export.export(layer, example, dynamic_shapes=({0: torch.export.Dim.AUTO},))
    exported.module()(*example)
    for save, load, captured in (
        (torch.jit.save, torch.jit.load, traced),
        (torch.export.save, torch.export.load, exported),
    ):
        stream = io.BytesIO()
        save(captured, stream)
        stream.seek(0)
        load(stream)


def _settle() -> None:
    """Imports what every job imports, and takes what is there out of the garbage collector's hands.

    A collection in a fork would write to every page on which an object lies, and so copy all of torch's.
    """
    for name in ("program_job", "rank_job", "variant_job"):
        importlib.import_module(f"torchlift.testing.{name}")
    gc.collect()
    gc.freeze()


def _say(channel: Any, answer: dict[str, Any]) -> None:
    channel.write(json.dumps(answer) + "\n")
    channel.flush()
