"""NVML held open while smokes run: the driver keeps its GPUs awake, and rates are read beside the clocks of their time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from torchlift.doctor.facts import Gpu
from torchlift.lazy_dataclass import dataclass

_KEPT = 20_000
"""Samples: ten a second of sixteen GPUs for two minutes."""

_NEWEST = 64
_GRACE = 2.0


@dataclass(frozen=True)
class Sample:
    """A GPU at one moment; what NVML does not tell is None. `time` as `time.monotonic()` has it, `power` in watts."""

    time: float
    index: int
    reasons: Sequence[str] = ()
    sm_clock: int | None = None
    memory_clock: int | None = None
    memory_clock_max: int | None = None
    power: float | None = None
    temperature: int | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None


class NvmlWatch:
    """A process that opens NVML and keeps it open, and samples all GPUs while somebody loads one.

    Where NVML cannot be opened, or shall not be, it has no samples: nothing depends on it.

    Args:
        open: whether there are GPUs to watch.
        every: seconds between two samples.
        environment: the whole environment of the process; None inherits.
    """

    def __init__(self, *, open: bool, every: float = 0.1, environment: dict[str, str] | None = None) -> None:
        self._open = open
        self._every = every
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._samples: deque[Sample] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()
        self._loads = 0

    def start(self) -> NvmlWatch:
        """Start the process; never raises."""
        script = Path(__file__).with_name("nvml_watch_child.py")
        with contextlib.suppress(OSError):
            self._process = process = subprocess.Popen(
                [sys.executable or "python", "-I", str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=os.name == "posix",
            )
            self._say(json.dumps({"path": [str(folder) for folder in sys.path], "every": self._every}))
            assert process.stdout is not None
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()
        return self

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Sample meanwhile. Several may watch at once."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def samples(self, gpu: Gpu, begin: float, end: float) -> list[Sample]:
        """What was seen of this GPU from `begin` to `end`, as `time.monotonic()` has them."""
        return [sample for sample in tuple(self._samples) if sample.index == gpu.index and begin <= sample.time <= end]

    def newest(self) -> dict[int, Sample]:
        """The last sample of each GPU, by its index."""
        return {sample.index: sample for sample in tuple(self._samples)[-_NEWEST:]}

    def close(self) -> None:
        """End the process; one that is stuck in the driver is not waited for."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()

    def __enter__(self) -> NvmlWatch:
        return self.start() if self._open else self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count(self, change: int) -> None:
        with self._lock:
            before, self._loads = self._loads, self._loads + change
            if not (before and self._loads):
                self._say("watch" if self._loads else "rest")

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in stream:
                with contextlib.suppress(ValueError, TypeError):
                    self._samples.append(Sample(**json.loads(line)))
        with contextlib.suppress(OSError):
            stream.close()
