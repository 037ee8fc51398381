"""What a check is and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from torchlift.doctor.facts import Facts

Status = Literal["ok", "note", "warning", "problem", "skipped", "failed"]
"""`problem` breaks something, `warning` may, `note` is worth knowing, `skipped` had no facts to look at, `failed` is a
defect of the check itself."""

Confidence = Literal["measured", "table", "likely"]
"""Seen on this machine; from our sourced tables; a common cause of what was seen."""

GROUPS = ("machine", "driver", "gpu", "torch", "packages", "environment", "multi-gpu")
"""Sections of the report, in order."""


@dataclass(frozen=True)
class Evidence:
    """One value a result rests on: `what` was `seen`, `needed` was something else, `source` says where that is from."""

    what: str
    seen: str
    needed: str | None = None
    source: str = ""


@dataclass(frozen=True)
class Remedy:
    """The one thing to do. `command` can be pasted into a shell; None when nothing a command does would help."""

    text: str
    command: str | None = None


@dataclass(frozen=True)
class Result:
    """What a check found. `summary` is one sentence without a final full stop, for a line of the report."""

    status: Status
    summary: str
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy | None = None
    confidence: Confidence = "measured"
    link: str | None = None
    cause: str | None = None
    """Id of another check whose problem explains this one: the report then names this below that."""


@dataclass(frozen=True)
class Check:
    """A pure function over facts, with what `--explain` prints about it.

    `look` yields any number of results; none at all means that the check has no business with this machine (a driver
    check on a machine without an NVIDIA card). It never reads the world, and it must cope with any field being unknown.
    """

    id: str
    """Kebab-case, stable: "driver-too-old"."""
    group: str
    title: str
    """What is well when it is well: "The driver is new enough for the installed torch"."""
    why: str
    """What breaks and what users then see, error texts verbatim in backquotes."""
    look: Callable[[Facts], Iterable[Result]]
    sources: tuple[str, ...] = ()


def skipped(reason: str) -> Result:
    """A result for missing facts: `reason` names the fact that is not known."""
    return Result("skipped", reason)
