from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlift.dependencies.run_with import releases_run_with


def found(folder: Path, name: str, text: str | bytes) -> list[tuple[str, str]]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    root = folder.resolve()
    return [(str(one.release), one.place.removeprefix(f"{name}:")) for one in releases_run_with(root, root)]


WORKFLOW = """\
jobs:
  test:
    strategy:
      matrix:
        python: ["3.10", "3.12"]
        torch: ["1.13.1", '2.2.2', 2.4, nightly]  # torch: 1.0
        include:
          - {python: "3.9", torch: 2.0.1, torchvision: 0.15.2}
          - torch-version: "2.1"
            cuda: 11.8
        pytorch_version:
          - "2.3"
          - 2.5.*
          - 2.6.0.dev20250101
    container:
      image: pytorch/pytorch:2.7.1-cuda12.6-cudnn9-devel
    steps:
      - run: pip install "torch==2.8.0" --index-url https://download.pytorch.org/whl/cu128
      - run: pip install torch==${{ matrix.torch }} 'torchvision==0.14'
"""


def test_the_matrices_images_and_commands_of_a_workflow(tmp_path: Path) -> None:
    assert sorted(found(tmp_path, ".github/workflows/test.yml", WORKFLOW)) == [
        *[("1.13.1", "6"), ("2.0.1", "8"), ("2.1", "9"), ("2.2.2", "6"), ("2.3", "12"), ("2.4", "6"), ("2.5", "13")],
        *[("2.7.1", "16"), ("2.8", "18")],
    ]


@pytest.mark.parametrize(
    "line",
    [
        'torch: ["<2.5", "<=2.4", "!=2.3"]',
        "torch-cuda: 12.1",
        "torchvision: 0.15",
        "torch: 12.1",
        "pytorch: v1",
        "torch: 2.99",
        "torch: [nightly, latest]",
        "name: torch 2.3",
        "torch-version: ${{ inputs.torch }}",
        "# torch: 2.3",
    ],
)
def test_what_names_no_release_of_torch_that_is_run(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, ".gitlab-ci.yml", f"test:\n  {line}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "FROM pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime\n",
        "ARG BASE=pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime\nFROM $BASE\n",
        "FROM ubuntu\nRUN pip3 install --user torch==2.3 torchvision==0.18\n",
        "FROM ubuntu\nARG TORCH_VERSION=2.3\nRUN pip install torch==$TORCH_VERSION\n",
        'FROM ubuntu\nENV PYTORCH_VERSION "2.3.0"\n',
        "FROM ubuntu\nRUN conda install -y pytorch=2.3 -c pytorch\n",
    ],
)
@pytest.mark.parametrize("name", ["Dockerfile", "docker/gpu/Dockerfile", "train.Dockerfile"])
def test_container_files(tmp_path: Path, name: str, text: str) -> None:
    assert [release for release, _ in found(tmp_path, name, text)] == ["2.3"]


def test_container_files_of_examples_say_nothing_about_the_project(tmp_path: Path) -> None:
    assert found(tmp_path, "examples/old/Dockerfile", "FROM pytorch/pytorch:1.3-cuda10.1-cudnn7-runtime\n") == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.1+cpu"\nsource = { registry = "x" }\n', "3"),
        ("poetry.lock", '[[package]]\r\nname = "torch"\r\nversion = "2.4.1"\r\noptional = false\r\n', "3"),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.4.1"\n', "3"),
        ("Pipfile.lock", '{"default": {\n"torch": {\n"hashes": ["sha256:00"],\n"version": "==2.4.1"\n}}}', "4"),
        ("conda-lock.yml", "package:\n- name: pytorch\n  version: 2.4.1\n  manager: conda\n", "3"),
        ("tox.ini", "[testenv]\ndeps =\n  torch24: torch==2.4.1\n  torchvision==0.19\n", "3"),
        ("noxfile.py", '@nox.parametrize("torch", ["2.4.1"])\ndef tests(session, torch): ...\n', "1"),
        ("noxfile.py", 'def tests(session):\n    session.install("torch==2.4.1")\n', "2"),
    ],
)
def test_lock_files_and_test_environments(tmp_path: Path, name: str, text: str, line: str) -> None:
    assert found(tmp_path, name, text) == [("2.4.1", line)]


def test_packages_that_are_called_like_torch_are_other_ones(tmp_path: Path) -> None:
    text = '[[package]]\nname = "torchmetrics"\nversion = "1.4.1"\n\n[[package]]\nname = "torch-geometric"\nversion = "2.4"\n'
    assert found(tmp_path, "uv.lock", text) == []


@pytest.mark.skipif(os.name == "nt", reason="not on this system")
def test_what_is_no_file_of_the_project_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "away").write_text("FROM pytorch/pytorch:1.3-cuda10.1-cudnn7-runtime\n")
    inside = tmp_path / "project"
    inside.mkdir()
    os.mkfifo(inside / "Dockerfile")
    (inside / "tox.ini").mkdir()
    (inside / "Dockerfile.old").symlink_to(tmp_path / "away")
    (inside / "Dockerfile.loop").symlink_to("Dockerfile.loop")
    assert found(inside, "noxfile.py", bytes(range(256)) + b"torch") == []
