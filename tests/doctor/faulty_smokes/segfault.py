"""Reads from address 0."""

import ctypes

from torchlift_smoke.smoke import Smoke

SMOKE = Smoke(id="segfault", tier="quick", title="Segmentation fault", run=lambda bench: ctypes.string_at(0))
