"""Kernel module and user-space libraries of different driver versions."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result
from torchlift.doctor.derived.driver_state import breaks_torch, in_container, libraries
from torchlift.doctor.facts import Facts


def look(facts: Facts) -> Iterator[Result]:
    kernel = facts.kernel_driver.version
    found = installed_versions(facts)
    if not versions_differ(facts):
        if kernel and found == {kernel} and facts.nvml.outcome == "ok":
            yield Result("ok", f"Kernel module and libraries are both of driver {kernel}")
        return
    installed = ", ".join(sorted(found)) or "another version"
    if in_container(facts):
        remedy = Remedy(
            "Take the NVIDIA driver packages (libnvidia-compute, nvidia-utils) out of the image: the container runtime "
            "mounts the host's libraries. If the host was upgraded just now, restart the host"
        )
    else:
        remedy = Remedy("Restart, so that the module of the installed driver is loaded", "sudo reboot")
    yield Result(
        breaks_torch(facts),
        f"The loaded kernel module is of driver {kernel or 'another version'}, the libraries are of {installed}",
        (
            Evidence("kernel module", kernel or "unknown", installed, "/proc/driver/nvidia/version"),
            *(
                Evidence(library.name, library.version or "unknown", kernel, library.real_path)
                for library in facts.kernel_driver.libraries
                if not library.compat and not library.stub
            ),
            Evidence("NVML", facts.nvml.name or facts.nvml.outcome, "ok", "nvmlInit"),
        ),
        remedy,
        link="https://github.com/oddmario/NVIDIA-Ubuntu-Driver-Guide/issues/4",
    )


def versions_differ(facts: Facts) -> bool:
    """NVML refuses for this reason, or the versions differ and CUDA does not start."""
    if facts.nvml.code == 18:
        return True
    kernel = facts.kernel_driver.version
    dead = facts.libcuda.outcome == "error" and facts.nvml.outcome != "ok"
    return bool(dead and kernel and installed_versions(facts) and kernel not in installed_versions(facts))


def installed_versions(facts: Facts) -> set[str]:
    """Versions of the driver's own libraries: no compatibility package, no stubs, no WSL."""
    found = libraries(facts) + libraries(facts, "libnvidia-ml.so.1")
    return {library.version for library in found if library.version and not library.compat and not library.stub}


CHECK = Check(
    id="driver-version-mismatch",
    group="driver",
    title="Kernel module and driver libraries have one version",
    why=(
        "A driver upgrade replaces the libraries at once, the module in the kernel only at the next start. In between, "
        "nvidia-smi says `Failed to initialize NVML: Driver/library version mismatch`, nvidia-ml-py `RM has detected an "
        "NVML/RM version mismatch.`, and torch finds no GPU. To keep unattended upgrades from doing it again, hold the "
        "driver's packages (`apt-mark hold`)."
    ),
    look=look,
    sources=(
        "NVML return code 18, reproduced with nvidia-ml-py 13.615.71, 2026-11-21",
        "https://github.com/oddmario/NVIDIA-Ubuntu-Driver-Guide/issues/4",
    ),
)
