"""The third GPU is not there any more."""

from torchlift_smoke.smoke import Measurement, Smoke


def _run(bench):
    if bench.facts["uuid"] == "uuid-2":
        raise RuntimeError("CUDA error: GPU is lost")
    return Measurement(None, None)


SMOKE = Smoke(id="third-is-lost", tier="quick", title="Third", run=_run, first_touch=True)
