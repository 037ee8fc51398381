"""The lines that a report names do what they say in the environment that was examined."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from doctor_machines import changed

from torchlift.doctor.derived.torch_origin import torch_origin
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, uninstall
from torchlift.doctor.remedies.wheel_remedy import fitted, wheel_answer
from torchlift.wheels.driver_view import DriverView

V100 = {
    "gpus.*.name": "Tesla V100-SXM2-16GB",
    "gpus.*.compute_capability": "7.0",
    "libcuda.devices.*.compute_capability": "7.0",
    "kernel_driver.version": "580.95.05",
}


def environment(**more: Any) -> Facts:
    return changed("healthy_h100", more)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "pip install x"),
        ({"environment": {}}, "pip install x"),
        ({"environment": {"VIRTUAL_ENV": "/home/user/venv", "PATH": "/usr/bin"}}, "pip install x"),
        (
            {"environment": {"CONDA_PREFIX": "/opt/conda", "PATH": "/usr/bin"}},
            "/home/user/venv/bin/python -m pip install x",
        ),
        ({"environment": {"PATH": "/usr/bin"}}, "/home/user/venv/bin/python -m pip install x"),
        (
            {"python.executable": "/home/a b/bin/python", "environment": {"PATH": "/usr/bin"}},
            "'/home/a b/bin/python' -m pip install x",
        ),
        (
            {
                "system.os": "windows",
                "python.executable": "C:\\a b\\Scripts\\python.exe",
                "python.prefix": "C:\\a b",
                "environment": {"PATH": "C:\\Windows"},
            },
            '"C:\\a b\\Scripts\\python.exe" -m pip install x',
        ),
        (
            {
                "python.executable": "/usr/bin/python3",
                "python.prefix": "/usr",
                "environment": {"PATH": "/bin:/usr/bin"},
            },
            "pip install x",
        ),
        (
            {"python.executable": "/usr/bin/python3.12", "python.prefix": "/usr", "environment": {"PATH": "/bin"}},
            "/usr/bin/python3.12 -m pip install x",
        ),
        ({"packages.torch.installer": "uv"}, "uv pip install x"),
        (
            {"packages.torch.installer": "uv", "environment": {"PATH": "/usr/bin"}},
            "uv pip install --python /home/user/venv/bin/python x",
        ),
    ],
)
def test_a_line_acts_on_the_examined_interpreter(change: dict[str, Any], line: str) -> None:
    assert install(environment(**change), "x") == line


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ("torch==2.14.1+cu126", " --index-url https://download.pytorch.org/whl/cu126"),
        ("torchvision==0.29.2+cpu", " --index-url https://download.pytorch.org/whl/cpu"),
        ("torch==2.14.1", ""),
        ("torch==2.13.0a0+gitdeadbee", ""),
        (
            "torch==2.16.0.dev20261101+cu132",
            " --pre --index-url https://download.pytorch.org/whl/nightly/cu132",
        ),
    ],
)
def test_a_build_that_pypi_does_not_have_is_taken_from_its_index(wanted: str, index: str) -> None:
    assert install(environment(), wanted) == f"pip install {wanted}{index}"


def test_what_conda_installed_is_changed_by_conda() -> None:
    facts = environment(
        **{
            "packages.torch.installer": "conda",
            "python.conda_environment": "/opt/conda/envs/ml",
            "environment.CONDA_PREFIX": "/opt/conda",
        }
    )
    assert install(facts, "torch==2.15.0", reinstall=True) == (
        "conda install -y -p /opt/conda/envs/ml --force-reinstall pytorch=2.15.0"
    )
    assert uninstall(facts, "torch", "torchvision") == (
        "conda remove -y -p /opt/conda/envs/ml pytorch && /home/user/venv/bin/python -m pip uninstall -y torchvision"
    )
    facts.environment["CONDA_PREFIX"] = "/opt/conda/envs/ml"
    assert uninstall(facts, "torch") == "conda remove -y pytorch"


def test_the_lines_of_an_answer_replace_what_is_installed() -> None:
    facts = changed("healthy_h100", V100)
    answer = fitted(facts, wheel_answer(facts))
    assert answer.choice is not None
    assert answer.choice.pip.startswith('pip install --upgrade "torch==2.14.*"')
    assert answer.choice.uv.startswith('uv pip install --upgrade "torch==2.14.*"')
    facts = changed("healthy_h100", {**V100, "torch.version": "2.14.1+cu130", "packages.torch.version": "2.14.1"})
    answer = fitted(facts, wheel_answer(facts))
    assert answer.choice is not None
    # pip calls another build of the same release installed already.
    assert answer.choice.pip.startswith("pip uninstall -y torch torchvision && pip install ")
    assert answer.choice.uv.startswith("uv pip uninstall torch torchvision && uv pip install ")


def test_what_is_installed_already_is_not_taken_away() -> None:
    facts = changed("healthy_v100", {})
    answer = fitted(facts, wheel_answer(facts, "torch==2.14.1"))
    assert answer.choice is not None and answer.choice.pip.startswith("pip install ")


def test_parts_of_a_split_are_for_environments_of_their_own() -> None:
    facts = environment(
        **{
            "gpus.0.compute_capability": "6.0",
            "gpus.+": {"index": 1, "name": "NVIDIA GeForce RTX 5090", "compute_capability": "12.0"},
            "libcuda": {},
            "kernel_driver.version": "580.95.05",
        }
    )
    answer = fitted(facts, wheel_answer(facts))
    assert answer.kind == "split"
    for _, choice in answer.parts:
        assert f" -m venv .venv-{choice.build} && .venv-{choice.build}/bin/pip install " in choice.pip
        assert "--upgrade" not in choice.pip


@pytest.mark.parametrize(
    ("version", "installer", "origin"),
    [
        ("2.15.0+cu132", "pip", "release"),
        ("2.15.0rc2+cu132", "pip", "release"),
        ("2.16.0.dev20261101+cu132", "pip", "nightly"),
        ("2.13.0a0+gitdeadbee", "pip", "source"),
        ("2.9.0a0+145a3a7bda.nv25.10", "pip", "nvidia"),
        ("2.14.1", "conda", "conda"),
    ],
)
def test_where_a_torch_comes_from_is_told_by_its_version_and_installer(
    version: str, installer: str, origin: str
) -> None:
    assert torch_origin(environment(**{"torch.version": version, "packages.torch.installer": installer})) == origin


def test_jetson_wheels_of_nvidia_are_wheels() -> None:
    assert torch_origin(changed("jetson_orin", {"torch.version": "2.5.0a0+872d972e41.nv24.08"})) == "release"


def test_an_environment_that_uv_made_is_known_by_its_configuration(tmp_path: Path) -> None:
    import torchlift.doctor.probes.python_environment_child as probe

    venv.create(tmp_path / "env", with_pip=False, symlinks=sys.platform != "win32")
    python = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def made_by_uv() -> Any:
        done = subprocess.run([python, probe.__file__], input="{}", capture_output=True, text=True, check=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith(probe.MARK)]
        return json.loads(lines[-1].removeprefix(probe.MARK))["python"]["made_by_uv"]

    assert made_by_uv() is False
    with (tmp_path / "env" / "pyvenv.cfg").open("a") as file:
        file.write("uv = 0.9.1\n")
    assert made_by_uv() is True


def test_a_branch_alone_stands_for_its_releases() -> None:
    assert DriverView("595", None, "linux").meets_pair((13, 2))
    assert not DriverView("595.10", None, "linux").meets_pair((13, 2))
    assert not DriverView("590", None, "linux").meets_pair((13, 2))
