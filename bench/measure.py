"""Run one command and measure the whole process tree it makes: CPU seconds, wall seconds, peak memory.

The command is started by this file in a small process of its own, `python -I -S measure.py`, because on Linux the peak
memory of a process counts what its parent held when it was started. What is left of that floor is about 10 MB.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """One run of a command.

    Attributes:
        cpu: user and system seconds of the process and of all processes it waited for.
        wall: seconds from start to end.
        peak_mb: largest resident memory of any one process of the tree, in MB (10^6 bytes).
        tree_mb: largest proportional memory (PSS) of the whole tree at one moment, in MB, when asked for; else None.
        code: exit code.
    """

    cpu: float
    wall: float
    peak_mb: float
    tree_mb: float | None
    code: int


def measure(
    command: Sequence[str],
    *,
    cwd: Path,
    stdout: Path | None = None,
    stderr: Path | None = None,
    environment: Mapping[str, str] | None = None,
    watch_tree: bool = False,
) -> Sample:
    """Run `command` in `cwd` and measure it; its output goes to the given files, or nowhere.

    Args:
        command: program and arguments.
        cwd: working directory.
        stdout: file for standard output.
        stderr: file for standard error.
        environment: variables to set on top of this process's own.
        watch_tree: look at the memory of the whole tree every 20 ms (Linux only). It costs time of its own, so such a
            run says nothing about speed.

    Raises:
        RuntimeError: the command cannot be started.
    """
    order = {
        "command": list(command),
        "cwd": str(cwd),
        "stdout": str(stdout or os.devnull),
        "stderr": str(stderr or os.devnull),
        "watch_tree": watch_tree,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} could not be measured: {done.stderr.strip()}")
    return Sample(**json.loads(done.stdout))


def _launch() -> None:
    order = json.load(sys.stdin)
    command: list[str] = order["command"]
    with open(order["stdout"], "wb") as out, open(order["stderr"], "wb") as err:  # noqa: PTH123 (pathlib costs memory)
        begin = time.perf_counter()
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                os.chdir(order["cwd"])
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.execvp(command[0], command)
            except OSError as error:
                os.write(2, f"{command[0]}: {error}".encode())
                os._exit(127)
        tree_mb = _watch(child) if order["watch_tree"] else None
        _, status, usage = os.wait4(child, 0)
        wall = time.perf_counter() - begin
    json.dump(
        {
            "cpu": usage.ru_utime + usage.ru_stime,
            "wall": wall,
            "peak_mb": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
            "tree_mb": tree_mb,
            "code": os.waitstatus_to_exitcode(status),
        },
        sys.stdout,
    )


def _watch(root: int) -> float | None:
    peak = None
    while os.waitid(os.P_PID, root, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        total = sum(_proportional_kb(process) for process in _tree(root))
        peak = max(peak or 0.0, total * 1024 / 1e6) if total else peak
        time.sleep(0.02)
    return peak


def _tree(root: int) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        # A process may end between being listed and being looked at.
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
                with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as listed:  # noqa: PTH123
                    waiting += map(int, listed.read().split())
    return found


def _proportional_kb(process: int) -> int:
    with (
        contextlib.suppress(OSError),
        open(f"/proc/{process}/smaps_rollup", encoding="ascii") as lines,  # noqa: PTH123
    ):
        for line in lines:
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


if __name__ == "__main__":
    _launch()
