"""Lives under a limit that Python itself meets (`ulimit -v`)."""

import resource

from torchlift_smoke.smoke import Smoke


def _run(bench):
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
    return bytearray(64 << 20)


SMOKE = Smoke(id="limited-memory", tier="quick", title="Limited memory", run=_run)
