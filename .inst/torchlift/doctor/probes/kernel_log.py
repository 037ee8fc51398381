"""The kernel log, for what NVIDIA's driver says of its GPUs: Xid errors."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable

from torchlift.doctor.facts import KernelLog, XidError
from torchlift.doctor.probes.world import World

_FILES = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
_MOST = 8 << 20
"""Bytes that are read of a log, from its end."""

_JOURNAL = ("journalctl", "--dmesg", "--boot", "--no-pager", "--output=cat", "--quiet")
_JOURNAL_SECONDS = 1.5

# "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, ..." and, before R410, "NVRM: Xid (0000:3b:00): 79, ...".
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})[^)]*\): (\d+),? *(.*)")
# Whose process it was is nobody else's business, and the number means nothing later.
_PROCESS = re.compile(r"^pid='?[^,]*, *(?:name=[^,]*, *)?")
_BOOT = re.compile(r"\bLinux version \d")


def kernel_log(world: World) -> KernelLog:
    """Xid errors since the machine was started, from the first place that may be read.

    Nothing is looked for where NVIDIA's kernel module is not loaded. Never waits for new lines.
    """
    if not (world.is_linux and world.exists("/proc/driver/nvidia/version")):
        return KernelLog()
    ways: tuple[tuple[str, Callable[[], str | None]], ...] = (
        ("/dev/kmsg", lambda: _ring_buffer(world)),
        *((path, lambda path=path: _end_of(world, path)) for path in _FILES),
        ("journalctl", lambda: _journal(world)),
    )
    for source, read in ways:
        text = read()
        if text is not None:
            return KernelLog(source, list(xids_in(_since_boot(text.splitlines()))))
    return KernelLog()


def xids_in(lines: Iterable[str]) -> Iterable[XidError]:
    """Xid errors by GPU and code, in the order in which they first came; the text is that of the last."""
    found: dict[tuple[str, int], XidError] = {}
    for line in lines:
        match = _XID.search(line)
        if match is None:
            continue
        domain, bus, device = match[1].lower().split(":")
        address = f"{domain[-4:]}:{bus}:{device}.0"
        seen = found.setdefault((address, int(match[2])), XidError(int(match[2]), address, "", 0))
        seen.text, seen.count = _PROCESS.sub("", match[3]).strip(), seen.count + 1
    return found.values()


def _since_boot(lines: list[str]) -> list[str]:
    """Log files reach further back; the kernel's first line tells where this start begins."""
    starts = [number for number, line in enumerate(lines) if _BOOT.search(line) and "kernel" in line]
    return lines[starts[-1] :] if starts else lines


def _ring_buffer(world: World) -> str | None:
    """Every record of /dev/kmsg: a read gives one and, without waiting, says when there is none left."""
    parts: list[bytes] = []
    size = 0
    try:
        device = os.open(world.at("/dev/kmsg"), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        while size < _MOST:
            try:
                record = os.read(device, 8192)
            except BlockingIOError:
                break
            except BrokenPipeError:  # overwritten while it was read: the next read gives the next one
                continue
            if not record:
                break
            parts.append(record)
            size += len(record)
    except OSError:
        return None
    finally:
        os.close(device)
    return b"".join(parts).decode(errors="replace")


def _end_of(world: World, path: str) -> str | None:
    if world.size(path) is None:  # a pipe in its place would be waited for
        return None
    try:
        with world.at(path).open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _MOST))
            return stream.read(_MOST).decode(errors="replace")
    except OSError:
        return None


def _journal(world: World) -> str | None:
    """None where there is no journal, or none that this user may read."""
    if not world.is_here or world.which(_JOURNAL[0]) is None:
        return None
    try:
        done = subprocess.run(
            _JOURNAL, stdin=subprocess.DEVNULL, capture_output=True, timeout=_JOURNAL_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    text = done.stdout.decode(errors="replace")
    return text if done.returncode == 0 and text.strip() else None
