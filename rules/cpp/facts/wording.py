"""How several places of one file are said in one message."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 12


def places_said(lines: Sequence[int]) -> str:
    """ "Lines 3, 7.", or the first of many and how many there are."""
    shown = ", ".join(map(str, lines[:_MOST]))
    return f"Lines {shown}." if len(lines) <= _MOST else f"{len(lines)} lines: {shown}, ..."
