"""One piece of work in a fresh process: which function, on what, and where its records go."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchlift.lazy_dataclass import dataclass

Emit = Callable[[Any], None]


@dataclass(frozen=True)
class Job:
    """What a fresh process does.

    Attributes:
        target: `module:function`; the function is called as `function(task, emit)`.
        task: plain data for it.
        answer: file that gets one pickle per record; what was written before a crash can still be read.
        output: file that gets what is printed.
        folder: working directory.
        path: `sys.path` of the asking process.
        environment: environment variables of the asking process.
    """

    target: str
    task: Any
    answer: str
    output: str
    folder: str
    path: tuple[str, ...]
    environment: dict[str, str]


@dataclass(frozen=True)
class Done:
    """Last record of a job that came to its end."""


@dataclass(frozen=True)
class Defect:
    """Last record of a job that failed in a way its function did not foresee."""

    trace: str


def perform(job: Job) -> None:
    """Does the job in this process, which must be used for nothing else afterwards."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    sink = os.open(os.devnull, os.O_RDONLY)
    output = os.open(job.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(sink, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    with Path(job.answer).open("ab") as stream:

        def emit(record: Any) -> None:
            pickle.dump(record, stream)
            stream.flush()

        try:
            faulthandler.enable()
            os.environ.clear()
            os.environ.update(job.environment)
            os.chdir(job.folder)
            sys.path[:] = job.path
            warnings.simplefilter("ignore")
            module, _, name = job.target.partition(":")
            getattr(importlib.import_module(module), name)(job.task, emit)
            emit(Done())
        except BaseException:
            with contextlib.suppress(BaseException):
                emit(Defect(traceback.format_exc()))
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
