"""Asks for more memory than it may have."""

from torchlift_smoke.smoke import Smoke


def _run(bench):
    bench.torch.empty(1 << 60, dtype=bench.torch.uint8)


SMOKE = Smoke(id="out-of-memory", tier="quick", title="Out of memory", run=_run)
