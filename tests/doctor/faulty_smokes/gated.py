"""Has no business here."""

from torchlift_smoke.smoke import Smoke

SMOKE = Smoke(
    id="gated", tier="quick", title="Gated", run=lambda bench: 1 / 0, gate=lambda bench: "needs a flux capacitor"
)
