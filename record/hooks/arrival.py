"""Waits for `import torch`, and places the hooks right behind it: before any line of the program can use torch."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # without importing `typing`, in every process of a command
if TYPE_CHECKING:
    from typing import Any


class TorchFinder:
    """A finder on `sys.meta_path` that finds nothing itself; it goes once torch was imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the other finders say; for torch, the loader then tells when it is done."""
        if name != "torch":
            return None
        others: list[Any] = sys.meta_path
        for finder in others:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if spec.loader is not None:
                        self._follow(spec.loader)
                    return spec
        return None

    def _follow(self, loader: Any) -> None:
        # An attribute of this one loader hides the method of its class, and goes again: nobody sees another loader.
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            loader.__dict__.pop("exec_module", None)
            execute(module)
            finders: list[Any] = sys.meta_path
            if self in finders:
                finders.remove(self)
            _arrived(module)

        loader.exec_module = exec_module


def _arrived(torch: Any) -> None:
    try:
        from . import installing

        installing.install(torch)
    except Exception as error:
        from .spool import SPOOL

        SPOOL.problem("the hooks could not be placed", error)


def wait_for_torch() -> None:
    """Note that this process exists, and wait."""
    folder = os.environ["TORCHLIFT_SPOOL"]
    with open(os.path.join(folder, f"process-{os.getpid()}"), "a", encoding="ascii"):
        pass
    finders: list[Any] = sys.meta_path
    finders.insert(0, TorchFinder())
