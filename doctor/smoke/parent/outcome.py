"""What became of a smoke."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal

from torchlift.doctor.smoke.smoke import TIERS
from torchlift.lazy_dataclass import dataclass

Outcome = Literal["pass", "fail", "skip", "timeout", "crash", "stuck", "lost"]
"""`stuck`: killed, but it does not end, because it hangs inside the driver. `lost`: not run, the device is gone."""

FAILURES = ("fail", "timeout", "crash", "stuck", "lost")


@dataclass
class SmokeResult:
    """One smoke on one device."""

    id: str
    device: str
    tier: Annotated[str, {"enum": list(TIERS)}]
    title: str
    outcome: Outcome
    seconds: float | None = None
    """Of the smoke itself, None when it did not end."""
    wall: float | None = None
    """From the request to the answer, with what the runner and the device's start cost."""
    error: float | None = None
    """The measured error, None when there is none; it passes while it is at most `limit`."""
    limit: float | None = None
    reason: str | None = None
    """One sentence without a full stop: why it was skipped or what failed."""
    signature: str | None = None
    """Id of the known failure; `cause` and `remedy` belong to it."""
    cause: str | None = None
    remedy: str | None = None
    likely: bool = False
    """The cause is a common one, not a certain one."""
    signal: str | None = None
    """Name of the signal that killed it."""
    details: dict[str, Any] = field(default_factory=dict)
    output: str | None = None
    """The last that it printed, for failures only."""
    url: str | None = None
    """Address of the smoke's page, where TORCHLIFT_DOCUMENTATION says where the pages are."""

    @property
    def failed(self) -> bool:
        """Whether the machine is to blame, or something on it."""
        return self.outcome in FAILURES
