"""What a smoke is and what it measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

TIERS = ("quick", "default", "full", "burn")
"""In the order in which they run."""

BURN_SECONDS = 60.0
"""Of full load a device, unless the user says otherwise: after a minute a card has about the heat that it keeps."""

KINDS = ("cuda", "rocm", "xpu", "mps", "cpu")
"""Kinds of device. "rocm" is a GPU that torch addresses as "cuda" in a build for HIP."""

GPUS = ("cuda", "rocm", "xpu", "mps")


def tiers_of(tier: str) -> tuple[str, ...]:
    """The tiers that a run of `tier` comprises.

    Every tier contains those before it, but "burn" the quick one only: it proves hardware, and has no use for compilers.
    """
    return (TIERS[0], tier) if tier == TIERS[-1] else TIERS[: TIERS.index(tier) + 1]


class Skip(Exception):
    """Raised by a running smoke that finds that it has no business here; the text is the reason."""


@dataclass(frozen=True)
class Signature:
    """A known failure: `pattern` (a regular expression) in its text means `cause`, and `remedy` is what to do."""

    id: str
    pattern: str
    cause: str
    remedy: str
    likely: bool = False
    """The cause is a common one, not a certain one."""
    lost: bool = False
    """Nothing more can run on this device."""


@dataclass(frozen=True)
class Measurement:
    """What a smoke measured: it passes while `error` is at most `limit`.

    `details` are the single comparisons, `{name: {"error": ..., "limit": ...}}`, and whatever else is worth knowing; it
    must go through JSON. A smoke that only measures a rate has the limit None and never fails by itself.
    """

    error: float | None
    limit: float | None
    details: dict[str, Any] = field(default_factory=dict)


def unbound(bench: Bench) -> Measurement:
    """The `run` of a declaration that was not loaded.

    Raises:
        LookupError: always.
    """
    raise LookupError("This is a smoke's declaration only: `loading` binds its `run` to it.")


def always(bench: Bench) -> str | None:
    """The gate of a smoke that every device and every torch can run."""
    return None


@dataclass(frozen=True)
class Smoke:
    """One program to prove one ability of a device.

    A smoke is a file in `smokes/` that says first what it is about, in its `SMOKE`, then how, in its function `run` and,
    unless what `gates` has will do, its `gate`; `loading` binds them. Nothing in it imports torch at import time: both
    get it as `bench.torch`.
    """

    id: str
    """Kebab-case, stable."""
    tier: str
    title: str
    """What works when it passes."""
    run: Callable[[Bench], Measurement] = unbound
    """The function of the same name that stands below the declaration."""
    gate: Callable[[Bench], str | None] = always
    """The reason why this device or this torch cannot run it, or None. A gate never touches a GPU."""
    needs: str = "nothing"
    """The gate in words."""
    reference: str = "the same in fp64 on the CPU, from the same rounded inputs"
    limits: tuple[tuple[str, float], ...] = ()
    """Limits by the name of a comparison."""
    kinds: tuple[str, ...] = KINDS
    signatures: tuple[Signature, ...] = ()
    """Known failures of this smoke, looked at before the common ones."""
    timeout: float = 60.0
    """Seconds until it is killed."""
    once: bool = False
    """It speaks for all devices together, and runs once and not for each."""
    first_touch: bool = False
    """It must be the first to touch the device: nothing checks before it that the device answers."""
    loads: bool = False
    """It measures a rate: clocks are read while it runs."""
    lasts: float = 0.0
    """It loads the device for this share of the seconds that a burn takes (`bench.seconds`), on top of its `timeout`."""
    alone: bool = False
    """Nothing else may run on the machine meanwhile: it measures what devices share."""
    guessed: str = ""
    """What of its limits is a guess, as a sentence without its full stop."""

    def limit(self, name: str) -> float:
        """The limit of a comparison."""
        return dict(self.limits)[name]
