"""`--emit`: the pins of the answer, and nothing else, on standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.remedies.pin_set import PinFormat


def emit(examination: Examination, kind: PinFormat) -> None:
    """Write the pin set and exit: 0, or 1 with the reason on standard error where the answer is no single wheel."""
    from torchlift.doctor.command.output import say
    from torchlift.doctor.remedies.pin_set import pin_set
    from torchlift.doctor.remedies.wheel_remedy import companions_of

    answer = examination.answer
    if answer is None or answer.kind != "wheel" or answer.choice is None or not answer.choice.version:
        reason = answer.summary if answer is not None else "No wheel could be chosen"
        click.echo(f"There is nothing to pin. {reason}.", err=True)
        sys.exit(1)
    facts = examination.facts
    say(pin_set(facts, answer.choice, companions_of(facts), answer.summary, kind), 0)
