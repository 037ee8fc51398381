"""Sleeps for ever, and leaves a note of its process."""

import os
import time
from pathlib import Path

from torchlift_smoke.smoke import Smoke


def _run(bench):
    Path(os.environ["LENT_NOTES"], f"{os.getpid()}.asleep").touch()
    while True:
        time.sleep(60)


SMOKE = Smoke(id="sleeps", tier="quick", title="Sleeps", run=_run, first_touch=True)
