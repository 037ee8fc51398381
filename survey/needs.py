"""What the metadata of a repository asks of machines: which torch, and so which driver and which GPUs."""

from __future__ import annotations

from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from torchlift.dependencies.metadata import read_metadata
from torchlift.survey.record import Needs
from torchlift.wheels import drivers
from torchlift.wheels.offers import Offer, offers

_PLATFORM = "linux_x86_64"


def needs_of(folder: Path) -> Needs:
    """What the files of one folder ask for. Never raises for what they hold."""
    found = read_metadata(folder, folder)
    strongest = min((item.strength for item in found.declarations), default=None)
    asked = [item.pin for item in found.declarations if item.strength == strongest]
    specifiers = [
        pin.specifier for pin in asked if not pin.conditional and not pin.unread and pin.specifier is not None
    ]
    offer, version = _newest(specifiers)
    python = next((item.pin.text for item in found.python if not item.pin.unread), None)
    return Needs(
        asked=tuple(dict.fromkeys(pin.text for pin in asked)),
        python=python,
        newest=version,
        build=offer.build if offer is not None else None,
        driver=drivers.lowest(offer.cuda[0], "linux") if offer is not None and offer.cuda is not None else None,
        capability=_lowest_capability(offer) if offer is not None else None,
        indexes=tuple(dict.fromkeys(index.url for index in found.indexes)),
        packages=tuple(sorted(found.packages)),
    )


def _newest(specifiers: list[str]) -> tuple[Offer | None, str | None]:
    """The newest known release that all of these allow, in the build that PyPI has for it."""
    try:
        wanted = [SpecifierSet(text) for text in specifiers]
    except InvalidSpecifier:
        return None, None
    best: tuple[tuple[int, ...], Offer, str] | None = None
    for offer in offers(_PLATFORM) if specifiers else ():
        if not offer.main:
            continue
        for release in offer.releases:
            plain = release.version.partition("+")[0]
            rank = tuple(int(part) for part in plain.split(".") if part.isdigit())
            if all(one.contains(plain) for one in wanted) and (best is None or rank > best[0]):
                best = rank, offer, plain
    return (best[1], best[2]) if best is not None else (None, None)


def _lowest_capability(offer: Offer) -> str | None:
    found = []
    for image in offer.sass:
        digits = image.rstrip("af")
        if digits.isdigit() and len(digits) > 1:
            found.append((int(digits[:-1]), int(digits[-1])))
    return ".".join(map(str, min(found))) if found else None
