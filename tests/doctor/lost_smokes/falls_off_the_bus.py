"""Meets a device that is gone."""

from torchlift_smoke.smoke import Smoke


def _run(bench):
    raise RuntimeError("CUDA error: GPU is lost")


SMOKE = Smoke(id="falls-off-the-bus", tier="quick", title="Lost", run=_run)
