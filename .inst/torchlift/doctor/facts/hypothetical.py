"""A machine that is only described: GPUs by name, a driver version, a platform."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torchlift.doctor.facts import Facts, Gpu, OtherAccelerators, PciCard, Python, RocmDevice, System
from torchlift.wheels.amd_gpus import architecture_of
from torchlift.wheels.compatibility import INTEGRATED
from torchlift.wheels.gpus import KnownGpu, by_name
from torchlift.wheels.intel_gpus import intel_gpu_named

_COUNT = re.compile(r"\s*(\d{1,3})\s*[x\u00d7*]\s*(.+)", re.IGNORECASE)
_MOST = 64

# Sources: NVIDIA's product pages of GH200, GB200, GB300, DGX Spark and Jetson Thor, and AWS' of G5g (T4G): these chips
# come on Arm boards only.
_ARM_ONLY = frozenset({(11, 0), (12, 1)})
_GRACE = re.compile(r"\b(gh200|gb200|gb300|t4g)\b", re.IGNORECASE)


class DescriptionError(ValueError):
    """The description means no machine; the text is a sentence that says why and what would."""


def described(
    gpus: Sequence[str],
    *,
    driver: str | None = None,
    os: str | None = None,
    machine: str | None = None,
    python: str | None = None,
) -> Facts:
    """Facts with nothing in them but the description.

    Args:
        gpus: names as people use them, "V100" or "2xH100".
        driver: version of the NVIDIA driver, "580" or "580.95.05".
        os: "linux", "windows" or "darwin"; Linux if not said.
        machine: "x86_64" or "aarch64"; if not said, what the GPU comes on.
        python: "3.12"; unknown if not said.

    Raises:
        DescriptionError: a name, the driver or the Python is not understood.
    """
    known = [gpu for name in gpus for gpu in _named(name)]
    facts = Facts(hypothetical=True)
    arm = any(gpu.capability in INTEGRATED | _ARM_ONLY or _GRACE.search(gpu.name) for gpu in known)
    apple = os == "darwin"
    facts.system = System(os=os or "linux", machine=machine or ("aarch64" if arm or apple else "x86_64"))
    if any(gpu.capability in INTEGRATED for gpu in known):
        facts.system.jetson_release = "release not known"
    if apple or any(gpu.vendor == "apple" for gpu in known):
        facts.system.os = "darwin"
        facts.system.machine = machine or "aarch64"
        facts.other = OtherAccelerators(mps=facts.system.machine == "aarch64")
    facts.gpus = [
        Gpu(index, name=gpu.name, compute_capability=".".join(map(str, gpu.capability)) if gpu.capability else None)
        for index, gpu in enumerate(gpu for gpu in known if gpu.vendor == "nvidia")
    ]
    facts.other.rocm_devices = [
        RocmDevice(node, architecture_of(gpu.name) or "", gpu.name)
        for node, gpu in enumerate(gpu for gpu in known if gpu.vendor == "amd")
    ]
    intel = [gpu.name for gpu in known if gpu.vendor == "intel"]
    if intel:
        facts.other.level_zero = "libze_loader.so.1"
        facts.pci = [
            PciCard(f"0000:{slot:02x}:00.0", "8086", _intel_id(name), "0300") for slot, name in enumerate(intel, 3)
        ]
    if driver is not None:
        if re.fullmatch(r"[rR]?\d{3,4}(\.\d+){0,3}", driver.strip()) is None:
            raise DescriptionError(f"{driver!r} is not a driver version; write it like 580 or 580.95.05")
        facts.nvml.driver_version = driver.strip().lstrip("rR")
    if python is not None:
        if re.fullmatch(r"3\.\d{1,2}(\.\d+)?t?", python.strip()) is None:
            raise DescriptionError(
                f"{python!r} is not a Python version; write it like 3.12, or 3.14t for free threading"
            )
        facts.python = Python(version=python.strip().rstrip("t"), free_threaded=python.strip().endswith("t"))
    return facts


def _intel_id(name: str) -> str:
    found = intel_gpu_named(name)
    if found is not None:
        return found.pci_device
    # UHD 630 stands for all graphics before Xe, which XPU builds are not for.
    return "3e92" if re.search(r"\b(u?hd|iris)\b", name, re.IGNORECASE) else "0000"


def _named(text: str) -> list[KnownGpu]:
    counted = _COUNT.fullmatch(text)
    number, name = (int(counted[1]), counted[2]) if counted else (1, text)
    if not 1 <= number <= _MOST:
        raise DescriptionError(f"{text!r} means {number} GPUs; a machine has 1 to {_MOST}")
    found = by_name(name)
    if found.gpu is not None:
        return [found.gpu] * number
    if found.ambiguous:
        meanings = " or ".join(f"{gpu.name} ({_dotted(gpu)})" for gpu in found.ambiguous)
        raise DescriptionError(f"{name!r} may be {meanings}; say which, or give the compute capability, such as 8.6")
    if found.suggestions:
        raise DescriptionError(
            f"There is no GPU {name!r} in torchlift's table. Did you mean {', '.join(found.suggestions)}?"
        )
    raise DescriptionError(
        f"There is no GPU {name!r} in torchlift's table; give its compute capability instead, such as 8.6 or sm_90"
    )


def _dotted(gpu: KnownGpu) -> str:
    return ".".join(map(str, gpu.capability)) if gpu.capability else gpu.vendor
