"""A line on the terminal that says how far a long run is."""

from __future__ import annotations

from time import monotonic

import click


class Progress:
    """Shown on standard error after a second, and renewed ten times a second at most.

    Attributes:
        stage: which of several runs it is about, in words.
    """

    stage = ""

    def __init__(self) -> None:
        self._next = monotonic() + 1
        self._shown = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` files are through a stage."""
        now = monotonic()
        if now >= self._next:
            self._next = now + 0.1
            self._shown = True
            about = f" ({self.stage})" if self.stage else ""
            verb = "Reading" if stage == "select" else "Checking"
            click.echo(f"\r\033[K{verb} {done} of {total} files{about}", nl=False, err=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            click.echo("\r\033[K", nl=False, err=True)
