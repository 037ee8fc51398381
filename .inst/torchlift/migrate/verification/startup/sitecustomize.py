"""Python imports this at its start, in every process of a tried command; it leaves nothing behind on `sys.path`.

Also run by Python 3.9 and without torchlift. Afterwards the `sitecustomize` that this one hides is imported as if this one
were not there, and fails as it would.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def _arrive() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != here]
    sys.path_importer_cache.pop(here, None)
    if os.environ.get("TORCHLIFT_VERIFY"):
        package: Any = type(sys)("_torchlift_verify")
        package.__path__ = [os.path.join(os.path.dirname(here), "inside")]
        sys.modules[package.__name__] = package
        from _torchlift_verify.arrival import arrive  # type: ignore[import-not-found,unused-ignore]

        arrive(os.environ["TORCHLIFT_VERIFY"])


try:
    _arrive()
except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first; that nothing arrived is told at the end)
    pass

del sys.modules["sitecustomize"]
import sitecustomize  # type: ignore[import-not-found,unused-ignore]  # noqa: E402, F401
