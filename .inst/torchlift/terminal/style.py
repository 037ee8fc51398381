"""How a report is dressed: marks, colours, and how wide lines may be."""

from __future__ import annotations

from collections.abc import Mapping

from torchlift.lazy_dataclass import dataclass

_FANCY = {"ok": "✓", "note": "•", "warning": "!", "problem": "✗", "skipped": "-", "failed": "?"}
_PLAIN = {"ok": "ok", "note": "-", "warning": "!", "problem": "x", "skipped": "-", "failed": "?"}
_COLORS = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red", "skipped": None, "failed": "magenta"}


@dataclass(frozen=True)
class Style:
    """How to write for one reader.

    Attributes:
        color: whether there is colour.
        fancy: whether marks may be characters outside of ASCII.
        width: columns of a line of prose; commands and addresses are never broken.
    """

    color: bool = False
    fancy: bool = False
    width: int = 100

    @property
    def _marks(self) -> Mapping[str, str]:
        return _FANCY if self.fancy else _PLAIN

    def mark(self, status: str) -> str:
        """The mark of a status in brackets, such as `[x]`."""
        return self._style(f"[{self._marks[status]}]", _COLORS[status], bold=True)

    def mark_width(self, status: str) -> int:
        """Columns that the mark takes."""
        return len(self._marks[status]) + 2

    def verdict(self, text: str, status: str) -> str:
        """The first line."""
        return self._style(text, _COLORS[status], bold=True)

    def heading(self, text: str) -> str:
        """The head of a section."""
        return self._style(text, bold=True)

    def command(self, text: str) -> str:
        """Something to paste into a shell."""
        return self._style(text, "cyan")

    def faint(self, text: str) -> str:
        """What matters less."""
        return self._style(text, dim=True)

    def _style(self, text: str, color: str | None = None, *, bold: bool | None = None, dim: bool | None = None) -> str:
        if not self.color or not text:
            return text
        import click

        return click.style(text, fg=color, bold=bold, dim=dim)


def can_write_marks(encoding: str | None) -> bool:
    """Whether an encoding has the characters of the marks."""
    try:
        "".join(_FANCY.values()).encode(encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True
