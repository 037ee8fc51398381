"""Graphics cards and accelerators on the PCI bus, which the kernel lists whether or not a driver serves them."""

from __future__ import annotations

from torchlift.doctor.facts import PciCard
from torchlift.doctor.probes.world import World
from torchlift.doctor.probes.wsl import wsl_version

_DEVICES = "/sys/bus/pci/devices"
# Display controllers and processing accelerators of the PCI class code list.
_CLASSES = ("03", "12")
# PCI Express ends at 32 lanes; the kernel prints the register's 63 or 255 when the device does not answer.
_LANES = 32


def pci_cards(world: World) -> list[PciCard] | None:
    """The cards, by address; None where the bus cannot be seen (no /sys) or does not show them."""
    if not world.is_linux or not world.is_folder(_DEVICES):
        return None
    # WSL shows its paravirtual devices here, never the host's cards.
    if wsl_version(world):
        return None
    cards = []
    for address in world.names(_DEVICES):
        folder = f"{_DEVICES}/{address}"
        pci_class = _hexadecimal(world.text(f"{folder}/class"), 6)
        vendor = _hexadecimal(world.text(f"{folder}/vendor"), 4)
        device = _hexadecimal(world.text(f"{folder}/device"), 4)
        if pci_class is None or vendor is None or device is None or not pci_class.startswith(_CLASSES):
            continue
        driver = world.link(f"{folder}/driver")
        cards.append(
            PciCard(
                address,
                vendor,
                device,
                pci_class[:4],
                driver="" if driver is None else driver.rpartition("/")[2],
                link_width=_lanes(world.text(f"{folder}/current_link_width")),
                link_width_max=_lanes(world.text(f"{folder}/max_link_width")),
                link_speed=_speed(world.text(f"{folder}/current_link_speed")),
                link_speed_max=_speed(world.text(f"{folder}/max_link_speed")),
                numa_node=_whole(world.text(f"{folder}/numa_node")),
            )
        )
    return cards


def _hexadecimal(text: str | None, digits: int) -> str | None:
    try:
        return f"{int(text or '', 16):0{digits}x}"
    except ValueError:
        return None


def _whole(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _lanes(text: str | None) -> int | None:
    lanes = _whole(text)
    return lanes if lanes is not None and 0 < lanes <= _LANES else None


def _speed(text: str | None) -> str | None:
    speed = (text or "").strip()
    return speed if speed[:1].isdigit() else None
