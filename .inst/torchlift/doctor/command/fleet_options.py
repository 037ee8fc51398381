"""Options of `torchlift doctor` about many machines at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from torchlift.lazy_dataclass import dataclass

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class FleetOptions:
    """`fleet` is None when the launcher's variables decide."""

    fleet: bool | None
    fleet_timeout: float


def fleet_options(function: _Function) -> _Function:
    """Add the options of `FleetOptions`."""
    decorators = (
        click.option(
            "--fleet/--no-fleet",
            default=None,
            help="Examine all machines of a job, each rank its own; rank 0 reports. [default: when started by torchrun or "
            "srun]",
        ),
        click.option(
            "--fleet-timeout",
            type=click.FloatRange(min=1),
            default=60,
            show_default=True,
            metavar="SECONDS",
            help="How long to wait for a rank that does not appear.",
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function
