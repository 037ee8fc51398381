"""Whether this is the Windows Subsystem for Linux."""

from __future__ import annotations

from torchlift.doctor.probes.world import World


def wsl_version(world: World) -> int | None:
    """1 or 2 under WSL, 0 outside, None where the kernel's name cannot be read.

    WSL 1 calls itself 4.4.0-19041-Microsoft, WSL 2 5.15.90.1-microsoft-standard-WSL2; kernels built by users may carry
    any name, but mount the interpreter of Windows programs.
    """
    if not world.is_linux:
        return 0
    release = world.text("/proc/sys/kernel/osrelease") or world.text("/proc/version")
    if release is None:
        return None
    if "microsoft-standard" in release or "WSL2" in release:
        return 2
    if "Microsoft" in release:
        return 1
    return 2 if world.exists("/proc/sys/fs/binfmt_misc/WSLInterop") else 0
