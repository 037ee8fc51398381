"""What became of a smoke."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Outcome = Literal["pass", "fail", "skip", "timeout", "crash", "stuck", "lost"]
"""`stuck`: killed, but it does not end, because it hangs inside the driver. `lost`: not run, the device is gone."""

FAILURES = ("fail", "timeout", "crash", "stuck", "lost")


@dataclass
class SmokeResult:
    """One smoke on one device.

    Attributes:
        seconds: of the smoke itself, None when it did not end.
        wall: from the request to the answer, with what the runner and the device's start cost.
        error: the measured error, None when there is none; it passes while it is at most `limit`.
        reason: one sentence without a full stop: why it was skipped or what failed.
        signature: id of the known failure; `cause` and `remedy` belong to it, `likely` says that the cause is only a
            common one.
        signal: name of the signal that killed it.
        output: the last that it printed, for failures only.
    """

    id: str
    device: str
    tier: str
    title: str
    outcome: Outcome
    seconds: float | None = None
    wall: float | None = None
    error: float | None = None
    limit: float | None = None
    reason: str | None = None
    signature: str | None = None
    cause: str | None = None
    remedy: str | None = None
    likely: bool = False
    signal: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    output: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the machine is to blame, or something on it."""
        return self.outcome in FAILURES

    def as_json(self) -> dict[str, Any]:
        """As a JSON object with all fields."""
        return asdict(self)
