"""The operating system, the C library, what surrounds them, and the limits of this process."""

from __future__ import annotations

import os
import platform
import re
import sys

from torchlift.doctor.facts import System
from torchlift.doctor.probes.container import container
from torchlift.doctor.probes.loader import find_library, normal_machine
from torchlift.doctor.probes.world import World
from torchlift.doctor.probes.wsl import wsl_version

_SYSTEMS = {"linux": "linux", "win32": "windows", "cygwin": "windows", "darwin": "darwin"}
_COMPILERS = ("gcc", "g++", "cc", "clang", "cl")
_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_LIBC_LIMIT = 16 << 20


def system(world: World) -> System:
    """The machine without its accelerators."""
    found = System(
        os=_SYSTEMS.get(world.sys_platform, "linux" if world.is_linux else world.sys_platform),
        machine=normal_machine(world.machine),
        kernel=_kernel(world),
        macos_version=(platform.mac_ver()[0] or None) if world.sys_platform == "darwin" else None,
        wsl=wsl_version(world),
        container=container(world),
        cpu_count=_cpu_count(),
        memory=_memory(world),
        compilers={name: path for name in _COMPILERS if (path := world.which(name)) is not None},
    )
    found.memlock_limit, found.open_files_limit = _limits()
    if world.is_linux:
        found.distribution, found.distribution_version = _distribution(world)
        found.libc, found.libc_version = _libc(world)
        found.jetson_release, found.jetson_model = _jetson(world)
        found.shm_total, found.shm_free = _shared_memory(world)
        words = (world.text("/proc/cmdline") or "").split()
        found.iommu_parameters = [word for word in words if "iommu" in word.lower()]
        found.secure_boot = _secure_boot(world)
    return found


def _kernel(world: World) -> str | None:
    release = (world.text("/proc/sys/kernel/osrelease") or "").strip()
    return release or (platform.release() or None if world.is_here else None)


def _distribution(world: World) -> tuple[str | None, str | None]:
    text = world.text("/etc/os-release") or world.text("/usr/lib/os-release") or ""
    values = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        values[name.strip()] = value.strip().strip("\"'")
    return values.get("ID") or None, values.get("VERSION_ID") or None


def _libc(world: World) -> tuple[str | None, str | None]:
    """Of the machine's programs, which on Alpine is musl even where a shim for glibc is installed."""
    if world.names("/lib", "ld-musl-*.so.1"):
        package = re.search(r"^P:musl\nV:(\d+(?:\.\d+)+)", world.text("/lib/apk/db/installed") or "", re.MULTILINE)
        return "musl", package[1] if package else None
    if world.is_here:
        try:
            name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        except (AttributeError, ValueError, OSError):
            name = version = ""
        if name == "glibc" and version:
            return name, version
    for found in find_library(world, "libc.so.6"):
        text = re.search(rb"GNU C Library [^\n]* version (\d+\.\d+)", world.data(found.path, _LIBC_LIMIT) or b"")
        return "glibc", text[1].decode() if text else None
    return None, None


def _jetson(world: World) -> tuple[str | None, str | None]:
    """Release and model; the first line of the file is "# R36 (release), REVISION: 4.3, GCID: ...".

    Containers show the device tree but not always the file: then it is a Jetson of a release that is not known.
    """
    model = (world.text("/proc/device-tree/model") or world.text("/sys/firmware/devicetree/base/model") or "").strip(
        "\0\n "
    )
    compatible = (
        world.text("/proc/device-tree/compatible") or world.text("/sys/firmware/devicetree/base/compatible") or ""
    )
    text = world.text("/etc/nv_tegra_release") or ""
    release = re.search(r"# R(\d+) \(release\), REVISION: (\d+(?:\.\d+)*)", text)
    if release:
        return f"R{release[1]}.{release[2]}", model or None
    if "nvidia,tegra" in compatible or "jetson" in model.lower() or text:
        return None, model or None
    return "", None


def _cpu_count() -> int | None:
    """Processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        try:
            return len(os.sched_getaffinity(0))
        except OSError:
            pass
    return os.cpu_count()


def _memory(world: World) -> int | None:
    match = re.search(r"^MemTotal:\s+(\d+) kB", world.text("/proc/meminfo") or "", re.MULTILINE)
    if match:
        return int(match[1]) * 1024
    if not world.is_here:
        return None
    if sys.platform == "win32":
        return _windows_memory()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _windows_memory() -> int | None:
    import ctypes

    kilobytes = ctypes.c_ulonglong(0)
    windll = getattr(ctypes, "windll", None)
    if windll is None or not windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes)):
        return None
    return kilobytes.value * 1024


def _shared_memory(world: World) -> tuple[int | None, int | None]:
    try:
        status = os.statvfs(world.at("/dev/shm"))
    except (AttributeError, OSError):
        return None, None
    return status.f_frsize * status.f_blocks, status.f_frsize * status.f_bavail


def _limits() -> tuple[int | None, int | None]:
    try:
        import resource
    except ImportError:
        return None, None
    found: list[int | None] = []
    for name in ("RLIMIT_MEMLOCK", "RLIMIT_NOFILE"):
        try:
            soft = resource.getrlimit(getattr(resource, name))[0]
            found.append(-1 if soft == resource.RLIM_INFINITY else soft)
        except (AttributeError, ValueError, OSError):
            found.append(None)
    return found[0], found[1]


def _secure_boot(world: World) -> bool | None:
    """The variable holds four bytes of attributes and one of state; a machine with ACPI but no EFI booted by BIOS."""
    data = world.data(_SECURE_BOOT, 16)
    if data is not None:
        return data[4] == 1 if len(data) > 4 else None
    if world.exists("/sys/firmware/acpi") and not world.exists("/sys/firmware/efi"):
        return False
    return None
