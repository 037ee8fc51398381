"""Is for all devices together, and says what it sees."""

import os
import time

from torchlift_smoke.smoke import Measurement, Smoke


def _run(bench):
    seen = {"visible": os.environ.get("CUDA_VISIBLE_DEVICES"), "count": bench.facts["count"]}
    return Measurement(None, None, {**seen, "begun": time.time()})


SMOKE = Smoke(id="together", tier="quick", title="Together", run=_run, once=True)
