"""The copies of a driver library: which are found, which can be loaded."""

from __future__ import annotations

from torchlift.doctor.facts import DriverLibrary, Facts

_SIGNS = ("file too short", "invalid ELF header", "wrong ELF class", "Exec format", "has no cuInit")
WSL_FOLDER = "/usr/lib/wsl/"


def libraries(facts: Facts, name: str = "libcuda.so.1") -> list[DriverLibrary]:
    """The copies of a driver library in the order in which the loader looks."""
    return [library for library in facts.kernel_driver.libraries if library.name == name]


def loaded_libcuda(facts: Facts) -> DriverLibrary | None:
    """The copy of libcuda.so.1 that programs get: the one the probe loaded, else the first that the loader finds."""
    found = libraries(facts)
    for library in found:
        if facts.libcuda.path in (library.path, library.real_path):
            return library
    return found[0] if found else None


def unloadable(facts: Facts, name: str) -> bool:
    """Whether a file of this name is there and is no library that could be loaded."""
    outcome = facts.libcuda.outcome if name == "libcuda.so.1" else facts.nvml.outcome
    if outcome not in ("missing", "error"):
        return False
    said = loader_said(facts, name) or ""
    return any(library.size == 0 for library in libraries(facts, name)) or any(sign in said for sign in _SIGNS)


def loader_said(facts: Facts, name: str) -> str | None:
    """What the loader said of libcuda or NVML, or else what its first call did."""
    answer = facts.libcuda if name == "libcuda.so.1" else facts.nvml
    return answer.library_error or answer.text


def hides_windows_driver(facts: Facts) -> bool:
    """Under WSL 2, another libcuda than that of Windows is the one that is loaded."""
    library = loaded_libcuda(facts)
    if facts.system.wsl != 2 or library is None:
        return False
    return not library.path.startswith(WSL_FOLDER) and not library.real_path.startswith(WSL_FOLDER)
