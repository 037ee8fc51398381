"""Names that are newer than the oldest release of the tables: code that needs one says how old its torch can be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from torchlift.api_changes.changes import first_releases
from torchlift.versions import TorchVersion

# Devices that plugins brought before torch did.
_OF_DEVICES = ("torch.xpu.", "torch.mtia.", "torch.mps.")


@cache
def newer_names() -> Mapping[str, TorchVersion]:
    """Names by the release that was the first to have them."""
    return {name: since for name, since in first_releases().items() if not f"{name}.".startswith(_OF_DEVICES)}


def last_words() -> frozenset[bytes]:
    """Last words of these names; `rule_index.newer_words` has them without the tables."""
    return frozenset(name.rpartition(".")[2].encode() for name in newer_names())
