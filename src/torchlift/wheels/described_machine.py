"""The machine that a project is installed on, as its user names it: GPUs and a driver, or a facts file.

A facts file is what `torchlift doctor --save-facts` writes. Of its many fields the few that choosing a wheel needs are
read here, leniently: the doctor itself checks the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torchlift.lazy_pattern import lazy_pattern
from torchlift.wheels.compatibility import INTEGRATED, capability
from torchlift.wheels.gpus import KnownGpu, by_name
from torchlift.wheels.machine import Device, Machine

FACTS_SCHEMA = 1
"""The schema number of the facts that are understood, as in the doctor."""

_COUNT = lazy_pattern(r"\s*(\d{1,3})\s*[x\u00d7*]\s*(.+)", re.IGNORECASE)
_DRIVER = lazy_pattern(r"[rR]?(\d{3,4}(?:\.\d+){0,3})")
# Source: NVIDIA's product pages of GH200, GB200, GB300, DGX Spark and Jetson Thor: these come on Arm boards only.
_ARM_ONLY = frozenset({(11, 0), (12, 1)})
_GRACE = lazy_pattern(r"\b(gh200|gb200|gb300)\b", re.IGNORECASE)


class MachineError(ValueError):
    """The description means no machine; the text is a sentence that says why."""


def named_machine(names: Sequence[str], driver: str | None = None) -> Machine:
    """A Linux machine with these GPUs ("V100", "2xH100", "sm_90") and driver ("580", "580.95.05").

    Raises:
        MachineError: a name or the driver is not understood.
    """
    known = [_named(name) for name in names]
    version = None
    if driver is not None:
        match = _DRIVER.fullmatch(driver.strip())
        if match is None:
            raise MachineError(f"{driver!r} is not a driver version; write it like 580 or 580.95.05.")
        version = match[1]
    arm = any(gpu.capability in INTEGRATED | _ARM_ONLY or _GRACE.search(gpu.name) for gpu in known)
    return Machine(
        tuple(Device(gpu.name, gpu.capability, gpu.vendor) for gpu in known),
        driver=version,
        machine="aarch64" if arm else "x86_64",
        jetson=any(gpu.capability in INTEGRATED for gpu in known),
    )


def machine_in_facts(path: Path) -> Machine:
    """The machine of a facts file: its GPUs, driver and platform. Its Python is left out: requirements are for others too.

    Raises:
        MachineError: the file cannot be read, or holds no facts with a GPU in them.
    """
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise MachineError(f"The facts file {path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise MachineError(f"The facts file {path} is not JSON: {error}.") from None
    if not isinstance(value, Mapping) or value.get("schema") != FACTS_SCHEMA:
        raise MachineError(
            f"The facts file {path} has not schema {FACTS_SCHEMA}; write it with `torchlift doctor --save-facts FILE` of "
            "this version."
        )
    system, nvml, cuda = (_object(value, key) for key in ("system", "nvml", "libcuda"))
    # libcuda's list comes after CUDA_VISIBLE_DEVICES; without a driver that answers, the bus names the cards.
    listed = _objects(cuda, "devices") if cuda.get("outcome") == "ok" else []
    listed = listed or [gpu for gpu in _objects(value, "gpus") if not gpu.get("lost")]
    devices = [Device(str(gpu.get("name") or "GPU"), capability(_text(gpu, "compute_capability"))) for gpu in listed]
    devices = devices or _on_the_bus(value)
    if not devices:
        raise MachineError(f"The facts file {path} names no NVIDIA GPU; name the GPUs with --gpus.")
    version = nvml.get("driver_version") or _object(value, "kernel_driver").get("version")
    libc = _numbers(_text(system, "libc_version"))
    number = cuda.get("version") if cuda.get("outcome") == "ok" else nvml.get("cuda_version")
    return Machine(
        tuple(devices),
        driver=version if isinstance(version, str) else None,
        cuda_driver=number if isinstance(number, int) else None,
        os=_text(system, "os") or "linux",
        machine=_text(system, "machine") or "x86_64",
        glibc=libc if system.get("libc") == "glibc" else None,
        musl=system.get("libc") == "musl",
        jetson=bool(system.get("jetson_release")),
    )


def _named(text: str) -> KnownGpu:
    counted = _COUNT.fullmatch(text)
    name = (counted[2] if counted else text).strip()
    found = by_name(name)
    if found.gpu is not None:
        return found.gpu
    if found.ambiguous:
        meanings = " or ".join(f"{gpu.name} ({_dotted(gpu)})" for gpu in found.ambiguous)
        raise MachineError(f"{name!r} may be {meanings}; say which, or give the compute capability, such as 8.6.")
    if found.suggestions:
        raise MachineError(
            f"There is no GPU {name!r} in torchlift's table. Did you mean {', '.join(found.suggestions)}?"
        )
    raise MachineError(
        f"There is no GPU {name!r} in torchlift's table; give its compute capability instead, such as 8.6 or sm_90."
    )


def _on_the_bus(value: Mapping[str, Any]) -> list[Device]:
    from torchlift.wheels.gpus import by_pci_device

    found = []
    for card in _objects(value, "pci"):
        known = by_pci_device(_text(card, "device") or "") if card.get("vendor") == "10de" else None
        if known is not None:
            found.append(Device(known.name, known.capability))
    return found


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _objects(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = value.get(key)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _text(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None


def _numbers(text: str | None) -> tuple[int, int] | None:
    match = re.match(r"(\d{1,4})\.(\d{1,4})", text or "")
    return (int(match[1]), int(match[2])) if match else None


def _dotted(gpu: KnownGpu) -> str:
    return ".".join(map(str, gpu.capability)) if gpu.capability else gpu.vendor
