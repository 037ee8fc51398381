"""Calls a function right after a module was imported for the first time, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def after_import(name: str, call: Callable[[Any], None]) -> None:
    """Call `call(module)` once the module `name` has run; now, if it is there. Its errors stay its own."""
    if name in sys.modules:
        _quietly(call, sys.modules[name])
    else:
        sys.meta_path.insert(0, _Waiting(name, call))


class _Waiting:
    def __init__(self, name: str, call: Callable[[Any], None]) -> None:
        self.name = name
        self.call = call

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        run = loader.exec_module

        def run_and_call(module: Any) -> None:
            run(module)
            _quietly(self.call, module)

        loader.exec_module = run_and_call
        return spec


def _quietly(call: Callable[[Any], None], module: Any) -> None:
    try:
        call(module)
    except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first)
        pass
