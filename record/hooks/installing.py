"""Places all hooks, and tells what is left when the process ends."""

from __future__ import annotations

import atexit
import os
import platform
import sys
from typing import Any

from . import archives, calls, captures, process_groups, touches
from .guard import STATE
from .spool import SPOOL
from .values import all_live, begin_again, finish


def install(torch: Any) -> None:
    """Watch torch, which was just imported."""
    version = str(torch.__version__)
    SPOOL.write({"e": "torch", "torch": version, "python": platform.python_version(), "command": sys.argv[:1]})
    rooms = [archives, process_groups, captures, touches, calls]
    if not torch.jit._state._enabled.enabled:
        SPOOL.problem("PYTORCH_JIT=0 switches TorchScript off: there is nothing to capture")
        rooms = [archives, process_groups]
    for room in rooms:
        try:
            for sentence in room.watch():
                SPOOL.problem(sentence)
        except Exception as error:  # names that this torch does not have
            SPOOL.problem(f"the hooks of {room.__name__.rpartition('.')[2]} could not be placed", error)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin_again)
    atexit.register(_ending)


def _ending() -> None:
    STATE.busy = True  # whatever others do at their end is not watched
    for value in all_live():
        try:
            finish(value)
        except Exception as error:
            SPOOL.problem("a value at the end of the process", error)
    try:
        process_groups.tell_cut()
        SPOOL.write({"e": "end"})
    except Exception as error:
        SPOOL.problem("the end of the process", error)
