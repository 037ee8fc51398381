"""What torch's companions refuse that no metadata tells."""

from __future__ import annotations

from torchlift.wheels.offers import Offer

_LAST_TORCHAUDIO_BUILD = "cu130"
"""CUDA of PyPI's last torchaudio, 2.11.0, which names no torch in its metadata but compares the CUDA versions when it is
imported: torchaudio/version.py and torchaudio/_extension/utils.py of the Linux x86_64 wheel, read 2026-11-21, and the
RuntimeError seen beside torch 2.15.0+cu132."""


def companion_warnings(offer: Offer, companions: tuple[str, ...]) -> list[str]:
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
