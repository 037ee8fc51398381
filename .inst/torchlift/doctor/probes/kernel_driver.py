"""NVIDIA's kernel modules, device nodes, driver libraries and daemons."""

from __future__ import annotations

import os
import re
import subprocess

from torchlift.doctor.facts import DeviceNode, DriverLibrary, KernelDriver
from torchlift.doctor.probes.container import container
from torchlift.doctor.probes.loader import find_library
from torchlift.doctor.probes.world import World

_MODULES = "nvidia nvidia_uvm nvidia_drm nvidia_modeset nvidia_peermem nouveau amdgpu i915 xe".split()
_NODES = [
    ("/dev", "nvidia[0-9]*"),
    ("/dev", "nvidiactl"),
    ("/dev", "nvidia-*"),
    ("/dev/nvidia-caps", "*"),
    ("/dev/nvidia-caps-imex-channels", "*"),
    ("/dev", "nvmap"),
    ("/dev", "nvhost-ctrl-gpu"),
    ("/dev", "nvhost-gpu"),
    ("/dev", "dxg"),
    ("/dev", "kfd"),
    ("/dev/dri", "renderD*"),
]
# /proc/PID/comm holds 15 characters.
_FABRIC_MANAGER = "nv-fabricmanager"[:15]
_PERSISTENCE_DAEMON = "nvidia-persistenced"[:15]
_IMEX_DAEMON = "nvidia-imex"
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")
# Driver versions have three digits before the point; libcuda.so.1.1 of Jetson and WSL names none.
_FILE_VERSION = re.compile(r"\.so\.(\d{3,}(?:\.\d+)+)$")
_STUB = re.compile(r"[/\\]stubs[/\\]")
_COMPAT = re.compile(r"[/\\](?:cuda-)?compat(?:-[\d.-]+)?[/\\]")


def kernel_driver(world: World) -> KernelDriver:
    """What the kernel and the file system say about NVIDIA's driver."""
    driver = KernelDriver(libraries=_libraries(world))
    if not world.is_linux:
        return driver
    driver.version, driver.open_module = _loaded_version(world)
    driver.modules = _modules(world)
    driver.device_nodes = _device_nodes(world)
    running = _running(world)
    driver.fabric_manager_running = _is_running(_FABRIC_MANAGER, running)
    driver.persistence_daemon_running = _is_running(_PERSISTENCE_DAEMON, running)
    driver.imex_running = _is_running(_IMEX_DAEMON, running)
    # Containers are given the daemon's socket, not its process.
    if world.exists("/run/nvidia-persistenced/socket"):
        driver.persistence_daemon_running = True
    driver.fabric_manager_version = _fabric_manager_version(world)
    return driver


def _loaded_version(world: World) -> tuple[str | None, bool | None]:
    """Version and whether it is the open module.

    The first line reads "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 ..." or
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build ...".
    """
    line = (world.text("/proc/driver/nvidia/version") or "").partition("\n")[0]
    match = re.search(r"Kernel Module\b.*?\s(\d+\.\d+(?:\.\d+)?)(?:\s|$)", line)
    if match:
        return match[1], "Open Kernel Module" in line
    match = _VERSION.match(world.text("/sys/module/nvidia/version") or "")
    return (match[0] if match else None), None


def _modules(world: World) -> list[str]:
    loaded = {line.partition(" ")[0] for line in (world.text("/proc/modules") or "").splitlines()}
    # `initstate` tells loaded modules from those built into the kernel, whose folders hold parameters only.
    return [name for name in _MODULES if name in loaded or world.exists(f"/sys/module/{name}/initstate")]


def _device_nodes(world: World) -> list[DeviceNode]:
    nodes = []
    for folder, pattern in _NODES:
        for name in world.names(folder, pattern):
            path = f"{folder}/{name}"
            if not world.is_folder(path):
                at = world.at(path)
                # Asked, not opened: opening a node loads modules and wakes cards.
                nodes.append(DeviceNode(path, os.access(at, os.R_OK), os.access(at, os.W_OK)))
    return nodes


def _libraries(world: World) -> list[DriverLibrary]:
    if world.is_windows:
        names = ["nvcuda.dll", "nvml.dll"]
    elif world.is_linux:
        names = ["libcuda.so.1", "libnvidia-ml.so.1"]
    else:
        return []
    libraries = []
    for name in names:
        for found in find_library(world, name):
            real = world.real(found.path)
            both = f"{found.path}\n{real}"
            version = _FILE_VERSION.search(real)
            libraries.append(
                DriverLibrary(
                    name,
                    found.path,
                    real,
                    version[1] if version else None,
                    size=world.size(found.path) or 0,
                    found_by=found.found_by,
                    stub=bool(_STUB.search(both)),
                    compat=bool(_COMPAT.search(both)),
                )
            )
    return libraries


def _running(world: World) -> set[str] | None:
    """Names of all processes, None where those of the whole machine cannot be seen."""
    processes = [name for name in world.names("/proc") if name.isdecimal()]
    # Under hidepid the first process, which is root's, is not shown to others.
    if "1" not in processes or container(world) != "":
        return None
    return {(world.text(f"/proc/{process}/comm") or "").strip() for process in processes}


def _is_running(name: str, running: set[str] | None) -> bool | None:
    return None if running is None else name in running


def _fabric_manager_version(world: World) -> str | None:
    program = world.which("nv-fabricmanager") or "/usr/bin/nv-fabricmanager"
    if world.size(program) is None:
        return None
    try:
        done = subprocess.run(
            [world.at(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=2, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(done.stdout.decode(errors="replace"))
    return match[0] if match else None
