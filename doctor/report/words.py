"""Phrases about a machine, and about the tables, that reports share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from torchlift.doctor.derived.intel_cards import intel_cards
from torchlift.doctor.derived.torch_build import torch_build
from torchlift.doctor.facts import Facts

_OS = {"linux": "Linux", "windows": "Windows", "darwin": "macOS"}

_CONTAINERS = {
    "docker": "Docker",
    "podman": "Podman",
    "kubernetes": "Kubernetes",
    "singularity": "Singularity",
    "lxc": "LXC",
}


def count(number: int, noun: str) -> str:
    """ "1 problem", "2 problems"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def gpu_names(facts: Facts) -> list[tuple[str, str | None, int | None]]:
    """Name, compute capability and memory of every GPU, from the best source that has an answer."""
    return _shown(facts)[1]


def shown_vendor(facts: Facts) -> str:
    """Whose GPUs `gpu_names` names: "nvidia", "amd" or "intel"; "none" where there are none."""
    return _shown(facts)[0]


def _shown(facts: Facts) -> tuple[str, list[tuple[str, str | None, int | None]]]:
    """Of several vendors the one that torch is built for comes first."""
    torch = facts.torch
    found: dict[str, list[tuple[str, str | None, int | None]]] = {
        "nvidia": [(gpu.name or "unknown GPU", gpu.compute_capability, gpu.memory_total) for gpu in facts.gpus]
        or [(one.name or "unknown GPU", one.compute_capability, one.memory_total) for one in facts.libcuda.devices],
        "amd": [(device.name or "AMD GPU", device.architecture, None) for device in facts.other.rocm_devices],
        # Graphics of a processor are worth a word where torch could use them.
        "intel": [
            (card.name, None, None)
            for card in intel_cards(facts)
            if facts.hypothetical or facts.other.level_zero or card.kind != "integrated"
        ],
    }
    first = torch_build(torch).vendor if torch is not None else "nvidia"
    order = sorted(found, key=lambda vendor: vendor != first)
    return next(((vendor, found[vendor]) for vendor in order if found[vendor]), ("none", []))


def gpus(facts: Facts) -> str:
    """ "2 x NVIDIA H100 80GB HBM3 (9.0)", "" when there is none."""
    kinds = Counter(f"{name} ({capability})" if capability else name for name, capability, _ in gpu_names(facts))
    return listed([name if number == 1 else f"{number} x {name}" for name, number in kinds.items()])


def gpus_with_memory(facts: Facts) -> str:
    """As `gpus`, with how much memory each has."""
    kinds: Counter[str] = Counter()
    for name, capability, memory in gpu_names(facts):
        details = [part for part in (capability, f"{memory / 2**30:.0f} GiB" if memory else None) if part]
        kinds[f"{name} ({', '.join(details)})" if details else name] += 1
    return listed([name if number == 1 else f"{number} x {name}" for name, number in kinds.items()])


def operating_system(facts: Facts) -> str:
    """ "Ubuntu 24.04 (Linux x86_64, glibc 2.39) in a Docker container"."""
    system = facts.system
    name = _OS.get(system.os, system.os or "unknown system")
    if system.os == "darwin" and system.macos_version:
        name = f"macOS {system.macos_version}"
    core = f"{name} {system.machine}".strip()
    libc = f"{system.libc} {system.libc_version}" if system.libc and system.libc_version else system.libc
    if system.distribution:
        release = (
            f"{system.distribution[:1].upper()}{system.distribution[1:]} {system.distribution_version or ''}".strip()
        )
        core = f"{release} ({', '.join(part for part in (core, libc) if part)})"
    elif libc:
        core = f"{core} ({libc})"
    if system.wsl:
        core += f" under WSL {system.wsl}"
    if system.container:
        kind = _CONTAINERS.get(system.container, "")
        core += f" in a {kind} container" if kind else " in a container"
    if system.jetson_release:
        core += f" on {system.jetson_model or 'Jetson'} ({system.jetson_release})"
    return core


def python(facts: Facts) -> str | None:
    """ "Python 3.11.7 in /home/x/venv"."""
    if not facts.python.version:
        return None
    kind = "" if facts.python.implementation in ("", "cpython") else f" ({facts.python.implementation})"
    free = " free-threaded" if facts.python.free_threaded else ""
    where = f" in {facts.python.prefix}" if facts.python.prefix else ""
    return f"Python {facts.python.version}{free}{kind}{where}"


def packages(facts: Facts) -> str | None:
    """The installed torch and what goes with it."""
    if facts.torch is None:
        return None
    names = ("torchvision", "torchaudio", "triton", "xformers", "flash-attn")
    found = [f"{name} {package.version}" for name in names if (package := facts.package(name)) is not None]
    return ", ".join([f"torch {facts.torch.version}", *found])


def listed(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def sentence(text: str) -> str:
    """With a capital letter, where it does not begin with a command, and a full stop."""
    text = text.strip()
    if re.match(r"[a-z]+\b(?![-_.=:(]| -)", text) and not text.startswith(
        ("torch", "pip", "uv", "nvidia", "lib", "cu")
    ):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def data_age() -> str:
    """The line that says so, and what the newest torch is that they know."""
    from torchlift.versions import LATEST
    from torchlift.wheels.tables import data_date

    return f"Wheel data of {data_date()}, newest torch known {LATEST}."
