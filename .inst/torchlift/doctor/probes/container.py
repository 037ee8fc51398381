"""Whether this is a container, and of which kind."""

from __future__ import annotations

import re

from torchlift.doctor.probes.world import World

_SINGULARITY = ("SINGULARITY_CONTAINER", "SINGULARITY_NAME", "APPTAINER_CONTAINER", "APPTAINER_NAME")
_CGROUP_WORDS = [
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("docker", "docker"),
    ("/lxc", "lxc"),
]


def container(world: World) -> str | None:
    """The kind as in `System.container`, "" outside, None where nothing can be read.

    The inner one counts: Apptainer is started in Kubernetes, not the other way round, and Kubernetes leaves Docker's
    and Podman's traces.
    """
    if not world.is_linux:
        return ""
    if any(world.environment.get(name) for name in _SINGULARITY) or world.exists("/.singularity.d"):
        return "singularity"
    cgroup = (world.text("/proc/self/cgroup") or "") + (world.text("/proc/1/cgroup") or "")
    if (
        world.environment.get("KUBERNETES_SERVICE_HOST")
        or "kubepods" in cgroup
        or world.exists("/run/secrets/kubernetes.io")
        or world.exists("/var/run/secrets/kubernetes.io")
    ):
        return "kubernetes"
    if world.exists("/run/.containerenv"):
        return "podman"
    if world.exists("/.dockerenv"):
        return "docker"
    # systemd writes the name that its manager gave, "wsl" included, which is none.
    manager = (world.text("/run/systemd/container") or world.environment.get("container", "")).strip().lower()
    if manager and manager != "wsl":
        return manager if manager in ("docker", "podman", "lxc") else "unknown"
    for word, kind in _CGROUP_WORDS:
        if word in cgroup:
            return kind
    mounts = world.text("/proc/self/mountinfo")
    if mounts is None:
        return "" if cgroup or world.is_folder("/proc/1") else None
    root = next((line for line in mounts.splitlines() if line.split(" ")[4:5] == ["/"]), "")
    return "unknown" if re.search(r"\boverlay\b.*(?:containerd|/containers/storage|buildkit)", root) else ""
