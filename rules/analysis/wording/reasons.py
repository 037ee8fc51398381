"""Reasons against a rewrite, as text."""

from __future__ import annotations


def sentence(reasons: list[str]) -> str:
    """Clauses as one sentence: each once, at most four of them."""
    unique = list(dict.fromkeys(reasons))
    shown = "; ".join(unique[:4])
    rest = f"; and {len(unique) - 4} more" if len(unique) > 4 else ""
    return f"{shown}{rest}".rstrip(".") + "."
