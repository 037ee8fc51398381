"""Known failures that any smoke, or importing torch, can meet, from the table of known errors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlift.doctor.errors.matching import expression, filled
from torchlift.doctor.errors.table import KNOWN
from torchlift.doctor.smoke.smoke import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlift.doctor.errors.known_error import KnownError


def _signature(row: KnownError) -> Signature:
    remedy = row.remedy if row.command is None else f"{row.remedy} ({row.command})"
    return Signature(row.id, expression(row).pattern, row.cause, remedy, row.likely, row.lost)


# What says why comes before what only says that something failed.
COMMON = tuple(_signature(row) for level in ("cause", "vague") for row in KNOWN if row.level == level)


def find_signature(text: str, own: Iterable[Signature] = ()) -> Signature | None:
    """The first signature in the text; a smoke's `own` come before the common ones."""
    for signature in (*own, *COMMON):
        match = re.search(signature.pattern, text, re.MULTILINE)
        if match is not None:
            return replace(signature, cause=filled(signature.cause, match), remedy=filled(signature.remedy, match))
    return None
