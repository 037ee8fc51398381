"""Computes something else than it should."""

from torchlift_smoke.smoke import Smoke


def _run(bench):
    x = bench.random(100)
    bench.compare("right", bench.put(x), x, 1e-6)
    bench.compare("wrong", bench.put(x) + 0.25, x, 1e-6)
    return bench.measurement()


SMOKE = Smoke(id="wrong-numbers", tier="quick", title="Wrong numbers", run=_run)
