"""Waits for `import torch`, and places the hooks right behind it: before any line of the program can use torch."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without importing `typing`, in every process of a command
if TYPE_CHECKING:
    from typing import Any

    from torchlift.at_start.shared.after_import import after_import
else:
    from .after_import import after_import


def arrive() -> None:
    """Note that this process exists, and wait."""
    folder = os.environ["TORCHLIFT_SPOOL"]
    with open(os.path.join(folder, f"process-{os.getpid()}"), "a", encoding="ascii"):
        pass
    after_import("torch", _arrived)


def _arrived(torch: Any) -> None:
    try:
        from . import installing

        installing.install(torch)
    except Exception as error:
        from .spool import SPOOL

        SPOOL.problem("the hooks could not be placed", error)
