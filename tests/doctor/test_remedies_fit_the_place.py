"""A remedy is something that can be done where the doctor was run."""

from __future__ import annotations

import json
import re

import pytest
from doctor_machines import FIXTURES, changed
from exhaustive import is_exhaustive

from torchlift.doctor.checks.registry import all_checks
from torchlift.doctor.facts import Facts, KernelDriver

CHECKS = {check.id: check for check in all_checks()}
MACHINES = {
    f"{path.stem}: {case['name']}": case
    for path in sorted((FIXTURES / "checks").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
}
OF_THE_HOST = re.compile(
    r"\b(modprobe|rmmod|reboot|poweroff|mokutil|dracut|update-initramfs|systemctl|nvidia-modprobe|ubuntu-drivers|dmesg)\b"
    r"|nvidia-smi .*(-pl|-c |-mig|--gpu-reset)|/etc/modprobe\.d|(apt|dnf) install [^&]*(nvidia-(driver|open)|cuda-drivers)"
)


def commands(name: str, facts: Facts) -> list[str]:
    """What the check says that the machine was made for; in the exhaustive run what all checks say of it."""
    asked = CHECKS.values() if is_exhaustive() else [CHECKS[name.partition(":")[0]]]
    results = [result for check in asked for result in check.look(facts)]
    return [result.remedy.command for result in results if result.remedy is not None and result.remedy.command]


def cases() -> list[str]:
    return [name for name, case in MACHINES.items() if case["machine"] not in ("empty", "macos", "windows_4090")]


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_in_a_container_no_command_is_one_for_its_host(kind: str) -> None:
    for name in cases():
        case = MACHINES[name]
        facts = changed(case["machine"], case.get("change", {}))
        facts.system.container, facts.system.wsl = kind, 0
        for command in commands(name, facts):
            assert not OF_THE_HOST.search(command), f"{name}: {command}"


def test_under_wsl_nothing_of_the_linux_driver_is_loaded_installed_or_restarted() -> None:
    for name in cases():
        case = MACHINES[name]
        facts = changed(case["machine"], case.get("change", {}))
        facts.system.container, facts.system.wsl = "", 2
        # Of the PCI bus and the driver in the kernel WSL shows nothing.
        facts.pci, facts.kernel_driver = None, KernelDriver(libraries=facts.kernel_driver.libraries)
        for gpu in facts.gpus:
            gpu.mig_enabled = gpu.fabric_state = None
        for command in commands(name, facts):
            assert not OF_THE_HOST.search(command), f"{name}: {command}"


def test_a_command_of_the_host_is_known_as_one() -> None:
    for command in ("sudo modprobe nvidia", "sudo nvidia-smi -i 0 -pl 700", "sudo apt install nvidia-driver-580-open"):
        assert OF_THE_HOST.search(command)
    assert not OF_THE_HOST.search("nvidia-smi nvlink --status")
    assert not OF_THE_HOST.search("sudo apt remove --purge '^nvidia-.*'")
