"""Starts a process that would live on, and says which."""

import subprocess
import sys

from torchlift_smoke.smoke import Measurement, Smoke


def _run(bench):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    return Measurement(0.0, 0.0, {"child": child.pid})


SMOKE = Smoke(id="leaves-children", tier="quick", title="Leaves children", run=_run)
