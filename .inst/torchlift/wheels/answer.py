"""What the resolver answers."""

from __future__ import annotations

from typing import Literal

from torchlift.lazy_dataclass import dataclass

AnswerKind = Literal["wheel", "upgrade-driver", "split", "none", "unknown"]
"""A wheel for everything visible; no wheel until the driver is newer; no single wheel for all GPUs (see `parts`); no
wheel at all; not decidable with what is known (`reasons` says what is missing)."""


@dataclass(frozen=True)
class Choice:
    """One wheel and how to install it."""

    torch: str
    """A release line such as "2.15", or what was asked for, such as "2.14.1"."""
    build: str
    """"cu132", "cpu", "rocm7.2", "xpu"."""
    index: str | None
    """The index to name, None when the default index has this wheel."""
    pip: str
    """The whole command line."""
    uv: str
    reasons: tuple[str, ...] = ()
    """Why this one: sentences without a final full stop."""
    warnings: tuple[str, ...] = ()
    """What still limits it, such as a driver below the one paired with the toolkit."""
    sources: tuple[str, ...] = ()
    version: str = ""
    """The newest release that it stands for, "2.14.1"; "" where that is not known."""
    ways: tuple[tuple[str, str], ...] = ()
    """Commands for other ways to install: ("uv-project", "uv add torch")."""
    measured: bool = True
    """False when the wheel's architectures are from a secondary source."""


@dataclass(frozen=True)
class Answer:
    """The verdict on a request."""

    kind: AnswerKind
    summary: str
    """One sentence without a final full stop."""
    choice: Choice | None = None
    """What to install now."""
    alternatives: tuple[Choice, ...] = ()
    """Also possible, best first: an older release, another index."""
    upgrade_driver: str | None = None
    """The lowest driver with which the best release would run ("580.65.06"), when that is newer than what there is."""
    then: Choice | None = None
    """What to install after that driver upgrade."""
    parts: tuple[tuple[tuple[str, ...], Choice], ...] = ()
    """For `split`: names of GPUs and the wheel for them."""
    reasons: tuple[str, ...] = ()
    data_note: str | None = None
    """Set when torch, driver or architecture is newer than the tables."""
