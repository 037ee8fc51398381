"""Fails as a kernel does that the device has no code for."""

from torchlift_smoke.smoke import Smoke


def _run(bench):
    raise RuntimeError("CUDA error: no kernel image is available for execution on the device")


SMOKE = Smoke(id="raises", tier="quick", title="Exception", run=_run)
