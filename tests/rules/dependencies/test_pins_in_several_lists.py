"""torch in one list of a project and what goes with it in another: they move together, or after a look, or not at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.versions import TorchVersion
from torchlift.wheels.machine import Device, Machine

H100 = Machine((Device("H100", (9, 0)),), driver="595.58.03")
RULES = frozenset(code for code in all_rules() if code.startswith("TL3"))
CU = "https://download.pytorch.org/whl/"


def run(folder: Path, files: dict[str, str], *, unsafe: bool, machine: Machine | None = H100) -> dict[str, str]:
    """What is written."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    python = tuple(sorted(name for name in files if name.endswith(".py")))
    texts = tuple(sorted(files.keys() - set(python)))
    wanted = Settings(min_torch=TorchVersion(2, 0), machine=machine)
    result: RunResult = analyse(RunOptions(folder, python, Mode.DIFF, RULES, unsafe, wanted, texts=texts))
    assert [failure.reason for failure in result.failures] == []
    return {outcome.path: outcome.new_text for outcome in result.outcomes if outcome.new_text is not None}


APART = [
    ("a list that includes the one of torch", {"requirements.txt": "torch==2.1.0\n", "requirements-dev.txt": "-r requirements.txt\ntorchvision==0.16.0\n"}),
    ("a list that the one of torch includes", {"requirements.txt": "torchvision==0.16.0\n", "requirements-dev.txt": "-r requirements.txt\ntorch==2.1.0\n"}),
    ("the same in another folder", {"requirements/base.txt": "torch==2.1.0\n", "requirements.txt": "-r requirements/base.txt\ntorchvision==0.16.0\n"}),
    ("a command that includes it", {"requirements.txt": "torch==2.1.0\n", "install.sh": "pip install -r requirements.txt torchvision==0.16.0\n"}),
    ("torch in both", {"requirements.txt": "torch==2.1.0\n", "requirements-dev.txt": "-r requirements.txt\ntorch==2.1.0\ntorchvision==0.16.0\n"}),
    ("torch in constraints of another folder", {"requirements/constraints.txt": "torch==2.1.0\n", "requirements.txt": "-c requirements/constraints.txt\ntorch==2.1.0\n"}),
    ("an index beside torch", {"requirements.txt": "torchvision==0.16.0\n", "requirements-gpu.txt": f"--extra-index-url {CU}cu118\n-r requirements.txt\ntorch==2.1.0\n"}),
]  # fmt: skip


@pytest.mark.parametrize("files", [files for _, files in APART], ids=[name for name, _ in APART])
@pytest.mark.parametrize("machine", [H100, None], ids=["H100", "unnamed"])
def test_torch_is_not_moved_away_from_its_companion_in_another_file(
    tmp_path: Path, files: dict[str, str], machine: Machine | None
) -> None:
    assert run(tmp_path, files, unsafe=False, machine=machine) == {}
    new = run(tmp_path, files, unsafe=True, machine=machine)
    if "index" not in "".join(files.values()):
        assert new == {
            path: text.replace("2.1.0", "2.15.0").replace("0.16.0", "0.29.2") for path, text in files.items()
        }


@pytest.mark.parametrize("kept", ["torch", "torchvision"])
@pytest.mark.parametrize("files", [files for _, files in APART[:4]], ids=[name for name, _ in APART[:4]])
def test_what_is_held_in_one_file_holds_the_other(tmp_path: Path, files: dict[str, str], kept: str) -> None:
    held = {
        path: re.sub(rf"{kept}==\S+", r"\g<0>  # torchlift: ignore[TL309] why", text) for path, text in files.items()
    }
    assert run(tmp_path, held, unsafe=True) == {}


def project(*dependencies: str, extra: str = "", group: str = "") -> str:
    text = f'[project]\nname = "a"\nrequires-python = ">=3.11"\ndependencies = {list(dependencies)}\n'
    text += f'[project.optional-dependencies]\nx = ["{extra}"]\n' if extra else ""
    return text + (f'[dependency-groups]\ndev = ["{group}"]\n' if group else "")


def setup(required: str, extra: str = "numpy") -> str:
    return f'from setuptools import setup\n\nsetup(name="a", python_requires=">=3.11", install_requires=["{required}"], extras_require={{"x": ["{extra}"]}})\n'


NOTEBOOK = '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["%s"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

HELD_ELSEWHERE = [
    {"Dockerfile": "FROM python:3.12\nRUN pip install torch==2.1.0\nRUN pip install torchvision==0.16.0\n"},
    {"install.sh": "pip install torch==2.1.0\npip install torchvision==0.16.0\n"},
    {"pyproject.toml": project("torch==2.1.0", extra="torchvision==0.16.0")},
    {"pyproject.toml": project("torch==2.1.0", group="torchaudio==2.1.0")},
    {"pyproject.toml": project("torch==2.1.0", extra="torch<2.3")},
    {"setup.py": setup("torch==2.1.0", "torchvision==0.16.0")},
    {"requirements.txt": "torch==2.1.0\n", "requirements-dev.txt": "torchvision==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "setup.py": setup("torchvision==0.16.0")},
    {"requirements.txt": "torch==2.1.0\n", "setup.py": setup("torch<2.5")},
    {"requirements.txt": "torch==2.1.0\n", "requirements-x.txt": "-r requirements.txt\nxformers==0.0.23\n"},
    {"requirements.txt": "torch==2.1.0\n", "dev.txt": "torchvision==0.16.0\n", "Dockerfile": "RUN pip install -r requirements.txt -r dev.txt\n"},
    {"requirements.txt": "torch==2.1.0\n", "extras.txt": "-r requirements.txt\nxformers==0.0.23\n"},
    {"requirements.txt": "torch==2.1.0\n", ".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - run: pip install torchvision==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "Makefile": "i:\n\tpip install -r requirements.txt -r deps/vision.lst\n", "deps/vision.lst": "torchvision==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", ".github/workflows/ci.yml": "env:\n  VISION: 0.16.0\njobs:\n  t:\n    steps:\n      - run: pip install -r requirements.txt torchvision==$VISION\n"},
    {"requirements.txt": "torch==2.1.0\n", "ci.sh": "pip install -r requirements.txt torch==$TORCH\n"},
    {"requirements.txt": "torch==2.1.0\n", "ci.sh": "pip install 'torchvision<$VISION'\n"},
    {"requirements.txt": "torch==2.1.0\n", "app.py": 'image = base.pip_install_from_requirements("requirements.txt").pip_install("torchvision==0.16.0")\n'},
    {"requirements.txt": "torch==2.1.0\n", "app.py": 'NEEDED = ["torchaudio>=2.0,<2.2"]\n'},
    {"requirements.txt": "torch==2.1.0\n", "noxfile.py": 'def test(session, vision):\n    session.install(f"torchvision=={vision}", "-r", "requirements.txt")\n'},
    {"app/requirements.txt": "torch==2.1.0\n", "docker/Dockerfile": "FROM python:3.12\nRUN pip install -r app/requirements.txt\nRUN pip install torchvision==0.16.0\n"},
    {"app/requirements.txt": "torch==2.1.0\n", "tools/setup.sh": "cd app && pip install -r requirements.txt && pip install torchvision==0.16.0\n"},
    {"app/requirements.txt": "torch==2.1.0\n", ".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - run: pip install torchvision==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "ci.sh": "pip install -r requirements.txt\npip install torch torchvision==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "pyproject.toml": project("torch", "torchvision>=0.14,<0.17")},
    {"requirements.txt": "torch==2.1.0\n", "Dockerfile": "FROM python:3.12\nRUN pip install -r requirements.txt\nRUN pip install xformers==0.0.23\n"},
    {"requirements.txt": "torch==2.1.0\n", "Dockerfile": "FROM python:3.12\nRUN pip install https://download.pytorch.org/whl/cu118/torchvision-0.16.0%2Bcu118-cp312-cp312-linux_x86_64.whl\n"},
    {"requirements.txt": "torch==2.1.0\n", "install.py": 'VISION = "0.16.0"\nrun(["pip", "install", "torchvision==" + VISION])\n'},
    {"requirements.txt": "torch==2.1.0\n", "install.py": 'PINS = {"torchvision": "0.16.0"}\n'},
    {"requirements.txt": "torch==2.1.0\n", "play.yml": "- pip:\n    name: torchvision\n    version: 0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "Dockerfile": "FROM python:3.12\nENV PKG=torchvision VER=0.16.0\nRUN pip install -r requirements.txt && pip install ${PKG}==${VER}\n"},
    {"requirements.txt": "torch==2.1.0\n", "tools/env.py": 'DEPS = [("torchvision", "0.16.0"), ("numpy", "2.0")]\n'},
    {"requirements.txt": "torch==2.1.0\n", "install.sh": "pip install -r requirements.txt\npip install git+https://github.com/pytorch/vision.git@v0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "install.bat": "pip install -r requirements.txt\npip install torchvision^==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "Dockerfile": "FROM python:3.12\nCOPY requirements.txt vendor/ ./\nRUN pip install -r requirements.txt && pip install vendor/*.whl\n"},
    {"requirements.txt": "torch==2.1.0\n", "deps.json": '{"torchvision": "0.16.0"}\n'},
    {"requirements.txt": "torch==2.1.0\n", "Makefile": "TV := torchvision\ni:\n\tpip install $(TV)==0.16.0\n"},
    {"requirements.txt": "torch==2.1.0\n", "environment.yml": "dependencies:\n  - torchvision=0.16\n"},
    {"requirements.txt": "torch==2.1.0\n", "a.ipynb": NOTEBOOK % "!pip install torchvision==0.16.0"},
    {"requirements.txt": "torch==2.1.0\n", "a.ipynb": NOTEBOOK % "!pip install -r requirements.txt torch==2.1.2"},
]  # fmt: skip


@pytest.mark.parametrize("files", HELD_ELSEWHERE, ids="+".join)
def test_torch_moves_after_a_look_where_another_list_holds_it(tmp_path: Path, files: dict[str, str]) -> None:
    assert run(tmp_path, files, unsafe=False) == {}
    assert any("torch==2.15.0" in text for text in run(tmp_path, files, unsafe=True).values())


NOT_HELD = [
    {"requirements.txt": "torch==2.1.0\n", "setup.py": setup("torch>=2.0", "torchvision")},
    {"requirements.txt": "torch==2.1.0\n", "setup.py": setup("torch==2.1.0")},
    {"requirements.txt": "torch==2.1.0\n", "examples/x/requirements.txt": "torch==2.0.1\ntorchvision==0.15.2\n"},
    {"a/requirements.txt": "torch==2.1.0\n", "b/requirements.txt": "torchvision==0.16.0\n"},
    {"Dockerfile": "FROM python:3.12\nRUN pip install torch==2.1.0\nRUN pip install torchvision\n"},
    {"requirements.txt": "torch==2.1.0\n", "README.md": "    pip install torchvision==0.16.0\n"},
    {
        "requirements.txt": "torch==2.1.0\n",
        "ci.sh": "# torchvision==$VISION was here\npip install torch==$TORCH torchvision==$VISION\n",
    },
    {
        "requirements.txt": "torch==2.1.0\n",
        "app.py": 'image = base.pip_install("torch==2.0.1", "torchvision==0.15.2")\n',
    },
    {"requirements.txt": "torch==2.1.0\n", "environment.yml": "dependencies:\n  - pytorch=2.1\n  - torchvision=0.16\n"},
    {
        "requirements.txt": "torch==2.1.0\n",
        "m.py": 'import torchvision\n\nassert torchvision.__version__ >= "0.16"\nname = {"torchvision": torchvision}\n',
    },
    {"a/requirements.txt": "torch==2.1.0\n", "b/a.ipynb": NOTEBOOK % "!pip install torchvision==0.16.0"},
]


@pytest.mark.parametrize("files", NOT_HELD, ids="+".join)
def test_lists_that_hold_nothing_and_projects_beside_it_are_no_reason_for_a_look(
    tmp_path: Path, files: dict[str, str]
) -> None:
    first = min(files, key=lambda path: "torch==2.1.0" not in files[path])
    assert "torch==2.15.0" in run(tmp_path, files, unsafe=False)[first]


def test_a_companion_that_goes_with_later_torch_holds_nothing(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch==2.1.0\n", "requirements-dev.txt": "-r requirements.txt\ntorchvision==0.29.2\n"}
    new = run(tmp_path, files, unsafe=False)
    assert new == {"requirements.txt": "torch==2.15.0\n"}
