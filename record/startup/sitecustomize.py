"""Python imports this at its start, in every process of a recorded command; it leaves nothing behind on `sys.path`.

Also run by Python 3.9 and without torchlift: standard library only, no import of torchlift. Afterwards the `sitecustomize`
that this one hides is imported as if this one were not there, and fails as it would.
"""

from __future__ import annotations

import os
import sys


def _arrive() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != here]
    sys.path_importer_cache.pop(here, None)
    if os.environ.get("TORCHLIFT_SPOOL"):
        hooks = type(sys)("_torchlift_record")
        hooks.__path__ = [os.path.join(os.path.dirname(here), "hooks")]
        sys.modules[hooks.__name__] = hooks
        from _torchlift_record.arrival import wait_for_torch  # type: ignore[import-not-found]

        wait_for_torch()


try:
    _arrive()
except Exception:  # noqa: S110, BLE001, RUF100  (the command comes first; that nothing arrived is told at the end)
    pass

del sys.modules["sitecustomize"]
import sitecustomize  # type: ignore[import-not-found]  # noqa: E402, F401
