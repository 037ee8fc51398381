"""What is compared between machines: one function each, from facts to a short text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from torchlift.doctor.facts import Facts, Gpu, Package
from torchlift.lazy_dataclass import dataclass

_COMPARED_VARIABLES = ("NCCL_", "TORCH_NCCL_", "TORCH_DIST", "TORCH_DISTRIBUTED_", "UCX_", "FI_", "GLOO_")
_RANKS_OWN = frozenset({"TORCH_NCCL_RANKS_PER_ROOT"})


@dataclass(frozen=True)
class Aspect:
    """Something that machines of one job should have in common.

    Attributes:
        id: kebab-case, stable.
        title: a column or line of the report.
        read: its value on a machine, None where it is not known there.
        weight: "warning" where a difference breaks or slows jobs, "note" where it may explain something.
        of_gpus: compared among machines with the same models of GPU only: other models differ in it anyway.
    """

    id: str
    title: str
    read: Callable[[Facts], str | None]
    weight: str = "warning"
    of_gpus: bool = False


def gpu_kinds(facts: Facts) -> frozenset[str]:
    """The models of a machine's GPUs, however many there are of each."""
    return frozenset(gpu.name or "unknown GPU" for gpu in facts.gpus)


def gpu_models(facts: Facts) -> str | None:
    """Such as "8 x NVIDIA H100 80GB HBM3"; "no GPU" only where a driver answered so."""
    if facts.gpus:
        names = Counter(gpu.name or "unknown GPU" for gpu in facts.gpus)
        return ", ".join(f"{count} x {name}" for name, count in sorted(names.items()))
    if facts.libcuda.devices:
        names = Counter(device.name or "unknown GPU" for device in facts.libcuda.devices)
        return ", ".join(f"{count} x {name}" for name, count in sorted(names.items()))
    if facts.other.rocm_devices:
        names = Counter(device.name or device.architecture for device in facts.other.rocm_devices)
        return ", ".join(f"{count} x {name}" for name, count in sorted(names.items()))
    return "no GPU" if facts.nvml.outcome in ("ok", "missing") and facts.pci is not None and not facts.pci else None


def driver(facts: Facts) -> str | None:
    """The NVIDIA driver, as NVML or the kernel module says."""
    return facts.nvml.driver_version or facts.kernel_driver.version


def torch_version(facts: Facts) -> str | None:
    """The torch that would be imported."""
    return None if facts.torch is None else facts.torch.version


def nccl(facts: Facts) -> str | None:
    """The NCCL that torch's wheel brings."""
    return _versions(facts, lambda package: package.name.startswith("nvidia-nccl-"))


def _versions(facts: Facts, wanted: Callable[[Package], bool]) -> str | None:
    found = sorted({package.version for package in facts.packages if wanted(package)})
    return ", ".join(found) or None


def _package(name: str) -> Callable[[Facts], str | None]:
    return lambda facts: None if (found := facts.package(name)) is None else found.version


def _of_gpus(read: Callable[[Gpu], object]) -> Callable[[Facts], str | None]:
    """One value for all GPUs of a machine; where its own differ, a count of each."""

    def value(facts: Facts) -> str | None:
        counted = Counter(str(found) for gpu in facts.gpus if (found := read(gpu)) is not None)
        if len(counted) <= 1:
            return next(iter(counted), None)
        return ", ".join(f"{text} ({count} GPUs)" for text, count in sorted(counted.items()))

    return value


def _nvlinks(gpu: Gpu) -> str | None:
    if gpu.nvlinks_active is None:
        return None
    return f"{gpu.nvlinks_active} up" + (f", {gpu.nvlinks_inactive} down" if gpu.nvlinks_inactive else "")


def _domain(gpu: Gpu) -> str | None:
    return None if gpu.fabric_cluster is None else f"clique {gpu.fabric_clique} of {gpu.fabric_cluster}"


def _pcie(gpu: Gpu) -> str | None:
    # The width stays when a GPU sleeps, the current generation does not.
    if gpu.pcie_width is None:
        return None
    return f"x{gpu.pcie_width}" + (f" gen {gpu.pcie_generation_max}" if gpu.pcie_generation_max else "")


def _power(gpu: Gpu) -> str | None:
    return None if gpu.power_limit is None else f"{gpu.power_limit:g} W"


def _clock(gpu: Gpu) -> str | None:
    return None if gpu.sm_clock_max is None else f"{gpu.sm_clock_max} MHz"


def _peers(facts: Facts) -> str | None:
    if not facts.peers:
        return None
    access = Counter(link.read for link in facts.peers)
    ways = Counter(link.topology or "unknown" for link in facts.peers)
    parts = [f"{count} {state}" for state, count in sorted(access.items())]
    return ", ".join(parts) + " over " + ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))


def _variables(facts: Facts) -> str | None:
    found = _compared(facts.environment)
    return ", ".join(f"{name}={value}" for name, value in sorted(found.items())) or "none"


def _compared(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_COMPARED_VARIABLES) and name not in _RANKS_OWN
    }


def _memory(facts: Facts) -> str | None:
    return None if facts.system.memory is None else f"{facts.system.memory / 2**30:.0f} GiB"


def _shm(facts: Facts) -> str | None:
    return None if facts.system.shm_total is None else f"{facts.system.shm_total / 2**30:.0f} GiB"


def _memlock(facts: Facts) -> str | None:
    limit = facts.system.memlock_limit
    return None if limit is None else ("unlimited" if limit < 0 else f"{limit // 1024} KiB")


def _distribution(facts: Facts) -> str | None:
    system = facts.system
    return " ".join(part for part in (system.distribution or system.os, system.distribution_version) if part) or None


def _cuda_of_driver(facts: Facts) -> str | None:
    version = facts.nvml.cuda_version or facts.libcuda.version
    return None if version is None else f"{version // 1000}.{version % 1000 // 10}"


ASPECTS: tuple[Aspect, ...] = (
    Aspect("gpus", "GPUs", gpu_models),
    Aspect("driver", "NVIDIA driver", driver),
    Aspect("cuda-of-driver", "CUDA of the driver", _cuda_of_driver),
    Aspect("rocm", "ROCm", lambda facts: facts.other.rocm_version),
    Aspect("torch", "torch", torch_version),
    Aspect("nccl", "NCCL", nccl),
    Aspect("cudnn", "cuDNN", lambda facts: _versions(facts, lambda package: package.name.startswith("nvidia-cudnn-"))),
    Aspect("triton", "Triton", _package("triton")),
    Aspect("python", "Python", lambda facts: facts.python.version or None),
    Aspect("variables", "NCCL and network variables", _variables),
    Aspect(
        "mig",
        "MIG",
        _of_gpus(lambda gpu: None if gpu.mig_enabled is None else ("on" if gpu.mig_enabled else "off")),
        of_gpus=True,
    ),
    Aspect(
        "ecc",
        "ECC",
        _of_gpus(lambda gpu: None if gpu.ecc_enabled is None else ("on" if gpu.ecc_enabled else "off")),
        of_gpus=True,
    ),
    Aspect("nvlinks", "NVLinks a GPU", _of_gpus(_nvlinks), of_gpus=True),
    Aspect("nvlink-domain", "NVLink domain", _of_gpus(_domain), "note", of_gpus=True),
    Aspect("pcie", "PCIe a GPU", _of_gpus(_pcie), of_gpus=True),
    Aspect("peers", "peer-to-peer access", _peers, of_gpus=True),
    Aspect("power-limit", "power limit a GPU", _of_gpus(_power), of_gpus=True),
    Aspect("clock", "highest SM clock", _of_gpus(_clock), of_gpus=True),
    Aspect("shm", "/dev/shm", _shm),
    Aspect("memlock", "locked memory limit", _memlock),
    Aspect(
        "container",
        "container",
        lambda facts: None if facts.system.container is None else facts.system.container or "none",
    ),
    Aspect("gsp", "GSP firmware", _of_gpus(lambda gpu: gpu.gsp_firmware), "note", of_gpus=True),
    Aspect("memory", "memory", _memory, "note"),
    Aspect("system", "operating system", _distribution, "note"),
    Aspect("kernel", "kernel", lambda facts: facts.system.kernel, "note"),
)


def known(machines: Iterable[Facts]) -> tuple[Aspect, ...]:
    """The aspects of which at least one machine knows a value."""
    facts = list(machines)
    return tuple(aspect for aspect in ASPECTS if any(aspect.read(machine) is not None for machine in facts))
