"""CUDA toolkits on the disk."""

from __future__ import annotations

import json
import re
import subprocess

from torchlift.doctor.facts import Toolkit
from torchlift.doctor.probes.world import World

_WINDOWS_FOLDER = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA"
_CUDA_VERSION = re.compile(r"^\s*#\s*define\s+CUDA_VERSION\s+(\d+)", re.MULTILINE)


def toolkits(world: World) -> list[Toolkit]:
    """Toolkits in the customary folders, in CUDA_HOME, CUDA_PATH and CUDA_ROOT, and around the first nvcc on PATH."""
    active = _active(world)
    folders = [] if active is None else [active]
    folders += [world.environment.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    folders += [f"/usr/local/{name}" for name in world.names("/usr/local", "cuda*")]
    folders += ["/opt/cuda"]
    if world.is_windows:
        folders += [f"{_WINDOWS_FOLDER}\\{name}" for name in world.names(_WINDOWS_FOLDER, "v*")]
    found: dict[str, Toolkit] = {}
    for folder in filter(None, folders):
        real = world.real(folder)
        if real in found or not world.is_folder(real):
            continue
        version = _version(world, real)
        # CUDA_HOME=/usr/local/cuda after a purge, or a folder that holds nothing but a compat package.
        if version is not None or folder == active:
            found[real] = Toolkit(real, version or _answer(world), on_path=folder == active)
    return list(found.values())


def _active(world: World) -> str | None:
    """The folder around the first nvcc on PATH: around the real file, or, as in Debian, around the link to it."""
    nvcc = world.which("nvcc")
    if nvcc is None:
        return None
    folders = [_above(_above(path)) for path in (world.real(nvcc), nvcc)]
    return next((world.real(folder) for folder in folders if _version(world, folder)), folders[0])


def _answer(world: World) -> str | None:
    """What the first nvcc on PATH says itself: "Cuda compilation tools, release 13.0, V13.0.48"."""
    nvcc = world.which("nvcc")
    if nvcc is None:
        return None
    try:
        done = subprocess.run(
            [world.at(nvcc), "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=2, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    match = re.search(rb"release (\d+\.\d+)", done.stdout)
    return match[1].decode() if match else None


def _above(path: str) -> str:
    return re.sub(r"[/\\][^/\\]*$", "", path) or "/"


def _version(world: World, folder: str) -> str | None:
    """From version.json (11.1 on), version.txt (before), or the header cuda.h (Linux distributions, conda)."""
    try:
        version = json.loads(world.text(f"{folder}/version.json") or "")["cuda"]["version"]
        if isinstance(version, str):
            return version
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    match = re.match(r"CUDA Version (\d+(?:\.\d+)+)", world.text(f"{folder}/version.txt") or "")
    if match:
        return match[1]
    headers = [f"{folder}/include/cuda.h"]
    headers += [f"{folder}/targets/{name}/include/cuda.h" for name in world.names(f"{folder}/targets")]
    for header in headers:
        match = _CUDA_VERSION.search(world.text(header) or "")
        if match:
            number = int(match[1])
            return f"{number // 1000}.{number % 1000 // 10}"
    return None
