"""How to install or change the NVIDIA driver on this very machine, and how to reset a GPU."""

from __future__ import annotations

from torchlift.doctor.check import Remedy
from torchlift.doctor.derived.card_support import kernel_module_flavour, needs_proprietary_module
from torchlift.doctor.derived.nvidia_cards import known_cards
from torchlift.doctor.derived.nvidia_driver import driver_version
from torchlift.doctor.facts import Facts, Gpu
from torchlift.doctor.remedies.host import at_the_host
from torchlift.wheels.drivers import branch

LONG_TERM_BRANCH = 580
"""The long-term branch to install: the last one for Maxwell to Volta, and enough for every CUDA 13 wheel."""

DRIVER_PAGE = "https://www.nvidia.com/en-us/drivers/"
_RED_HAT = ("rhel", "rocky", "almalinux", "centos", "ol", "amzn")


def install_driver(facts: Facts, at_least: str | None = None) -> Remedy:
    """The remedy that gets a driver (of `at_least` this version) onto the machine, or onto its host."""
    wanted = f"driver {at_least} or newer" if at_least else "the NVIDIA driver"
    system = facts.system
    if system.wsl:
        return Remedy(f"Install {wanted} in Windows, from {DRIVER_PAGE}; install no Linux driver inside WSL")
    if facts.system.container:
        return Remedy(f"Install {wanted} on the host and start this container anew: a container uses the host's driver")
    if system.jetson_release:
        return Remedy("Flash the newest JetPack for this board: a Jetson's driver is part of JetPack")
    if system.os == "windows":
        return Remedy(f"Install {wanted} from {DRIVER_PAGE}")
    command = _command(facts, at_least)
    if command is None:
        return Remedy(f"Install {wanted} from {DRIVER_PAGE}, then restart")
    return Remedy(f"Install {wanted}, then restart", command)


def _command(facts: Facts, at_least: str | None) -> str | None:
    distribution = facts.system.distribution
    old_cards = needs_proprietary_module(facts)
    # Never a step back: a newer branch stays, and a branch that is asked for and newer is not ours to name.
    wanted = max(LONG_TERM_BRANCH, branch(driver_version(facts)))
    if branch(at_least) > LONG_TERM_BRANCH or (old_cards and wanted > LONG_TERM_BRANCH):
        return None
    if distribution in ("ubuntu", "pop"):
        data_centre = any(gpu.brand == "tesla" for gpu in facts.gpus)
        if any(kernel_module_flavour(card.capability) == "open" for card in known_cards(facts)):
            # The module that ubuntu-drivers takes by itself may be the proprietary one.
            return f"sudo apt install nvidia-driver-{wanted}{'-server' if data_centre else ''}-open"
        return f"sudo ubuntu-drivers install {f'--gpgpu nvidia:{wanted}-server' if data_centre else f'nvidia:{wanted}'}"
    if distribution == "debian":
        return "sudo apt install nvidia-driver firmware-misc-nonfree"
    if distribution == "fedora":
        return "sudo dnf install akmod-nvidia"
    if distribution in _RED_HAT:
        return f"sudo dnf install {'cuda-drivers-580' if old_cards else 'nvidia-open'}"
    if distribution == "arch" and not old_cards:
        return "sudo pacman -S nvidia-open"
    return None


def other_kernel_module(facts: Facts, needed: str) -> Remedy:
    """The remedy that installs the `needed` one of the driver's two kernel modules, "open" or "proprietary"."""
    number = branch(driver_version(facts)) or LONG_TERM_BRANCH
    text = f"Install the driver with its {needed} kernel module, then restart"
    if facts.system.distribution in ("ubuntu", "pop"):
        suffix = "-open" if needed == "open" else ""
        return Remedy(text, f"sudo apt install nvidia-driver-{number}{suffix}")
    if facts.system.distribution in _RED_HAT:
        return Remedy(
            text, "sudo dnf install nvidia-open" if needed == "open" else f"sudo dnf install cuda-drivers-{number}"
        )
    return Remedy(text)


def reset_gpu(facts: Facts, gpu: Gpu) -> Remedy:
    """The remedy that resets one GPU after the programs on it have ended."""
    where = gpu.uuid or str(gpu.index)
    return at_the_host(
        facts, f"End the programs that use GPU {gpu.index}, then reset it", f"sudo nvidia-smi --gpu-reset -i {where}"
    )
