"""Calls a function right after a module was imported for the first time, before its importer goes on, without importing it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # without importing `typing`, in every process of a command
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def after_import(name: str, call: Callable[[Any], None]) -> None:
    """Call `call(module)` once the module `name` has run; now, if it is there. Its errors stay its own."""
    if name in sys.modules:
        _quietly(call, sys.modules[name])
    else:
        finders: list[Any] = sys.meta_path
        finders.insert(0, _Waiting(name, call))


class _Waiting:
    """A finder that finds nothing itself; it goes once the module was imported."""

    def __init__(self, name: str, call: Callable[[Any], None]) -> None:
        self.name = name
        self.call = call
        self.is_looking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the other finders say; for the module, its loader then tells when it is done."""
        if name != self.name or self.is_looking:
            return None
        self.is_looking = True
        finders: list[Any] = sys.meta_path
        try:
            for finder in list(finders):
                spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    if spec.loader is not None:
                        self._follow(spec.loader)
                    return spec
        finally:
            self.is_looking = False
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
            _quietly(self.call, module)

        loader.exec_module = exec_module


def _quietly(call: Callable[[Any], None], module: Any) -> None:
    try:
        call(module)
    except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first)
        pass
