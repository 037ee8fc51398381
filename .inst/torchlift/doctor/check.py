"""What a check is and what it answers.

A file of a check says first what it is about, in its `CHECK`, then how, in its function `look`. `checks.registry` binds
the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY
from functools import partial
from typing import Literal

from torchlift.doctor.facts import Facts
from torchlift.lazy_dataclass import dataclass

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
    _: KW_ONLY
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
    _: KW_ONLY
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy | None = None
    confidence: Confidence = "measured"
    link: str | None = None
    cause: str | None = None
    """Id of another check whose problem explains this one: the report then names this below that."""


ok = partial(Result, "ok")
note = partial(Result, "note")
warning = partial(Result, "warning")
problem = partial(Result, "problem")
skipped = partial(Result, "skipped")
"""Results by their status; `Result` itself is for a status that depends on the machine."""


def unbound(facts: Facts) -> Iterable[Result]:
    """The `look` of a declaration that was not taken from the register.

    Raises:
        LookupError: always.
    """
    raise LookupError("This is a check's declaration only: `torchlift.doctor.checks.registry` binds its `look` to it.")


@dataclass(frozen=True, kw_only=True)
class Check:
    """A pure function over facts, with what `--explain` prints about it.

    `look` yields any number of results; none at all means that the check has no business with this machine (a driver
    check on a machine without an NVIDIA card). It never reads the world, and it must cope with any field being unknown.
    """

    id: str
    """Kebab-case, stable: "driver-too-old". The file has the same name."""
    group: str
    """One of `GROUPS`. The folder has the same name."""
    title: str
    """What is well when it is well: "The driver is new enough for the installed torch"."""
    why: str
    """What breaks and what users then see, error texts verbatim in backquotes."""
    sources: tuple[str, ...]
    """Pages, files and measurements that what the check says is from."""
    look: Callable[[Facts], Iterable[Result]] = unbound
    """The function of the same name that stands below the declaration."""
