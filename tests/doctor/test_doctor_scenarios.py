"""Whole machines: the real command, real nvidia-ml-py and ctypes, fake driver libraries, a made-up /proc and /sys."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from doctor_scenarios import CU126, Doctor
from fake_drivers import (
    B200,
    GB10,
    GTX_1080_TI,
    H100,
    P100,
    RTX_4090,
    RTX_5090,
    T4,
    UNKNOWN,
    V100,
    FakeDrivers,
    FakeGpu,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fake drivers need the Linux loader")


@pytest.fixture
def doctor(fake_drivers: FakeDrivers, tmp_path: Path) -> Doctor:
    return Doctor(fake_drivers, tmp_path)


@dataclass(frozen=True)
class Scenario:
    """A machine and what must be said about it: exit status, words of the verdict, checks that find something."""

    name: str
    gpus: Sequence[FakeGpu]
    code: int
    verdict: str
    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()
    fix: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)


R580 = {"driver": "580.95.05", "cuda": 13000}
CUDA_12 = {**R580, "torch": "2.14.1+cu126", "images": CU126}
NONE = {"nvml": False, "libcuda": False, "kernel": ""}

SCENARIOS = [
    Scenario("RTX 4090 with driver 595", [RTX_4090], 0, r"Healthy: NVIDIA GeForce RTX 4090 \(8\.9\) \+ driver 595\.58\.03"),
    Scenario("V100 with R580 and torch 2.15", [V100], 1, "no device code for Tesla V100", ["gpu-architecture"], (), "torch==2.14.*", R580),
    Scenario("V100 with R580 and torch 2.14 cu126", [V100], 0, "Healthy: Tesla V100", machine=CUDA_12),
    Scenario("P100 with torch 2.14 cu126", [P100], 0, "Healthy: Tesla P100", machine=CUDA_12),
    Scenario("GTX 1080 Ti with torch 2.15", [GTX_1080_TI], 1, "no device code", ["gpu-architecture"], (), "whl/cu126", R580),
    Scenario("T4 with torch 2.15", [T4], 0, "Healthy"),
    Scenario("B200", [B200], 0, "Healthy: NVIDIA B200"),
    Scenario("RTX 5090", [RTX_5090], 0, "Healthy: NVIDIA GeForce RTX 5090"),
    Scenario("H100 with R580 LTS and cu132", [H100], 0, "Healthy", machine=R580),
    Scenario(
        "H100 with R535", [H100], 1, "535.183.01.* is too old", ["driver-too-old"], (), "", {"driver": "535.183.01", "cuda": 12020}
    ),
    Scenario("16 GPUs", [H100] * 16, 0, "16 x NVIDIA H100"),
    Scenario("V100 beside H100", [V100, H100], 1, "no device code for Tesla V100", ["gpu-architecture"], (), "whl/cu126", R580),
    Scenario("an architecture that no table has", [UNKNOWN], 1, "no device code for NVIDIA Graphics Device", ["gpu-architecture"]),
    Scenario("a MIG slice", [H100.mig([("1g.10gb", 10 << 30)])], 0, "Healthy"),
    Scenario("a lost GPU", [H100, H100.having(nvmlDeviceGetName=15)], 1, "GPU 1 is lost", ["gpu-lost"]),
    Scenario("uncorrectable memory errors", [H100.having(ecc_uncorrected=3)], 0, "with 1 warning", (), ["ecc-errors"]),
    Scenario("compute mode prohibited", [H100.having(compute_mode=2)], 1, "refuse", ["compute-mode"], (), "-c DEFAULT"),
    Scenario(
        "library upgraded below a running module", [H100], 1, "kernel module is of driver 580.95.05",
        ["driver-version-mismatch"], (), "reboot", {"nvmlInitWithFlags": 18, "cuInit": 803, "kernel": "580.95.05"},
    ),
    Scenario(
        "module not loaded", [H100], 1, "kernel module is not loaded", ["driver-not-loaded"], (), "modprobe nvidia",
        {"nvmlInitWithFlags": 9, "cuInit": 100, "kernel": ""},
    ),
    Scenario("no driver", [H100], 1, "driver is not installed", ["driver-missing"], machine=NONE),
    Scenario("NVSwitch without fabric manager", [H100], 1, "fabric manager", ["fabric-manager"], (), "fabricmanager", {"cuInit": 802}),
    Scenario("compatibility package on GeForce", [RTX_4090], 1, "compatibility package", ["compat-package"], machine={"cuInit": 804}),
    Scenario("stub library", [H100], 1, "stub", ["stub-libcuda"], machine={"cuInit": 34}),
    Scenario("unknown error", [H100], 1, "gives no reason", ["cuda-unknown-error"], (), "nvidia_uvm", {"cuInit": 999}),
    Scenario("NVML fine and CUDA dead", [H100], 1, "CUDA does not start", ["nvml-and-cuda-disagree"], machine={"cuInit": 3}),
    Scenario(
        "hidden by CUDA_VISIBLE_DEVICES", [H100], 1, "CUDA_VISIBLE_DEVICES", ["cuda-visible-devices"], (), "unset",
        {"environment": {"CUDA_VISIBLE_DEVICES": "-1"}},
    ),
    Scenario("NVML may not be asked", [H100], 0, "Healthy, with", (), ["nvml-and-cuda-disagree"], machine={"nvmlInitWithFlags": 4}),
    Scenario("NVML of 0 bytes", [H100], 0, "Healthy, with", (), ["driver-library-broken"], machine={"nvml": b""}),
    Scenario("NVML that is no library", [H100], 0, "Healthy, with", (), ["driver-library-broken"], machine={"nvml": b"x" * 99}),
    Scenario("NVML crashes", [H100], 0, "Healthy, with", (), ["driver-hangs"], machine={"nvmlInitWithFlags": "crash"}),
    Scenario("libcuda crashes", [H100], 1, "libcuda crashes", ["driver-hangs"], machine={"cuInit": "crash"}),
    Scenario(
        "NVML hangs", [H100], 0, "Healthy, with", (), ["driver-hangs"],
        machine={"nvmlInitWithFlags": "hang", "arguments": ["--timeout", "2"]},
    ),
    Scenario(
        "libcuda hangs", [H100], 1, "libcuda does not answer", ["driver-hangs"],
        machine={"cuInit": "hang", "arguments": ["--timeout", "2"]},
    ),
    Scenario(
        "an old driver without newer functions", [T4], 1, "440.100.* is too old", ["driver-too-old"],
        machine={"old": True, "driver": "440.100", "cuda": 10020},
    ),
    Scenario("warnings are problems when strict", [H100.having(ecc_uncorrected=3)], 1, "1 warning: GPU 0", (), ["ecc-errors"],
             machine={"arguments": ["--strict"]}),
]  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.name for scenario in SCENARIOS])
def test_a_whole_machine_gets_the_right_verdict(scenario: Scenario, doctor: Doctor) -> None:
    if scenario.machine is NONE and Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a driver, which no stand-in hides")
    said = doctor.examine(scenario.gpus, **scenario.machine)
    assert re.search(scenario.verdict, said.verdict), said.verdict
    assert said.code == scenario.code == said.report["exit_code"]
    causes = {item["check"] for item in said.report["results"] if item["status"] == "problem" and item["below"] is None}
    assert causes == set(scenario.problems), said.found("problem")
    assert set(scenario.warnings) <= set(said.found("warning"))
    assert not said.found("failed")
    assert scenario.fix in said.commands()


def test_a_gb10_wants_the_wheel_for_its_processor(doctor: Doctor) -> None:
    said = doctor.examine([GB10], images=[75, 80, 86, 90, 100, 120])
    assert not said.found("failed")
    assert "gpu-architecture" not in said.found("problem")


def test_what_is_planned_is_not_held_against_what_is_installed(doctor: Doctor) -> None:
    said = doctor.examine([V100], **R580, arguments=["--for", "torch==2.14.1"])
    assert said.code == 0 and "2.14.1 (cu126) runs on Tesla V100" in said.verdict
    assert said.report["answer"]["choice"]["build"] == "cu126"
    assert {item["group"] for item in said.report["results"]}.isdisjoint({"torch", "packages"})


def test_a_plan_that_cannot_be_is_told_with_what_can(doctor: Doctor) -> None:
    said = doctor.examine([V100], **R580, arguments=["--for", "torch==2.15"])
    assert said.code == 1 and "2.14" in said.verdict
    assert "torch==2.14.*" in said.report["answer"]["alternatives"][0]["pip"]


def test_saved_facts_give_the_same_answer_elsewhere(doctor: Doctor, tmp_path: Path) -> None:
    here = doctor.examine([V100], **R580, arguments=["--save-facts", str(tmp_path / "facts.json")])
    import json
    import subprocess

    command = [sys.executable, "-m", "torchlift", "doctor", "--json", "--facts", str(tmp_path / "facts.json")]
    there = subprocess.run(command, capture_output=True, text=True, check=False)
    assert there.returncode == here.code == 1
    assert json.loads(there.stdout) == here.report
