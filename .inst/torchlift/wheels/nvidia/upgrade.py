"""What a newer driver would make possible."""

from __future__ import annotations

from torchlift.wheels import drivers
from torchlift.wheels.answer import Answer, Choice
from torchlift.wheels.driver_view import lowest_driver
from torchlift.wheels.nvidia.case import NvidiaCase
from torchlift.wheels.nvidia.choice import limits, nvidia_choice
from torchlift.wheels.offers import Offer
from torchlift.wheels.wish import Wish

_ANY = Wish.any()


def better_driver(case: NvidiaCase, best: Offer) -> tuple[str | None, Choice | None]:
    """The lowest driver for a newer release than `best`, and what to install with it."""
    if not case.driver.known:
        return None, None
    newer = [offer for offer in case.with_driver(None).usable() if offer.line > best.line]
    return upgrade_to(case, newer)


def upgrade_to(case: NvidiaCase, wanted: list[Offer]) -> tuple[str | None, Choice | None]:
    """The lowest driver for the newest release in `wanted`, and what to install with it."""
    capabilities = [gpu.capability for gpu in case.gpus]
    newest = [offer for offer in wanted if offer.line == wanted[0].line]
    needs = [
        needed for offer in newest if (needed := lowest_driver((offer.cuda or (0, 0))[0], capabilities, case.driver.os))
    ]
    upgrade = min(needs, key=drivers.parts, default=None)
    if upgrade is None:
        return None, None
    after = case.with_driver(upgrade)
    return (upgrade, nvidia_choice(after, after.usable()[0])) if after.usable() else (None, None)


def after_upgrade(case: NvidiaCase) -> Answer | None:
    """What a newer driver would make possible; None when the driver is not what is missing."""
    ideal = case.with_driver(None)
    if not case.driver.known or not ideal.usable():
        return None
    upgrade, then = upgrade_to(case, ideal.usable())
    if upgrade is None or then is None:
        return None
    too_old = [gpu.label for gpu in case.gpus if not case.driver.knows(gpu.capability)]
    reasons = limits(ideal, ideal.usable()[0])
    if too_old:
        first = max(branch for gpu in case.gpus if (branch := drivers.first_branch(gpu.capability)))
        names = ", ".join(dict.fromkeys(too_old))
        summary = f"{_capital(case.driver.text)} is too old for {names}, which needs branch {first} or newer"
        reasons.append(f"no torch wheel can mend that: driver branches before {first} do not know the GPU")
    else:
        summary = f"No wheel of {case.wish} for {case.names} runs with {case.driver.text}"
    now = case.with_wish(_ANY).usable() if case.wish.narrow else []
    alternatives = tuple(nvidia_choice(case.with_wish(_ANY), offer) for offer in now[:1])
    summary += f": upgrade it to {upgrade} or newer, then torch {then.torch} ({then.build}) runs"
    return Answer("upgrade-driver", summary, None, alternatives, upgrade, then, reasons=tuple(reasons))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
