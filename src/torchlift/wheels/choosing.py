"""Turning an offer into a choice: the version to pin and the command lines."""

from __future__ import annotations

from torchlift.wheels.answer import Choice
from torchlift.wheels.companion_limits import companion_warnings
from torchlift.wheels.host import Host
from torchlift.wheels.install_line import install_lines
from torchlift.wheels.offers import Offer, known_versions, line_of
from torchlift.wheels.wish import Wish


def choice_of(
    offer: Offer,
    host: Host,
    wish: Wish,
    companions: tuple[str, ...],
    reasons: list[str] | None = None,
    warnings: list[str] | None = None,
) -> Choice:
    """The choice of an offer, of which `wish` and `host` must leave a release."""
    version = host.versions(offer, wish)[-1]
    pin = _pin(offer, host, wish, version)
    pip, uv = install_lines(pin, offer.index, companions, version)
    notes = [*(warnings or []), *companion_warnings(offer, companions)]
    if offer.secondary:
        notes.append(f"that this {offer.build} wheel exists is known from a secondary source only")
    return Choice(
        torch=version if pin == f"torch=={version}" else offer.torch,
        build=offer.build,
        index=offer.index,
        pip=pip,
        uv=uv,
        reasons=tuple(reasons or ()),
        warnings=tuple(notes),
        sources=(f"{offer.source} ({offer.date})",),
        measured=offer.measured,
    )


def _pin(offer: Offer, host: Host, wish: Wish, version: str) -> str:
    if wish.pinned:
        return f"torch=={version}"
    newest = line_of(known_versions()[-1])
    # An accelerator's index may hold releases that the tables do not know, with code for other GPUs.
    open_ended = offer.index is None or offer.build == "cpu"
    if not wish.specifier and offer.line == newest and open_ended:
        return "torch"
    if all(wish.allows(release) for release in host.versions(offer)):
        return f"torch=={offer.torch}.*"
    return f"torch=={version}"
