"""Python imports this at its start, in every process of a command that was given rooms; it leaves nothing behind on `sys.path`.

Afterwards the `sitecustomize` that this one hides is imported as if this one were not there, and fails as it would.
"""

from __future__ import annotations

import os
import sys


def _arrive() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != here]
    sys.path_importer_cache.pop(here, None)
    for entry in filter(None, os.environ.get("TORCHLIFT_AT_START", "").split(os.pathsep)):
        name, _, folder = entry.partition("=")
        package = type(sys)(name)
        package.__path__ = [folder, os.path.join(os.path.dirname(here), "shared")]
        sys.modules[name] = package
        try:
            __import__(name + ".arrival")
            sys.modules[name + ".arrival"].arrive()
        except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first; that nothing arrived is told at the end)
            pass


try:
    _arrive()
except Exception:  # noqa: S110, BLE001, RUF100  (the same)
    pass

del sys.modules["sitecustomize"]
import sitecustomize  # type: ignore[import-not-found,unused-ignore]  # noqa: E402, F401
