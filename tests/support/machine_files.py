"""Machines as files below a folder, for the probes to look at."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from torchlift.doctor.probes.world import World

FLAGS = {"x86_64": 0x0303, "i386": 0x0003, "aarch64": 0x0A03}


def machine(
    root: Path,
    files: Mapping[str, str | bytes],
    links: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    architecture: str = "x86_64",
    system: str = "linux",
) -> World:
    """A world of these files. Links must be relative, or they would lead out of the root."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, target in (links or {}).items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    return World(root, environment or {}, system, architecture)


def pci_device(address: str, vendor: str, device: str, pci_class: str, **more: str) -> dict[str, str]:
    """Files of /sys/bus/pci for one device."""
    folder = f"/sys/bus/pci/devices/{address}"
    files = {"vendor": f"0x{vendor}\n", "device": f"0x{device}\n", "class": f"0x{pci_class}\n", **more}
    return {f"{folder}/{name}": text for name, text in files.items()}


def loader_cache(entries: list[tuple[str, str, str]], old_format: bool = False) -> bytes:
    """An /etc/ld.so.cache of (name, path, architecture), with the old format before the new one if wanted."""
    strings = b""
    offsets = []
    base = 48 + 24 * len(entries)
    for name, path, _ in entries:
        places = []
        for text in (name, path):
            places.append(base + len(strings))
            strings += text.encode() + b"\0"
        offsets.append(places)
    table = b"glibc-ld.so.cache1.1" + struct.pack("<IIB3xI12x", len(entries), len(strings), 2, 0)
    for (_, _, architecture), (name_at, path_at) in zip(entries, offsets, strict=True):
        table += struct.pack("<iIIIQ", FLAGS[architecture], name_at, path_at, 0, 0)
    old = b"ld.so-1.7.0\0" + struct.pack("<I", 1) + struct.pack("<iII", 3, 0, 0) + b"\0" * 4 if old_format else b""
    return old + table + strings
