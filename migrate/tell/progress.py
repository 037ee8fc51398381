"""How far a long run is, on the terminal."""

from __future__ import annotations

from torchlift.terminal.progress import ProgressLine


class Progress:
    """Takes what a run says about the files that are through.

    Attributes:
        stage: which of several runs it is about, in words.
    """

    stage = ""

    def __init__(self) -> None:
        self._line = ProgressLine()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` files are through a stage."""
        about = f" ({self.stage})" if self.stage else ""
        self._line.show("Reading " if stage == "select" else "Checking ", done, total, f"files{about}")

    def clear(self) -> None:
        """Remove the line."""
        self._line.clear()
