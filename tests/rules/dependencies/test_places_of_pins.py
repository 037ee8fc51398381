"""Places of a pin or an image that are easily overlooked: programs with their path, functions of setup.py, old tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.finding import Severity
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion

RULES = frozenset(code for code in all_rules() if code.startswith("TL3"))

SETUP = (
    'import setuptools\n\nversion = "torch>=1.7,<2.3"\nbase = [version, "gputils"]\n\n\ndef required():\n    return base\n\n\n'
    'setuptools.setup(name="a", install_requires=required())\n'
)
COPIED = "# Copied from another file, so that pip-compile can resolve it\ntorch==2.3.1\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "Dockerfile",
            "FROM a\nRUN /opt/conda/bin/conda install pytorch=0.4.1 -c pytorch\n",
            [("TL308", 2), ("TL309", 2)],
        ),
        ("run.sh", ".venv/bin/pip install torch==2.3.1\n", [("TL309", 1)]),
        ("run.sh", "$HOME/venv/bin/pip3 install torch==2.3.1\n", [("TL309", 1)]),
        ("Dockerfile", "FROM pytorch/pytorch:1.1.0-cuda10.0-cudnn7.5-devel\n", [("TL302", 1)]),
        ("dockerfile", "FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel\n", [("TL302", 1)]),
        ("setup.py", SETUP, [("TL309", 3)]),
        ("Dockerfile", "ARG TAG=23.10\nFROM nvcr.io/nvidia/pytorch:${TAG}-py3\n", [("TL302", 1)]),
        ("requirements.txt", "torch-scatter==2.1.0+pt113cu117\n", [("TL309", 1)]),
        ("a.md", "```sh\nls\n\nText\n\n```sh\npip install torch==2.3.1\n```\n", [("TL309", 7)]),
        (
            "a.md",
            "````md\n```sh\nls\n```\npip install torch==2.3.1\n````\n\npip install torch==2.3.1\n",
            [("TL309", 5)],
        ),
        (
            "compose.yml",
            "services:\n  a:\n    image: ${BASE:-pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel}\n",
            [("TL302", 3)],
        ),
        ("compose.yml", "x:\n  args:\n    - TORCH_VERSION=2.3.1\n", [("TL310", 3)]),
        ("devcontainer.json", '{\n  "image": "pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel"\n}\n', [("TL302", 2)]),
        (".gitlab-ci.yml", "a:\n  image:\n    name: nvcr.io/nvidia/pytorch:23.10-py3\n", [("TL302", 3)]),
        (
            "a.yml",
            "a:\n  image: pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel\n  script:\n  - pip install torch==2.3.1\n",
            [("TL302", 2), ("TL309", 4)],
        ),
        ("a.yml", 'matrix:\n  torch: ${{ fromJSON(\'["2.0.1", "2.3.1"]\') }}\n', [("TL310", 2)]),
        (
            "Dockerfile",
            "FROM ${REGISTRY}nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN pip install torch==2.3.1\n",
            [("TL302", 1), ("TL309", 2)],
        ),
        (
            "Dockerfile",
            "FROM a.b:5000/library/nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN pip install torch==2.3.1\n",
            [("TL302", 1), ("TL309", 2)],
        ),
        (
            "env.def",
            "Bootstrap: docker\nFrom: pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel\n%post\n  pip install torch==2.3.1\n",
            [("TL302", 2), ("TL309", 4)],
        ),
        ("Jenkinsfile", "// sh 'pip install torch==2.2.0'\nsh 'pip install torch==2.3.1'\n", [("TL309", 2)]),
        ("docker-bake.hcl", 'variable "TORCH_VERSION" {\n  default = "2.3.1"\n}\n', [("TL310", 2)]),
        ("justfile", "torch := '2.3.1'\na:\n    pip install torchvision==0.18.1\n", [("TL309", 3), ("TL310", 1)]),
        ("run.sh", "enroot import docker://nvcr.io#nvidia/pytorch:23.10-py3\n", [("TL302", 1)]),
        ("run.sh", "apptainer pull docker://pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel\n", [("TL302", 1)]),
        (".env", "INDEX=https://download.pytorch.org/whl/cu118\n", [("TL301", 1)]),
        ("tox.toml", '[env_run_base]\ndeps = ["torch==2.3.1"]\n', [("TL309", 2)]),
        (
            "environment.yml",
            "channels:\n  - pytorch\ndependencies:\n  - pytorch\n  - pytorch-cuda=11.8\n",
            [("TL308", 2), ("TL308", 5)],
        ),
        ("meta.yaml", "requirements:\n  run:\n    - pytorch >=2.0,<2.2\n    - python\n", [("TL309", 3)]),
        ("python_env.yaml", "python: 3.12\ndependencies:\n- torch==2.3.1\n", [("TL309", 3)]),
        ("requirements.txt", "torchvision==0.23.0.dev20250622\n", [("TL309", 1)]),
        ("a.py", 'import ray\n\nENV = {"pip": ["numpy", "torch==2.3.1"]}\n', [("TL309", 3)]),
        ("a.py", 'KNOWN = ["numpy", "torch==2.3.1"]  # pip\n', []),
        ("a.py", '# /// script\n# dependencies = [\n#     "torch==2.3.1",\n# ]\n# ///\n', [("TL309", 3)]),
        ("run.sh", 'IMAGE="${IMAGE:-nvcr.io/nvidia/pytorch:25.01-py3}"\n', [("TL302", 1)]),
        ("a.md", "1. ```docker run nvcr.io/nvidia/pytorch:20.11-py3```\n", [("TL302", 1)]),
        (
            "Makefile",
            "BASE_IMAGE ?= 'nvidia/cuda:11.3.1-devel-ubuntu20.04'\nPYTORCH_VERSION := 1.10.0\n",
            [("TL302", 1), ("TL310", 2)],
        ),
        (
            "compose.yml",
            "args:\n  BASE: nvidia/cuda:11.3.1-devel-ubuntu20.04\n  TORCH_VERSION: 1.10.0\n",
            [("TL302", 2), ("TL310", 3)],
        ),
        (
            "Dockerfile",
            "ARG V=12.4.0\nARG BASE=nvidia/cuda:${V}-devel-ubuntu24.04\nFROM ${BASE}\nRUN pip install torch\n",
            [("TL302", 1)],
        ),
        ("values.yaml", "image:\n  repository: nvcr.io/nvidia/pytorch\n  tag:\n", []),
        ("values.yaml", "image:\n  repository:\n  tag: 23.10-py3\nfor: torch\n", []),
        (
            "kustomization.yaml",
            "images:\n- name: pytorch/pytorch\n  newName:\n  newTag: 2.1.0-cuda12.1-cudnn8-devel\n",
            [("TL302", 4)],
        ),
        (
            "values.yaml",
            'image:\n  pullPolicy: Always\n  tag: "23.10-py3"\n  repository: nvcr.io/nvidia/pytorch\n',
            [("TL302", 3)],
        ),
        (
            "kustomization.yaml",
            "images:\n- name: a\n  newTag: 1.0\n- name: b\n  newName: pytorch/pytorch\n  newTag: 2.1.0-cuda12.1-cudnn8-devel\n",
            [("TL302", 6)],
        ),
        (
            ".gitlab-ci.yml",
            "a:\n  image: ubuntu:22.04\n  script:\n  - apt-get install -y python3-pip\n  - pip install torch\nb:\n  image: ubuntu:18.04\n",
            [("TL307", 2)],
        ),
        (
            "pyproject.toml",
            '[project]\nname = "a"\nrequires-python = "==3.10.11"\ndependencies = ["torch"]\n',
            [("TL307", 3)],
        ),
        (
            "Dockerfile",
            "FROM nvidia/cuda:11.8.0-devel-ubuntu24.04\nRUN pip install torch --index-url https://download.pytorch.org/whl/cu118\n",
            [("TL301", 2), ("TL302", 1)],
        ),
        ("pyproject-gpu.toml", '[project]\nname = "a"\ndependencies = ["torch==2.3.1"]\n', [("TL309", 3)]),
        ("mkdocs.yml", "extra:\n  pytorch_version: 1.13\n", []),
        ("env.txt", "# platform: linux-64\npytorch=1.11.0=py3.8_cuda11.3_cudnn8.2.0_0\n", [("TL309", 2)]),
        (
            "environment.yml",
            "channels:\n  - conda-forge\ndependencies:\n  - pytorch=1.10\n  - torchvision=0.11.1\n",
            [("TL309", 4), ("TL309", 5)],
        ),
        ("meta.yaml", "requirements:\n  run:\n    - torchvision <0.15\n", [("TL309", 3)]),
        ("cog.yaml", "build:\n  python_packages:\n    - pytorch==1.4.0\n", [("TL309", 3)]),
        (
            "pyproject.toml",
            '[[tool.hatch.envs.test.matrix]]\ntorch = ["2.1", "2.5"]\n[other]\ntorch = ["2.1"]\n',
            [("TL310", 2)],
        ),
        (
            "noxfile.py",
            'import nox\n\n\n@nox.parametrize("torch", ["2.1", "2.10"])\ndef a(session, torch): ...\n',
            [("TL310", 4)],
        ),
        *(
            ("noxfile.py", f'import nox\n\n\n@nox.parametrize("{name}", {listed})\ndef a(session): ...\n', [])
            for name, listed in (
                ("torch", ["2.1", "2.15.0+cu130"]),
                ("torch", ["2.1", "latest"]),
                ("torch", ["2.1", "2.15.*"]),
                ("deps", ["torch==2.1.0 torchvision==0.16.0", "torch"]),
            )
        ),
        (
            "noxfile.py",
            'import nox\n\nTORCH_VERSIONS = ("2.1", "2.15")\nWHAT = ["torch==1.9 numpy"]\n\n\n@nox.parametrize("a", ["torch==2.1 numpy", "torch==2.7"])\ndef a(session, a): ...\n',
            [("TL310", 7)],
        ),
    ],
)
def test_it_is_told_where_it_stands(path: str, text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    assert told(tmp_path, path, text) == expected


def test_a_word_about_a_tool_does_not_make_a_file_one_that_a_tool_made(tmp_path: Path) -> None:
    (tmp_path / "constraints.txt").write_text(COPIED)
    (tmp_path / "requirements.txt").write_text("#    pip-compile requirements.in\n#\ntorch==2.3.1\n")
    left = {
        outcome.path: str(finding.help)
        for outcome in result_of(tmp_path, "constraints.txt", "requirements.txt").outcomes
        for finding in outcome.left
    }
    assert ["A tool made this file" in left[path] for path in sorted(left)] == [False, True]


def test_a_form_for_reports_installs_nothing(tmp_path: Path) -> None:
    (tmp_path / ".github/ISSUE_TEMPLATE").mkdir(parents=True)
    form = "body:\n- type: textarea\n  attributes:\n    placeholder: e.g., Python 3.10, torch==2.3.0+cu118\n"
    assert told(tmp_path, ".github/ISSUE_TEMPLATE/bug.yml", form) == []
    assert told(tmp_path, "bug.yml", form) == [("TL309", 4)]


_NAMED = (
    "hub.example.com/pytorch/pytorch:v1.8.0-torch1.9-ubuntu18.04-py37 a/b:pytorch1.13 a/b:pt2.1-cu121 a/b:py38-torch113-cu117 a/b:torch171 "
    "1234.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:1.13.1-gpu-py39-cu117-ubuntu20.04-sagemaker "
    "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-13:latest gcr.io/deeplearning-platform-release/pytorch-cu121.2-2.py310 "
    "rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0 intel/intel-extension-for-pytorch:2.1.10-xpu "
    "vault.habana.ai/gaudi-docker/1.14.0/ubuntu22.04/habanalabs/pytorch-installer-2.1.0:latest bitnami/pytorch:2.0 "
    "determinedai/environments:cuda-11.3-pytorch-1.12-gpu-0.24.0 nvcr.io/nvidia/l4t-pytorch:r32.7.1-pth1.10-py3 "
    "mosaicml/pytorch:1.13.1_cu117-python3.10-ubuntu20.04 pytorch/pytorch:1.9"
).split()


@pytest.mark.parametrize("image", _NAMED)
@pytest.mark.parametrize(
    ("path", "text"), [("DOCKERFILE", "FROM {}\n"), ("a.yml", "a:\n  image: {}\n"), ("a.sh", "docker run {}\n")]
)
def test_an_image_of_anybody_whose_name_says_its_torch_is_told(
    image: str, path: str, text: str, tmp_path: Path
) -> None:
    assert [code for code, _ in told(tmp_path, path, text.format(image))] == ["TL302"]


def test_a_folder_and_another_tools_release_are_no_images_with_a_torch(tmp_path: Path) -> None:
    text = "python models/torch-2.1/x.py\ncp envs/torch-1.9 a\ndocker run pytorch/torchserve:0.7.1-gpu a/pytorch-app:1.2 rocm/pytorch:latest\n"
    assert told(tmp_path, "a.sh", text) == []


_PIP = "RUN apt-get install -y git \\\n    python3-pip\nRUN pip3 install torch\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM nvidia/cuda:12.1.0-runtime-ubuntu22.04\n" + _PIP, [("TL307", 1)]),
        ("FROM nvidia/cuda:10.1-base\n" + _PIP, [("TL302", 1), ("TL307", 1)]),
        ("FROM nvidia/cuda:10.1-base\nRUN conda install pytorch -c pytorch\n", [("TL302", 1), ("TL308", 2)]),
        ("FROM debian:buster-slim\n" + _PIP, [("TL307", 1)]),
        ("ARG SYSTEM=18.04\nFROM ubuntu:${SYSTEM}\n" + _PIP, [("TL302", 1), ("TL307", 1)]),
        ("ARG PYTHON=3.8\nFROM python:${PYTHON}-slim\nRUN pip install torch\n", [("TL307", 1)]),
        ("FROM continuumio/miniconda3:4.9.2\nRUN pip install torch\n", [("TL307", 1)]),
        (
            "FROM ubuntu:24.04\nRUN apt-get install -y python3.10-dev\nRUN python3.10 -m pip install torch\n",
            [("TL307", 2)],
        ),
        ("FROM ubuntu:24.04\nARG V=3.9\nRUN apt-get install -y python${V}\nRUN pip install torch\n", [("TL307", 2)]),
        (
            "FROM ubuntu:18.04 AS a\n" + _PIP.partition("RUN pip3")[0] + "FROM a\nRUN pip3 install torch\n",
            [("TL302", 1), ("TL307", 1)],
        ),
        (
            "FROM ubuntu:18.04 AS a\n" + _PIP.partition("RUN pip3")[0] + "FROM ubuntu:24.04\nRUN pip3 install torch\n",
            [],
        ),
        ("FROM ubuntu:22.04\n" + _PIP + "RUN apt-get install -y python3.12\n", []),
        ("FROM ubuntu:22.04\nRUN sh Miniconda3-latest-Linux-x86_64.sh\n" + _PIP, []),
        ("FROM ubuntu:22.04\n" + _PIP.replace("pip3 install", "uv pip install"), []),
        ("FROM continuumio/miniconda3:4.9.2\nRUN conda create -n a python=3.12\nRUN pip install torch\n", []),
        ("FROM ubuntu:18.04\n" + _PIP.replace("torch", "flask"), []),
    ],
)
def test_the_system_below_torch_is_told_where_it_is_too_old(
    text: str, expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    assert told(tmp_path, "Dockerfile", text) == expected


_STEP = "    steps:\n    - run: pip install torch==2.15.0\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("ci.yml", "jobs:\n  a:\n    services:\n      db:\n        image: postgres:11-stretch\n" + _STEP, []),
        ("ci.yml", "jobs:\n  a:\n    services:\n      db:\n        image: ubuntu:18.04\n" + _STEP, []),
        ("ci.yml", "jobs:\n  a:\n    container:\n      image: ubuntu:18.04\n" + _STEP, [("TL302", 4)]),
        (
            "ci.yml",
            "jobs:\n  a:\n    docker:\n      - image: ubuntu:18.04\n      - image: debian:9\n" + _STEP,
            [("TL302", 4)],
        ),
        (
            "compose.yml",
            "services:\n  a:\n    image: ubuntu:18.04\n    command: pip install torch\n  b:\n    image: debian:9\n",
            [("TL302", 3)],
        ),
        ("Dockerfile", "FROM a/stretch-robot_cuda:latest\n" + _PIP, []),
        ("Dockerfile", "FROM corp/pytorch:0.1.0\n", []),
        ("compose.yml", "a:\n  image: corp/frontend:pt-1.4.2\n", []),
        ("Dockerfile", "FROM a/b:torch1.71\n", []),
        ("Dockerfile", "FROM ubuntu:22.04\nRUN ./unknown.sh\n" + _PIP, []),
        ("Dockerfile", "FROM ubuntu:22.04\nRUN add-apt-repository ppa:deadsnakes/ppa\n" + _PIP, []),
        (
            "Dockerfile",
            "FROM continuumio/miniconda3:4.9.2\nRUN conda install --file a.txt\nRUN pip install torch\n",
            [],
        ),
        ("Dockerfile", "FROM continuumio/miniconda3:4.9.2\nRUN micromamba create -n a\nRUN pip install torch\n", []),
        ("Dockerfile", "FROM nvidia/cuda:9.0-base\n" + _PIP, [("TL302", 1), ("TL307", 1)]),
    ],
)
def test_an_image_counts_for_what_runs_in_it_and_by_what_it_surely_is(
    path: str, text: str, expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    assert told(tmp_path, path, text) == expected


def test_a_script_that_installs_another_python_takes_the_place_of_the_systems(tmp_path: Path) -> None:
    (tmp_path / "python.sh").write_text("apt-get install -y python3.12\n")
    assert told(tmp_path, "Dockerfile", "FROM ubuntu:22.04\nRUN bash python.sh\n" + _PIP) == []


def test_what_a_file_or_a_script_of_the_project_installs_counts_for_an_image(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "setup.sh").write_text("pip3 install torch\n")
    assert told(tmp_path, "Dockerfile", "FROM python:3.8\nRUN pip install -r requirements.txt\n") == [("TL307", 1)]
    script = "FROM ubuntu:18.04\nRUN apt-get install -y python3-pip\nRUN ./setup.sh\n"
    assert told(tmp_path, "gpu.Dockerfile", script) == [("TL302", 1), ("TL307", 1)]
    (tmp_path / "setup.sh").write_text("pip3 install flask\n")
    assert told(tmp_path, "gpu.Dockerfile", script) == []


def test_values_of_companions_go_with_that_of_torch_however_they_are_spelled(tmp_path: Path) -> None:
    text = (
        "PYTORCH_VERSION=2.0.1\nPYTORCH_VISION_VERSION=0.15.2\nbuild $PYTORCH_VERSION\nbuild $PYTORCH_VISION_VERSION\n"
    )
    (outcome,) = _all(tmp_path, "build.sh", text).outcomes
    assert (outcome.new_text or "").splitlines()[:2] == ["PYTORCH_VERSION=2.15.0", "PYTORCH_VISION_VERSION=0.29.2"]


def test_torch_stays_where_the_python_of_the_system_is_too_old_for_its_successor(tmp_path: Path) -> None:
    text = "FROM ubuntu:22.04\n" + _PIP.replace(
        "torch", "torch==2.3.1+cpu --index-url https://download.pytorch.org/whl/cpu"
    )
    result = _all(tmp_path, "Dockerfile", text)
    assert [outcome.new_text for outcome in result.outcomes if outcome.new_text is not None] == []
    newer = _all(tmp_path, "Dockerfile", text.replace("22.04", "24.04"))
    assert ["torch==2.15.0+cpu" in (outcome.new_text or "") for outcome in newer.outcomes] == [True]


def told(folder: Path, path: str, text: str) -> list[tuple[str, int]]:
    (folder / path).write_text(text)
    starts = [0, *(place + 1 for place, letter in enumerate(text) if letter == "\n")]
    found = [finding for outcome in result_of(folder, path).outcomes for finding in outcome.left]
    return sorted((item.code, sum(start <= item.span.start for start in starts)) for item in found)


def result_of(folder: Path, *paths: str) -> RunResult:
    python = tuple(path for path in paths if path.endswith(".py"))
    texts = tuple(path for path in paths if not path.endswith(".py"))
    settings = Settings(min_torch=TorchVersion(2, 0))
    result = analyse(RunOptions(folder, python, Mode.CHECK, RULES, False, settings, texts=texts))
    assert [failure.detail or failure.reason for failure in result.failures] == []
    return result


def test_a_text_of_code_keeps_no_torch_out(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('raise ImportError("pip install torch==2.1.0 first")\n')
    result = analyse(RunOptions(tmp_path, ("a.py",), Mode.CHECK, frozenset({"TL309"})))
    (finding,) = (finding for outcome in result.outcomes for finding in outcome.left)
    assert finding.severity is Severity.INFO
    assert finding.message == "`torch==2.1.0` here is older than torch 2.15, which this project moves to."


def _all(folder: Path, path: str, text: str) -> RunResult:
    (folder / path).write_text(text, encoding="utf-8")
    python, texts = ((path,), ()) if path.endswith(".py") else ((), (path,))
    settings = Settings(min_torch=TorchVersion(2, 0))
    return analyse(RunOptions(folder, python, Mode.DIFF, RULES, True, settings, texts=texts))


_BLOCK = '# /// script\n# dependencies = ["torch==2.9.0"]\n# ///\n'


@pytest.mark.parametrize(
    "text",
    [
        f'TEMPLATE = """\\\n{_BLOCK}"""\nprint(TEMPLATE)\n',
        _BLOCK.replace('"]', '"]  # torchlift: ignore[TL309] measured with it') + "print(1)\n",
    ],
    ids=["a script in a string", "a comment in the block is about its own line"],
)
def test_a_script_that_is_not_one_or_is_to_stay_is_not_edited(text: str, tmp_path: Path) -> None:
    result = _all(tmp_path, "run.py", text)
    assert [outcome.new_text for outcome in result.outcomes if outcome.new_text is not None] == []
    assert [finding.code for outcome in result.outcomes for finding in outcome.left] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'incompatible_packages = ["torch==1.13.1"]\nskip_deps = ["torch==1.9.0"]\n'),
        ("a.py", 'x = "docker knows no pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"\n'),
        (
            "Dockerfile",
            "FROM nvidia/cuda:13.0.1-devel-ubuntu22.04 AS base\nRUN ls\nFROM ubuntu:24.04 AS Base\nFROM base\n"
            "RUN pip install torch==2.15.0 --index-url https://download.pytorch.org/whl/cpu\n",
        ),
    ],
    ids=["names that keep releases out", "prose about an image", "a stage that takes another's name"],
)
def test_what_asks_for_no_torch_is_not_told(path: str, text: str, tmp_path: Path) -> None:
    result = _all(tmp_path, path, text)
    assert [(one.code, one.message) for outcome in result.outcomes for one in (*outcome.left, *outcome.fixed)] == []


def test_a_value_in_the_name_of_an_image_is_left_to_its_makers(tmp_path: Path) -> None:
    text = "ARG TORCH_VER=2.7.1\nFROM a.com/installer-${TORCH_VER}:latest\nRUN pip install x\n"
    (found,) = _all(tmp_path, "Dockerfile", text).outcomes[0].left
    assert found.code == "TL310" and found.fix is None and "a part of the name of an image" in (found.help or "")
