"""What text and JSON answer about whole machines: that they agree, and that the words help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from doctor_machines import changed

from torchlift.doctor.cli import doctor
from torchlift.doctor.facts.facts_json import to_json


def examined(tmp_path: Path, machine: str, change: dict[str, Any], *options: str) -> Result:
    """The command's output about a changed machine of the fixtures."""
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(to_json(changed(machine, change))), encoding="utf-8")
    return CliRunner().invoke(doctor, ["--facts", str(file), *options])


def described(*options: str) -> Result:
    return CliRunner().invoke(doctor, list(options))


def test_gpus_that_say_the_same_share_a_line(tmp_path: Path) -> None:
    text = " ".join(examined(tmp_path, "healthy_8xh100", {"gpus.*.power_limit": 350.0}).output.split())
    assert text.count("350 W") == 1
    assert "GPU 0 (NVIDIA H100 80GB HBM3) is limited to 350 W of 700 W; GPUs 1, 2, 3, 4, 5, 6, 7 likewise" in text


def test_gpus_that_share_a_line_keep_their_commands_and_their_evidence(tmp_path: Path) -> None:
    change = {"gpus.1.compute_mode": "prohibited", "gpus.4.compute_mode": "prohibited"}
    result = examined(tmp_path, "healthy_8xh100", change, "-v")
    assert "GPU 4 likewise (compute-mode)" in " ".join(result.output.split())
    assert "sudo nvidia-smi -i 1 -c DEFAULT" in result.output and "sudo nvidia-smi -i 4 -c DEFAULT" in result.output
    assert "compute mode of GPU 4" in result.output
    assert result.exit_code == 1


def test_gpus_that_say_different_things_keep_lines_of_their_own(tmp_path: Path) -> None:
    change = {"gpus.0.power_limit": 350.0, "gpus.1.power_limit": 400.0}
    text = examined(tmp_path, "healthy_8xh100", change).output
    assert "350 W" in text and "400 W" in text and "likewise" not in text


def test_hidden_gpus_do_not_make_another_torch_the_answer(tmp_path: Path) -> None:
    change = {"environment.CUDA_VISIBLE_DEVICES": "", "libcuda.devices": []}
    report = json.loads(examined(tmp_path, "healthy_h100", change, "--json").output)
    assert report["answer"]["choice"]["build"] == "cu132"
    assert "uninstall" not in report["answer"]["choice"]["pip"]
    assert report["exit_code"] == 1


ARC = {"address": "0000:03:00.0", "vendor": "8086", "device": "e20b", "pci_class": "0300", "driver": "xe"}
LEVEL_ZERO = {"other.level_zero": "/usr/lib/x86_64-linux-gnu/libze_loader.so.1"}


@pytest.mark.parametrize(
    ("change", "build", "healthy"),
    [
        ({"pci": [ARC], **LEVEL_ZERO}, "xpu", False),
        ({"pci": [{**ARC, "device": "0bd5", "pci_class": "0380"}]}, "xpu", False),
        ({"pci": [{**ARC, "device": "3e92"}], **LEVEL_ZERO}, "cpu", True),
        ({"other.rocm_devices": [{"node": 1, "architecture": "gfx1100"}]}, "rocm7.2", False),
        ({"other.rocm_devices": [{"node": 1, "architecture": "gfx1036"}]}, "cpu", True),
        ({"other.rocm_devices": [{"node": 1, "architecture": "gfx1036"}], "pci": [ARC], **LEVEL_ZERO}, "xpu", False),
    ],
)
def test_the_verdict_on_a_cpu_build_is_that_of_the_json_answer(
    tmp_path: Path, change: dict[str, Any], build: str, healthy: bool
) -> None:
    report = json.loads(examined(tmp_path, "no_gpu_cpu_torch", change, "--json").output)
    assert report["answer"]["choice"]["build"] == build
    assert report["verdict"].startswith("Healthy:") is healthy
    if not healthy:
        assert "no GPU was found" not in report["verdict"]


def test_each_environment_of_a_split_machine_gets_its_commands() -> None:
    text = described("--gpu", "P100", "--gpu", "RTX 5090", "--driver", "580.95.05").output
    for build, torch in (("cu130", "2.15"), ("cu126", "2.14")):
        root = "https://download.pytorch.org/whl/"
        wanted = f'"torch=={torch}.*" --index-url {root}{build}'
        assert f"pip: python3 -m venv .venv-{build} && .venv-{build}/bin/pip install {wanted}\n" in text
        assert f"uv:  uv venv .venv-{build} && uv pip install --python .venv-{build} {wanted}\n" in text


def test_the_environments_of_a_split_machine_are_shown_their_gpus_by_uuid(tmp_path: Path) -> None:
    change = {
        "gpus.0.name": "Tesla P100-PCIE-16GB", "gpus.0.compute_capability": "6.0",
        "gpus.1.name": "NVIDIA GeForce RTX 5090", "gpus.1.compute_capability": "12.0",
        **{f"gpus.-{index}": None for index in (7, 6, 5, 4, 3, 2)},
        "libcuda.devices": [], "libcuda.outcome": "error",
    }  # fmt: skip
    facts = changed("healthy_8xh100", change)
    parts = json.loads(examined(tmp_path, "healthy_8xh100", change, "--json").output)["answer"]["parts"]
    assert {names[0]: choice["build"] for names, choice in parts} == {
        "NVIDIA GeForce RTX 5090": "cu130",
        "Tesla P100-PCIE-16GB": "cu126",
    }
    assert parts[0][1]["reasons"][-1] == f"start its programs with CUDA_VISIBLE_DEVICES={facts.gpus[1].uuid}"
    assert ".venv-cu130" in parts[0][1]["pip"]


@pytest.mark.parametrize(
    ("name", "first"),
    [("RTX 4900", "GeForce RTX 4090"), ("V10", "Tesla V100"), ("H10", "H100"), ("RTX 3900", "GeForce RTX 3090")],
)
def test_a_mistyped_gpu_gets_the_likeliest_one_first(name: str, first: str) -> None:
    result = described("--gpu", name)
    assert result.exit_code == 2 and f"Did you mean {first}," in result.output


def test_explain_knows_smokes_too() -> None:
    text = described("--explain", "alloc").output
    assert text.startswith("alloc (smoke, quick): ") and "- Needs: nothing." in text
    assert json.loads(described("--explain", "matmul-half", "--json").output)["id"] == "matmul-half"
    assert "Did you mean alloc" in described("--explain", "aloc").output


@pytest.mark.parametrize(
    ("name", "build"), [("Max 1550", "xpu"), ("Arc B580", "xpu"), ("UHD 630", "cpu"), ("RX7900XTX", "rocm7.2")]
)
def test_cards_of_other_makers_are_known_by_name(name: str, build: str) -> None:
    report = json.loads(described("--gpu", name, "--json").output)
    assert report["answer"]["choice"]["build"] == build
