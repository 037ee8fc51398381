"""Is killed from outside, as by the kernel when memory runs out."""

import os
import signal

from torchlift_smoke.smoke import Smoke

SMOKE = Smoke(id="killed", tier="quick", title="Killed", run=lambda bench: os.kill(os.getpid(), signal.SIGKILL))
