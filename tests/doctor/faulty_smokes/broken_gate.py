"""Cannot even say whether it has business here."""

from torchlift_smoke.smoke import Smoke

SMOKE = Smoke(id="broken-gate", tier="quick", title="Broken gate", run=lambda bench: None, gate=lambda bench: 1 / 0)
