"""Known failures that any smoke, or importing torch, can meet, from the table of known errors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlift.doctor.errors.matching import candidates, expression, filled, vocabulary
from torchlift.doctor.errors.table import KNOWN
from torchlift.doctor.smoke.smoke import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable

# What says why comes before what only says that something failed.
COMMON = tuple(row for level in ("cause", "vague") for row in KNOWN if row.level == level)


def find_signature(text: str, own: Iterable[Signature] = ()) -> Signature | None:
    """The first signature in the text; a smoke's `own` come before the common ones."""
    for signature in own:
        match = re.search(signature.pattern, text, re.MULTILINE)
        if match is not None:
            return replace(signature, cause=filled(signature.cause, match), remedy=filled(signature.remedy, match))
    for row, _ in candidates(vocabulary(text), COMMON):
        match = expression(row).search(text)
        if match is not None:
            remedy = row.remedy if row.command is None else f"{row.remedy} ({row.command})"
            remedy += "".join(f". {one.what}: {one.tell}. Then: {one.remedy}" for one in row.causes)
            cause, remedy = filled(row.cause, match), filled(remedy, match)
            return Signature(row.id, expression(row).pattern, cause, remedy, row.likely, row.lost)
    return None
