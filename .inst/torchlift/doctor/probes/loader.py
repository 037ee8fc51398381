"""Where the loader would find a shared library."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.probes.loader_cache import CACHE, cached_libraries
from torchlift.doctor.probes.world import World
from torchlift.lazy_dataclass import dataclass

_CACHE_LIMIT = 64 << 20
_MULTIARCH = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
# Folders where drivers are put; the loader searches the first four of itself, the rest only if it is told to.
_FOLDERS = """
    /lib64 /usr/lib64 /lib /usr/lib /lib/{multiarch} /usr/lib/{multiarch}
    /usr/lib/wsl/lib /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/{multiarch}/nvidia
    /usr/lib/{multiarch}/tegra /usr/lib64/nvidia /usr/lib/nvidia /run/opengl-driver/lib
""".split()


@dataclass(frozen=True)
class FoundLibrary:
    """A file of the name asked for; `found_by` is "LD_LIBRARY_PATH", "ldconfig" or "directory"."""

    path: str
    found_by: str


def find_library(world: World, name: str) -> Iterator[FoundLibrary]:
    """Every file of this name, each once, in the loader's order, then those in customary folders beside its path.

    Links are followed for "each once", the path is the one found. Files that a link promises but that are not there
    are left out, as the loader leaves them out.
    """
    seen = set()
    for found in _candidates(world, name):
        if world.size(found.path) is not None:
            real = world.real(found.path)
            if real not in seen:
                seen.add(real)
                yield found


def _candidates(world: World, name: str) -> Iterator[FoundLibrary]:
    if world.is_windows:
        system = world.environment.get("SYSTEMROOT", "C:\\Windows")
        for folder in (f"{system}\\System32", "C:\\Program Files\\NVIDIA Corporation\\NVSMI"):
            yield FoundLibrary(f"{folder}\\{name}", "directory")
        return
    # glibc takes semicolons too.
    for entry in world.environment.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":"):
        if entry.startswith("/"):
            yield FoundLibrary(f"{entry.rstrip('/')}/{name}", "LD_LIBRARY_PATH")
    machine = normal_machine(world.machine)
    data = world.data(CACHE, _CACHE_LIMIT) or b""
    for cached, path in cached_libraries(data, machine):
        if cached == name:
            yield FoundLibrary(path, "ldconfig")
    folders = [folder.format(multiarch=_MULTIARCH.get(machine, f"{machine}-linux-gnu")) for folder in _FOLDERS]
    for toolkit in world.names("/usr/local", "cuda*"):
        folders += [f"/usr/local/{toolkit}/compat{inner}" for inner in ("", "/lib", "/lib.real")]
    for folder in folders:
        yield FoundLibrary(f"{folder}/{name}", "directory")


def normal_machine(machine: str) -> str:
    """ "x86_64" and "aarch64" under whatever name the system has for them; others as they are."""
    return {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine)
