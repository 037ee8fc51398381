"""A line on standard error that says how far long work is, how fast it goes, and how long the rest will take."""

from __future__ import annotations

from time import monotonic

import click


class ProgressLine:
    """Shown after a second, and renewed ten times a second at most."""

    def __init__(self) -> None:
        self._next = monotonic() + 1
        self._shown = False
        self._work = ("", "")
        self._begun = (0.0, 0)

    def show(self, doing: str, done: int, total: int, units: str) -> None:
        """`done` of `total` are through.

        Args:
            doing: what is done with them; rates are those of the same work.
            done, total: numbers.
            units: what they are.
        """
        now = monotonic()
        if (doing, units) != self._work:
            self._work, self._begun = (doing, units), (now, done)
        if now < self._next:
            return
        self._next = now + 0.1
        self._shown = True
        begun, before = self._begun
        click.echo(
            f"\r\033[K{doing}{done} of {total} {units}{_pace(done - before, now - begun, total - done)}",
            nl=False,
            err=True,
        )

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            click.echo("\r\033[K", nl=False, err=True)


def _pace(done: int, seconds: float, left: int) -> str:
    """Rate and remaining time, as soon as there is something to tell them by."""
    if done <= 0 or seconds < 1:
        return ""
    rate, wait = done / seconds, left * seconds / done
    speed = f"{rate:.0f} a second" if rate >= 2 else f"{rate * 60:.0f} a minute"
    return f", {speed}, {wait:.0f} s left" if wait < 100 else f", {speed}, {wait / 60:.0f} min left"
