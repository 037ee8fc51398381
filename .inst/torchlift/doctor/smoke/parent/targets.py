"""Which devices a run is about, and how a smoke is shown one of them alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from torchlift.doctor.facts import Gpu
from torchlift.lazy_dataclass import dataclass

_BUILDS = {"cuda": "CUDA or ROCm", "xpu": "XPU", "mps": "MPS"}

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Asks a process of the examined interpreter, see `trial.perform`."""


class TargetError(ValueError):
    """A device that was asked for does not exist; the message is for the user."""


@dataclass(frozen=True)
class Target:
    """A device to run on. `environment` is what makes it visible, such as CUDA_VISIBLE_DEVICES for a MIG slice."""

    name: str
    device: dict[str, Any]
    environment: dict[str, str] = field(default_factory=dict)
    gpu: Gpu | None = None
    """The same device as NVML describes it, when it is known which."""


def ready_timeout(gpus: int) -> float:
    """Seconds for an answer that starts the driver: without persistence mode it wakes each GPU, which takes seconds."""
    return 30.0 + 5.0 * gpus


def find_targets(
    asked: Sequence[str], gpus: Sequence[Gpu], share: tuple[int, int], ask: Ask
) -> tuple[list[Target], str | None]:
    """The devices to run on, and why they are what they are when that is not what one expects.

    Args:
        asked: names or UUIDs; none for all visible GPUs, or the CPU.
        gpus: what NVML says.
        share: (which, of how many) processes of this machine that divide the devices among themselves.
        ask: asks the process that has imported torch.

    Raises:
        TargetError: if a device does not exist.
    """
    found = ask({"do": "devices"})
    problem = found.get("problem") or found.get("reason")
    if found.get("outcome") in ("timeout", "stuck"):
        problem = f"the driver did not answer within {ready_timeout(len(gpus)):g} s"
    devices = {device["name"]: device for device in found.get("devices", [])}
    devices.setdefault("cpu", {"name": "cpu", "kind": "cpu", "title": "CPU", "count": os.cpu_count() or 1})
    visible = [device["name"] for device in devices.values() if device["kind"] != "cpu"]
    slices = {slice.uuid: gpu for gpu in gpus for slice in gpu.mig_slices if slice.uuid}
    names, note = list(asked), None
    if not names and slices and "CUDA_VISIBLE_DEVICES" not in os.environ:
        # One process sees one MIG slice: each is made visible by itself. GPUs that are not sliced come along.
        names = [*(gpu.uuid for gpu in gpus if gpu.uuid and not gpu.mig_enabled), *slices]
    elif not names and visible:
        names = visible
    elif not names and problem and gpus:
        names, note = ["cuda:0"], f"torch finds no GPU although NVML does: {problem}"
    elif not names:
        names, note = ["cpu"], f"no GPU: {problem}" if problem else "torch finds no GPU; running on the CPU"
    built = found.get("built")
    chosen = dict.fromkeys(_own_part(names, *share))
    return [_target(name, devices, gpus, slices, built, ask) for name in chosen], note


def _target(
    name: str,
    devices: dict[str, Any],
    gpus: Sequence[Gpu],
    slices: dict[str, Gpu],
    built: Sequence[str] | None,
    ask: Ask,
) -> Target:
    if name.startswith(("GPU-", "MIG-")):
        environment = {"CUDA_VISIBLE_DEVICES": name}
        seen = _accelerators(ask({"do": "devices", "environment": environment}))
        gpu = slices.get(name) or next((gpu for gpu in gpus if gpu.uuid == name), None)
        return Target(name, seen[0] if seen else _unknown("cuda:0"), environment, gpu)
    name = f"{name}:0" if name in _BUILDS else name
    if name in devices:
        return Target(name, devices[name], gpu=_as_nvml(devices[name], gpus))
    kind = name.partition(":")[0]
    there = ", ".join(devices)
    if kind in _BUILDS and built is not None and kind not in built:
        raise TargetError(
            f"There is no device {name!r}: this torch is built without {_BUILDS[kind]}. Devices: {there}."
        )
    if kind in _BUILDS and not any(each.startswith(kind) for each in devices):
        return Target(name, _unknown(name))  # the first smoke will tell why it is not there
    raise TargetError(f"There is no device {name!r}. Devices: {there}.")


def alone(target: Target, environment: Mapping[str, str], ask: Ask) -> Target:
    """The same device with the others hidden, which spares every smoke waking them; as it is when that cannot be done.

    Args:
        target: the device among all.
        environment: of the process that runs the smokes.
        ask: asks that process. Whether the one device that is left is the same is seen, not assumed: a variable may
            count in another order than torch does.
    """
    hidden = hide_others(target.device, environment)
    if not hidden:
        return target
    seen = _accelerators(ask({"do": "devices", "environment": hidden}))
    if len(seen) != 1 or any(seen[0].get(key) != target.device.get(key) for key in ("title", "memory", "uuid", "pci")):
        return target
    return Target(target.name, seen[0], hidden, target.gpu)


def hide_others(device: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that leaves only this device visible; empty where there is no other, or none that can be relied on.

    CUDA counts within CUDA_VISIBLE_DEVICES. HIP counts within HIP_VISIBLE_DEVICES or, without it, CUDA_VISIBLE_DEVICES,
    and both within ROCR_VISIBLE_DEVICES (`torch.cuda._parse_visible_devices` of 2.13.0, lines 889 to 921). Level Zero
    counts within ZE_AFFINITY_MASK, whose entries may be tiles ("0.1"), and ONEAPI_DEVICE_SELECTOR counts otherwise.
    """
    name, _, number = str(device["name"]).partition(":")
    if int(device.get("count") or 1) < 2 or not number.isdecimal():
        return {}
    if device["kind"] == "cuda":
        variable = "CUDA_VISIBLE_DEVICES"
    elif device["kind"] == "rocm":
        variables = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
        variable = next((each for each in variables if each in environment), variables[0])
    elif name == "xpu" and "ONEAPI_DEVICE_SELECTOR" not in environment:
        variable = "ZE_AFFINITY_MASK"
    else:
        return {}
    if variable not in environment:
        return {variable: number}
    listed = [entry.strip() for entry in environment[variable].split(",")]
    return {variable: listed[int(number)]} if int(number) < len(listed) else {}


def _accelerators(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [device for device in found.get("devices", []) if device["kind"] != "cpu"]


def _own_part(names: list[str], which: int, number: int) -> list[str]:
    """The devices of one of several processes of a machine, each of which sees all of them or only its own."""
    if names == ["cpu"]:
        return names if which == 0 else []
    # Fewer than processes: a scheduler that gives each its own GPUs and hides the others.
    return names[which::number] if len(names) >= number else names


def _unknown(name: str) -> dict[str, Any]:
    return {"name": name, "kind": name.partition(":")[0], "title": None, "count": 1}


def _as_nvml(device: dict[str, Any], gpus: Sequence[Gpu]) -> Gpu | None:
    """The same GPU as NVML knows it: CUDA may count in another order, so the UUID or the PCI address decides."""
    if device["kind"] != "cuda":
        return None
    uuid, pci = device.get("uuid"), device.get("pci")
    for gpu in gpus:
        if uuid and gpu.uuid and gpu.uuid.removeprefix("GPU-") == str(uuid).removeprefix("GPU-"):
            return gpu
        if pci and gpu.pci_address and gpu.pci_address.lower() == pci:
            return gpu
    return gpus[0] if len(gpus) == 1 and device.get("count") == 1 and not (uuid or pci) else None
