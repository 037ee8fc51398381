"""Calls a function right after a module was imported for the first time, without importing it."""

import sys


def after_import(name, call):
    """Call `call(module)` once the module `name` has run; now, if it is there. Its errors stay its own."""
    if name in sys.modules:
        _quietly(call, sys.modules[name])
    else:
        sys.meta_path.insert(0, _Waiting(name, call))


class _Waiting:
    def __init__(self, name, call):
        self.name = name
        self.call = call

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_and_call(module):
            run(module)
            _quietly(self.call, module)

        spec.loader.exec_module = run_and_call
        return spec


def _quietly(call, module):
    try:
        call(module)
    except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first)
        pass
