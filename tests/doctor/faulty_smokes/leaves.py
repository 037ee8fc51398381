"""Ends the process without a word and with the exit status of success."""

import os

from torchlift_smoke.smoke import Smoke

SMOKE = Smoke(id="leaves", tier="quick", title="Leaves", run=lambda bench: os._exit(0))
