"""What the `.pth` file of `--install` runs: the hooks, in processes below a recorder that is still running.

Also run by Python 3.9 and without torchlift. `FACTS` is put there by the line of the `.pth` file: its path, the recorder's
process and lock, what runs at the start of a process, the variables that it and the hooks read.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without importing `typing`, in every process of a command
if TYPE_CHECKING:
    from typing import Any


def _arrive(facts: Any) -> None:
    if os.environ.get("TORCHLIFT_SPOOL"):
        return  # it came by way of `sitecustomize`
    if not _is_running(facts["owner"]):
        os.remove(facts["pth"])
        return
    if _is_below(facts["process"]):
        os.environ.update(facts["variables"])
        path = facts["startup"]
        with open(path, encoding="utf-8") as file:
            source = file.read().partition("\ntry:\n")[0]
        names: dict[str, Any] = {"__file__": path, "__name__": "_torchlift_startup"}
        exec(compile(source, path, "exec"), names)
        names["_arrive"]()


def _is_running(owner: Any) -> Any:
    import fcntl

    try:
        with open(owner, encoding="ascii") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _is_below(process: Any) -> Any:
    """Whether this process descends from another one; in doubt, as where an ancestor has ended, it does."""
    here = os.getpid()
    while here > 1:
        if here == process:
            return True
        try:
            with open(f"/proc/{here}/stat", encoding="ascii", errors="replace") as file:
                here = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return True
    return False


try:
    _arrive(FACTS)  # type: ignore[name-defined]  # noqa: F821
except Exception:  # noqa: S110, BLE001, RUF100  (the program comes first)
    pass
