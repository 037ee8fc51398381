"""Computes a NaN, which is no smaller than any limit and no larger."""

from torchlift_smoke.smoke import Smoke


def _run(bench):
    x = bench.random(100)
    bench.compare("result", bench.put(x) * float("nan"), x, 1e-6)
    return bench.measurement()


SMOKE = Smoke(id="not-finite", tier="quick", title="Not finite", run=_run)
