"""What a burn tells before it begins, and one line while it lasts; both on standard error."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from torchlift.doctor.facts import Gpu
from torchlift.doctor.smoke.parent.nvml_watch import Sample
from torchlift.doctor.smoke.smoke import Smoke

if TYPE_CHECKING:
    from torchlift.doctor.smoke.parent.runner import Run
    from torchlift.doctor.smoke.parent.targets import Target

_BESIDE, _QUICK = 3.0, 0.5
"""Seconds that a burn's smoke takes besides its load, and one of the quick tier: 0.4 to 2.6 and 0.4 to 2.7 on an H200 (2026-11-26)."""
_EVERY = 1.0
_TWO = 2


def estimate(smokes: Sequence[Smoke], devices: int, seconds: float) -> float:
    """About how many seconds a burn takes: what loads devices side by side once, what needs the machine alone in turn."""
    whole = 0.0
    for smoke in smokes:
        if smoke.once and devices < _TWO:
            continue
        times = devices if smoke.alone and not smoke.once else 1
        whole += times * (smoke.lasts * seconds + (_BESIDE if smoke.tier == "burn" else _QUICK))
    return whole


def announcement(smokes: Sequence[Smoke], names: Sequence[str], gpus: Sequence[Gpu], seconds: float) -> str:
    """What will happen, how long it takes, and how much power it may draw; one or two lines, each with its line feed."""
    about = estimate(smokes, len(names), seconds)
    devices = names[0] if len(names) == 1 else f"{len(names)} devices"
    text = f"Burn: {devices} under full load, about {_minutes(about)}."
    limits = [gpu.power_limit for gpu in gpus if gpu.power_limit]
    if limits:
        most = sum(limits)
        unknown = f" and {len(gpus) - len(limits)} GPUs of unknown power" if len(limits) < len(gpus) else ""
        text += f" Up to {most / 1000:.1f} kW{unknown}, {most * about / 3.6e6:.2g} kWh in all."
    busy = sum(gpu.processes or 0 for gpu in gpus)
    more = f"Programs that use the GPUs now ({busy}) will be slowed down.\n" if busy else ""
    return f"{text} Ctrl-C ends it.\n{more}"


class BurnLine:
    """Writes again and again what the GPUs do, over itself: for a terminal."""

    def __init__(
        self, write: Callable[[str], None], newest: Callable[[], dict[int, Sample]], about: float, width: int
    ) -> None:
        self._write = write
        self._newest = newest
        self._about = about
        self._width = width
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._begun = time.monotonic()

    def start(self) -> BurnLine:
        """Begin; the first line comes a second later."""
        self._thread.start()
        return self

    def end(self) -> None:
        """Wipe the line, for good."""
        self._done.set()
        self._thread.join(_EVERY)
        self._write("\r\x1b[2K")

    def _go(self) -> None:
        while not self._done.wait(_EVERY):
            text = progress(time.monotonic() - self._begun, self._about, list(self._newest().values()))
            self._write(f"\r\x1b[2K{text[: self._width - 1]}")


class BurnNotice:
    """Tells of a run's burn on standard error, if it is one: before it begins, and on a terminal while it lasts."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._line: BurnLine | None = None

    def announce(self, targets: Sequence[Target]) -> None:
        """Say how long it takes and what power it draws, and begin the line."""
        smokes, seconds = [each.smoke for each in self._run.chosen], self._run.plan.burn_seconds
        if not targets or not any(smoke.lasts for smoke in smokes):
            return
        names = [target.name for target in targets]
        used = {target.gpu.index: target.gpu for target in targets if target.gpu is not None}
        text = announcement(smokes, names, list(used.values()), seconds)
        if sys.stderr is None or not sys.stderr.isatty():
            _say(text)
            return
        # The smokes' own line about what runs now may stand there.
        _say(f"\r\x1b[2K{text}")
        width = shutil.get_terminal_size().columns
        line = BurnLine(_say, self._run.watch.newest, estimate(smokes, len(names), seconds), width)
        self._line = line.start()

    def end(self) -> None:
        """Wipe the line."""
        if self._line is not None:
            self._line.end()


def _say(text: str) -> None:
    click.echo(text, nl=False, err=True, color=True)


def progress(passed: float, about: float, samples: Sequence[Sample]) -> str:
    """ "burn 0:24 of about 2:10, 5540 W, up to 71 C, 1410 to 1755 MHz"."""
    parts = [f"burn {_clock(passed)} of about {_clock(max(about, passed))}"]
    powers = [sample.power for sample in samples if sample.power]
    temperatures = [sample.temperature for sample in samples if sample.temperature]
    clocks = [sample.sm_clock for sample in samples if sample.sm_clock]
    if powers:
        parts.append(f"{sum(powers):.0f} W")
    if temperatures:
        parts.append(f"up to {max(temperatures)} C")
    if clocks:
        low, high = min(clocks), max(clocks)
        parts.append(f"{low} MHz" if low == high else f"{low} to {high} MHz")
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
