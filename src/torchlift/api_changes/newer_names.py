"""Names that are newer than the oldest release of the tables: code that needs one says how old its torch can be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from torchlift.api_changes.changes import first_releases
from torchlift.lazy_pattern import lazy_pattern
from torchlift.versions import TorchVersion

# Devices that plugins brought before torch did.
_OF_DEVICES = ("torch.xpu.", "torch.mtia.", "torch.mps.")


@cache
def newer_names() -> Mapping[str, TorchVersion]:
    """Names by the release that was the first to have them."""
    return {name: since for name, since in first_releases().items() if not f"{name}.".startswith(_OF_DEVICES)}


# The same, of names that the tables do not hold: attributes of classes, modules that are loaded when they are asked for, and
# what is as old as the tables (release notes of 2.0, read 2026-11-27; torch/export of the wheels of 2.4.1 and 2.5.1).
_OTHERS = {
    "torch.compile": TorchVersion(2, 0),
    "torch.func": TorchVersion(2, 0),
    "torch.export.Dim.AUTO": TorchVersion(2, 5),
}
_SPELLED = lazy_pattern(r"\btorch(?:\.\w+)+")


def newest_named(text: str, lowest: TorchVersion) -> tuple[str, TorchVersion] | None:
    """The name of torch in a text that came last, with its release, if that is above `lowest` and not named in the text."""
    known = newer_names()
    named: dict[str, TorchVersion] = {}
    for spelled in dict.fromkeys(_SPELLED.findall(text)):
        parts = spelled.split(".")
        for end in range(len(parts), 1, -1):
            name = ".".join(parts[:end])
            since = _OTHERS.get(name) or known.get(name)
            if since is not None:
                named[name] = since
                break
    name = max(named, key=lambda one: named[one], default="")
    if not name or named[name] <= lowest or re.search(rf"(?<![\d.]){re.escape(str(named[name]))}(?!\.?\d)", text):
        return None
    return name, named[name]


def last_words() -> frozenset[bytes]:
    """Last words of these names; `rule_index.newer_words` has them without the tables."""
    return frozenset(name.rpartition(".")[2].encode() for name in newer_names())
