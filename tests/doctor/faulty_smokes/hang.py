"""Never ends, and does not listen to polite signals."""

import signal
import time

from torchlift_smoke.smoke import Smoke


def _run(bench):
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    print("now it hangs", flush=True)
    while True:
        time.sleep(60)


SMOKE = Smoke(id="hang", tier="quick", title="Hang", run=_run, timeout=1.0)
