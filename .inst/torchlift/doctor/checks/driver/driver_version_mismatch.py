"""Kernel module and user-space libraries of different driver versions."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok
from torchlift.doctor.checks.severity import breaks_torch
from torchlift.doctor.derived.kernel_module import installed_versions, versions_differ
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.restart import restart

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
    sources=(
        "NVML return code 18, reproduced with nvidia-ml-py 13.615.71, 2026-11-21",
        "https://github.com/oddmario/NVIDIA-Ubuntu-Driver-Guide/issues/4",
    ),
)


def look(facts: Facts) -> Iterator[Result]:
    kernel = facts.kernel_driver.version
    found = installed_versions(facts)
    if not versions_differ(facts):
        if kernel and found == {kernel} and facts.nvml.outcome == "ok":
            yield ok(f"Kernel module and libraries are both of driver {kernel}")
        return
    installed = ", ".join(sorted(found)) or "another version"
    if facts.system.container:
        remedy = Remedy(
            "Take the NVIDIA driver packages (libnvidia-compute, nvidia-utils) out of the image: the container runtime "
            "mounts the host's libraries. If the host was upgraded just now, restart the host"
        )
    else:
        remedy = restart(facts, ", so that the module of the installed driver is loaded")
    yield Result(
        breaks_torch(facts),
        f"The loaded kernel module is of driver {kernel or 'another version'}, the libraries are of {installed}",
        evidence=(
            Evidence("kernel module", kernel or "unknown", needed=installed, source="/proc/driver/nvidia/version"),
            *(
                Evidence(library.name, library.version or "unknown", needed=kernel, source=library.real_path)
                for library in facts.kernel_driver.libraries
                if not library.compat and not library.stub
            ),
            Evidence("NVML", facts.nvml.name or facts.nvml.outcome, needed="ok", source="nvmlInit"),
        ),
        remedy=remedy,
        link="https://github.com/oddmario/NVIDIA-Ubuntu-Driver-Guide/issues/4",
    )
