"""What only the machine below a container or below WSL can do."""

from __future__ import annotations

from torchlift.doctor.check import Remedy
from torchlift.doctor.facts import Facts


def at_the_host(facts: Facts, text: str, command: str) -> Remedy:
    """The remedy as it is, or in words where the command has to be given to another system than the examined one."""
    plain = f"{text[0].lower()}{text[1:]}"
    if facts.system.container:
        return Remedy(f"On the host: {plain} ({command})")
    if facts.system.wsl:
        return Remedy(f"In Windows, as administrator: {plain} ({command.removeprefix('sudo ')})")
    return Remedy(text, command)
