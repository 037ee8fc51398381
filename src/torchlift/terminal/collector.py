"""When Python looks for rubbish."""

from __future__ import annotations

import gc


def calm_collector() -> None:
    """Let the garbage collector look for cycles rarely: syntax trees are large, short-lived and free of cycles."""
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 20)
