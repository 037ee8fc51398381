"""Which colours a report has."""

from __future__ import annotations

from torchlift.finding import Severity
from torchlift.lazy_dataclass import dataclass

_OF_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of the text reports; without colour every method gives its text back.

    Attributes:
        on: whether there is colour.
    """

    on: bool

    def path(self, text: str) -> str:
        """Where a finding is."""
        return self._style(text, bold=True)

    def severity(self, text: str, severity: Severity) -> str:
        """A rule code or the carets below the code it means."""
        return self._style(text, _OF_SEVERITY[severity], bold=True)

    def gutter(self, text: str) -> str:
        """Line numbers and the frame around source lines."""
        return self._style(text, "blue", bold=True)

    def fixable(self, text: str) -> str:
        """The mark of a fix that can be applied."""
        return self._style(text, "cyan")

    def good(self, text: str) -> str:
        """A verdict with nothing left to do."""
        return self._style(text, "green", bold=True)

    def pending(self, text: str) -> str:
        """A verdict with something left to do."""
        return self._style(text, "yellow", bold=True)

    def bad(self, text: str) -> str:
        """A verdict of failure."""
        return self._style(text, "red", bold=True)

    def strong(self, text: str) -> str:
        """A heading."""
        return self._style(text, bold=True)

    def added(self, text: str) -> str:
        """An added line of a patch."""
        return self._style(text, "green")

    def removed(self, text: str) -> str:
        """A removed line of a patch."""
        return self._style(text, "red")

    def hunk(self, text: str) -> str:
        """The head of a hunk of a patch."""
        return self._style(text, "cyan")

    def _style(self, text: str, color: str | None = None, *, bold: bool | None = None) -> str:
        if not self.on or not text:
            return text
        import click

        return click.style(text, fg=color, bold=bold)
