"""How the examined system is started anew."""

from __future__ import annotations

from torchlift.doctor.check import Remedy
from torchlift.doctor.facts import Facts


def restart(facts: Facts, why: str = "") -> Remedy:
    """The remedy that starts the system anew; `why` ends its sentence, such as ", so that the module is loaded"."""
    if facts.system.container:
        return Remedy(f"Restart the host of this container{why}")
    if facts.system.wsl:
        # `reboot` inside ends the distribution only; the driver and the kernel are those of WSL's virtual machine.
        return Remedy(f"Restart WSL{why}: in Windows, then open it again", "wsl.exe --shutdown")
    if facts.system.os == "windows":
        return Remedy(f"Restart{why}", "Restart-Computer")
    return Remedy(f"Restart{why}", "sudo reboot")
