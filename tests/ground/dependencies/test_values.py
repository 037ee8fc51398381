"""Values of variables and keys, versions among them, pins and images outside of commands, and lock files."""

from __future__ import annotations

import pytest

from torchlift.dependencies.assignments import assignments
from torchlift.dependencies.commands import loose_pins, read_commands
from torchlift.dependencies.images import read_images
from torchlift.dependencies.lock_file import locked_torch
from torchlift.dependencies.version_values import version_values
from torchlift.source import SourceText
from torchlift.view.text import TextView, text_kind


def view(path: str, text: str) -> TextView:
    kind = text_kind(path)
    assert kind is not None
    return TextView(path, kind, SourceText(text))


GIVEN = {
    "an argument": ("Dockerfile", 'ARG A=1 B="2 3"\nENV C 4\n', [("A", "1"), ("B", "2 3"), ("C", "4")]),
    "an option": ("build.sh", "docker build --build-arg TORCH=2.3.1 .\n", [("TORCH", "2.3.1")]),
    "a default": ("build.sh", 'pip install "torch==${TORCH:-2.3.1}"\n', [("TORCH", "2.3.1")]),
    "a variable": ("a.sh", "export A='1'; B=2 run # C=3\n", [("A", "1"), ("B", "2")]),
    "make": ("Makefile", "A := 1\nB ?= 2\n", [("A", "1"), ("B", "2")]),
    "a batch file": ("a.bat", 'set A=1\nset "B=2"\nREM set C=3\n', [("A", "1"), ("B", "2")]),
    "PowerShell": ("a.ps1", "$A = '1'\n$env:B = 2\n", [("A", "1"), ("B", "2")]),
    "a scalar": ("a.yml", "env:\n  A: '1'\n  B: 2 # no\n", [("A", "1"), ("B", "2")]),
    "a list": (
        "a.yml",
        "matrix:\n  a: ['1', 2]\n  b:\n    - 3\n    - '4'\n",
        [("a", "1"), ("a", "2"), ("b", "3"), ("b", "4")],
    ),
    "a flow": ("a.yml", "include:\n  - {a: '1', b: 2}\n", [("a", "1"), ("b", "2")]),
    "an input": (
        "a.yml",
        "inputs:\n  a-b:\n    description: x y\n    default: '1'\n",
        [("a-b", "1")],
    ),
}


@pytest.mark.parametrize("name", GIVEN)
def test_values_are_found_where_they_stand(name: str) -> None:
    path, text, wanted = GIVEN[name]
    found = assignments(view(path, text))
    assert [(item.name, item.value) for item in found] == wanted
    assert all(text[item.span.start : item.span.end] == item.value for item in found)


VALUES = {
    "by its name": ("Dockerfile", "ARG PYTORCH_VERSION=2.3.1\n", [("torch", "2.3.1")]),
    "by its use": ("Dockerfile", "ARG V=2.3.1\nRUN pip install torch==${V}\n", [("torch", "2.3.1")]),
    "a companion": ("a.sh", "V=0.18.1\npip install torchvision==$V\n", [("torchvision", "0.18.1")]),
    "an image": (
        "Dockerfile",
        "ARG V=2.3.1-cuda12.1\nARG W=2.3.1\nFROM pytorch/pytorch:${W}-cuda12.1-cudnn8-devel\n",
        [("torch", "2.3.1")],
    ),
    "an index": (
        "a.sh",
        "C=12.1\npip install torch -i https://download.pytorch.org/whl/cu${C//./}\n",
        [("cuda", "cu121")],
    ),
    "a whole build": (
        "a.ps1",
        "$c = 'cu118'\npip install torch -i https://download.pytorch.org/whl/$c\n",
        [("cuda", "cu118")],
    ),
    "a matrix": (
        "a.yml",
        "matrix:\n  v: [2.1, '2.4.*']\nrun: pip install torch==${{ matrix.v }}\n",
        [("torch", "2.1"), ("torch", "2.4")],
    ),
    "something else": ("a.sh", "TORCHMETRICS_VERSION=1.2\nV=2.3.1\npip install app==$V\nTORCH_HOME=/x\n", []),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_version_is_known_by_its_name_or_by_what_takes_it(name: str) -> None:
    path, text, wanted = VALUES[name]
    assert [(value.package, value.value) for value in version_values(view(path, text))] == wanted


def test_pins_in_lists_and_strings_are_found_once() -> None:
    text = 'python_packages:\n  - "torch==2.3.1"\nrun: pip install torch==2.2.0\nx: my-torch==1.0 torch==2.* torchmetrics==1.2.3\n'
    read = view("cog.yaml", text)
    assert [pin.text for pin in loose_pins(read, read_commands(read))] == ["torch==2.3.1"]


def test_a_release_is_read_where_a_variable_fills_only_its_build_in() -> None:
    read = read_commands(view("Dockerfile", "RUN pip install torch==2.1.2+cu${CUDA} torchvision==${V}\n"))[0]
    assert [(pin.name, pin.specifier, pin.opaque) for pin in read.pins if pin.clauses] == [("torch", "==2.1.2", True)]


def test_commands_in_backticks_are_commands_and_prose_is_none() -> None:
    text = "Use `pip install torch==2.3.1`, not pip install torch==2.2.0.\n\n``pip install torch==2.1.0``\n"
    found = [pin.text for item in read_commands(view("docs/start.rst", text)) for pin in item.pins if pin.is_torch]
    assert found == ["torch==2.3.1", "torch==2.1.0"]


def test_a_line_of_a_batch_file_and_of_powershell_goes_on_behind_its_own_sign() -> None:
    for path, sign in (("a.bat", "^"), ("a.ps1", "`")):
        read = read_commands(view(path, f"pip install torch==2.3.1 {sign}\n  torchvision==0.18.1\n"))
        assert [pin.name for pin in read[0].pins] == ["torch", "torchvision"]


def test_images_are_found_wherever_they_are_named() -> None:
    script = view(
        "a.sh",
        "docker run nvcr.io/nvidia/pytorch:24.05-py3 x\ndocker run my/tool/server:2.1.0-cuda12.1-cudnn8-devel\n",
    )
    assert [(image.kind, image.release, image.stage) for image in read_images(script)] == [("ngc", "24.05", -1)]
    page = view(
        "a.md",
        "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel is old\n\n    x\n```\ndocker pull pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel\n```\n",
    )
    assert [image.torch for image in read_images(page)] == ["2.3.1"]
    stages = view("Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel\nFROM python:3.10\n")
    assert [(image.kind, image.stage) for image in read_images(stages)] == [("torch", 0), ("python", 1)]


@pytest.mark.parametrize(
    "filling", ["a", " ", "-", "a.", "`", "${a-", "a ", "[", '"', "pip install ", "/", "torch", "a: "]
)
@pytest.mark.parametrize("path", ["a.yml", "Dockerfile", "a.md"])
def test_long_lines_are_read_to_their_end(path: str, filling: str) -> None:
    # What takes the square of the length would not end.
    long = filling * 10_000
    read = view(path, f"x: {long}\nARG {long}\n- {long} y\n{long}\nTORCH_VERSION=2.3.1\nTORCH_VERSION: 2.3.1\n")
    assert all(value.value == "2.3.1" for value in version_values(read))
    assert list(loose_pins(read, [])) == []
    assert read_images(read) == []


LOCKS = {
    "uv": 'name = "torch"\nversion = "2.3.1"\n',
    "a local version": 'name = "torch"\r\nversion = "2.3.1+cu118"\r\n',
    "conda-lock": "- name: pytorch\n  version: 2.3.1\n",
    "Pipenv": '"torch": {"index": "x", "version": "==2.3.1"}',
    "pixi": "- conda: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.3.1-cuda120_h1.conda\n",
}


@pytest.mark.parametrize("name", LOCKS)
def test_the_torch_of_a_lock_file_is_found(name: str) -> None:
    text = LOCKS[name]
    assert [(release, text[span.start : span.end]) for release, span in locked_torch(text)] == [("2.3.1", "2.3.1")]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("README.MD", "markdown"),
        ("docs/guide.rst", "markdown"),
        ("CHANGELOG.md", None),
        ("docs/releases.rst", None),
        ("a.PS1", None),
        ("install.cmd", "batch"),
        ("uv.lock", "lock"),
        ("pylock.gpu.toml", "lock"),
        ("envs/conda-lock.yml", "lock"),
        ("pixi.toml", "toml"),
        ("yarn.lock", None),
    ],
)
def test_kinds_go_by_names(path: str, kind: str | None) -> None:
    assert text_kind(path) == kind
