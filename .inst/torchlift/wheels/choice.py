"""Turning an offer into a choice: the version to pin and the command lines."""

from __future__ import annotations

from torchlift.wheels.answer import Choice
from torchlift.wheels.host import Host
from torchlift.wheels.install_line import install_lines
from torchlift.wheels.offers import Offer, known_versions, line_of
from torchlift.wheels.wish import Wish

_LAST_TORCHAUDIO_BUILD = "cu130"
"""CUDA of PyPI's last torchaudio, 2.11.0, which names no torch in its metadata but compares the CUDA versions when it is
imported: torchaudio/version.py and torchaudio/_extension/utils.py of the Linux x86_64 wheel, read 2026-11-21, and the
RuntimeError seen beside torch 2.15.0+cu132."""


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
    notes = [*(warnings or []), *_companion_warnings(offer, companions)]
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
        version=version,
        measured=offer.measured,
    )


def _pin(offer: Offer, host: Host, wish: Wish, version: str) -> str:
    if wish.pinned:
        return f"torch=={version}"
    if offer.build == "xpu" and not wish.specifier:
        # Which releases this index has is known from installation logs, and the newest is for all of Intel's GPUs.
        return "torch"
    newest = line_of(known_versions()[-1])
    # An accelerator's index may hold releases that the tables do not know, with code for other GPUs.
    open_ended = offer.index is None or offer.build == "cpu"
    if not wish.specifier and offer.line == newest and open_ended:
        return "torch"
    if all(wish.allows(release) for release in host.versions(offer)):
        return f"torch=={offer.torch}.*"
    return f"torch=={version}"


def _companion_warnings(offer: Offer, companions: tuple[str, ...]) -> list[str]:
    """Sentences, without a final full stop, about companions that will not work with this wheel."""
    ended = offer.line > (2, 11)
    if (
        "torchaudio" in companions
        and ended
        and offer.index is None
        and offer.build not in ("cpu", _LAST_TORCHAUDIO_BUILD)
    ):
        return [
            f"the last torchaudio, 2.11.0, is built for CUDA 13.0 and refuses to be imported beside a torch for {offer.build}: "
            "take torch from the index of cu130 if you need it"
        ]
    return []
