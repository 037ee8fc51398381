"""Folders of a repository with a lowest torch of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlift.migrate.cli import migrate

CODE = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
FIXED = 'import torch\n\nscaler = torch.amp.GradScaler("cuda")\n'
SETUP = 'from setuptools import setup\n\nsetup(name="x", install_requires=["torch{}"])\n'
NEEDED = "2.3"


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(folder: Path, files: dict[str, str], *arguments: str) -> str:
    for name, text in {"pyproject.toml": "[tool.torchlift]\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    done = CliRunner().invoke(
        migrate, [*arguments, "--select", "TL4,TL309", "--no-cache", "--allow-no-vcs", str(folder)]
    )
    assert done.exit_code in {0, 1}, done.output
    return done.stdout if "json" in arguments else done.output


def fixable(folder: Path, files: dict[str, str], *arguments: str) -> set[str]:
    """The Python files whose fix is safe."""
    said = json.loads(run(folder, files, "--check", "--output-format", "json", *arguments))
    return {
        finding["filename"]
        for finding in said["findings"]
        if finding["fix"] and finding["fix"]["applicability"] == "safe" and finding["filename"].endswith("a.py")
    }


def test_each_distribution_of_a_repository_has_its_own_lowest_torch(tmp_path: Path) -> None:
    files = {"old/setup.py": SETUP.format(">=2.0"), "old/deep/a.py": CODE}
    files |= {"new/setup.py": SETUP.format(">=2.6"), "new/deep/a.py": CODE}
    assert fixable(tmp_path, files) == {"new/deep/a.py"}


def test_a_folder_inside_another_with_its_own_counts_by_itself(tmp_path: Path) -> None:
    files = {"setup.py": SETUP.format(">=2.6"), "a.py": CODE, "b/setup.py": SETUP.format(">=2.0"), "b/a.py": CODE}
    files |= {"b/c/setup.py": SETUP.format(">=2.5"), "b/c/a.py": CODE}
    assert fixable(tmp_path, files) == {"a.py", "b/c/a.py"}


@pytest.mark.parametrize("own", [("setup.py", SETUP.format(">=1.4")), ("requirements.txt", "torch==1.13.1\n")])
def test_what_asks_for_an_older_torch_counts_inside_a_package_too(own: tuple[str, str], tmp_path: Path) -> None:
    files = {"setup.py": SETUP.format(">=2.6"), "a/__init__.py": "", f"a/copied/{own[0]}": own[1]}
    assert fixable(tmp_path, {**files, "a/a.py": CODE, "a/copied/a.py": CODE}) == {"a/a.py"}


def test_a_list_beside_a_distribution_only_lowers_what_is_known(tmp_path: Path) -> None:
    files = {"setup.py": SETUP.format(">=2.0"), "tests/requirements.txt": "torch==2.6.0\n", "tests/a.py": CODE}
    assert fixable(tmp_path, files) == set()
    lower = {"setup.py": SETUP.format(">=2.6"), "tests/requirements.txt": "torch==2.0.1\n", "b/a.py": CODE}
    assert fixable(tmp_path, lower) == {"b/a.py"}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements/gpu.txt", "environment.yml"])
def test_programs_with_lists_of_their_own_run_with_these(tmp_path: Path, name: str) -> None:
    text = "dependencies:\n  - pytorch{}\n" if name.endswith("yml") else "torch{}\n"
    files = {f"old/{name}": text.format("=2.0.1" if "yml" in name else "==2.0.1"), "old/a.py": CODE}
    files |= {f"new/{name}": text.format(">=2.6"), "new/a.py": CODE}
    assert fixable(tmp_path, files) == {"new/a.py"}


def test_messages_name_the_place_that_decides_for_the_file(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch>=2.6\n", "old/requirements.txt": "torch==2.0.1\n", "old/a.py": CODE}
    files |= {"older/setup.py": SETUP.format(">=1.13"), "older/a.py": CODE}
    said = " ".join(run(tmp_path, files, "--check").split())
    assert (
        f"The fix is offered for torch>={NEEDED}, and old/requirements.txt:1 asks for torch 2.0.1. `--min-torch {NEEDED}` says that"
        in said
    )
    assert f"The fix is offered for torch>={NEEDED}, and this project supports torch 1.13 (older/setup.py:3)." in said
    assert (
        "The lowest torch is another below old/ 2.0.1 (old/requirements.txt:1), older/ 1.13 (older/setup.py:3)." in said
    )


def test_what_the_user_says_holds_for_every_folder(tmp_path: Path) -> None:
    files = {"old/setup.py": SETUP.format(">=2.0"), "old/a.py": CODE}
    assert fixable(tmp_path, files, "--min-torch", "2.6") == {"old/a.py"}


def test_a_pin_that_moves_frees_the_files_of_its_own_folder_only(tmp_path: Path) -> None:
    files = {"one/requirements.txt": "torch==2.0.1\n", "one/a.py": CODE}
    files |= {"two/setup.py": SETUP.format(">=2.0"), "two/a.py": CODE}
    said = run(tmp_path, files, "--unsafe-fixes")
    assert "one/requirements.txt:1 pinned torch 2.0.1; the pin moves to 2.15 in this run" in said
    assert (tmp_path / "one/a.py").read_text() == FIXED
    assert (tmp_path / "two/a.py").read_text() == CODE


def test_of_two_pins_in_one_list_the_lowest_does_not_move_alone(tmp_path: Path) -> None:
    pyproject = '[dependency-groups]\na = ["torch==2.0.1"]\nb = ["torch==2.1.0; python_version < \'3.9\'"]\n'
    said = run(tmp_path, {"pyproject.toml": pyproject, "a.py": CODE}, "--unsafe-fixes")
    assert "failed" not in said and (tmp_path / "a.py").read_text() == CODE


def test_a_list_beside_a_program_says_nothing_about_the_rest(tmp_path: Path) -> None:
    files = {"serve/requirements.txt": "torch==2.0.1\n", "serve/a.py": CODE, "train/a.py": CODE}
    said = json.loads(run(tmp_path, files, "--check", "--output-format", "json"))
    helps = {
        finding["filename"]: finding["help"] for finding in said["findings"] if finding["filename"].endswith("a.py")
    }
    assert "serve/requirements.txt:1 asks for torch 2.0.1" in helps["serve/a.py"]
    assert "pins" not in (helps["train/a.py"] or "")


@pytest.mark.parametrize(
    ("image", "fixed"),
    [
        ("FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\n", {"a.py"}),
        ("FROM ubuntu:22.04\nRUN pip install torch==2.0.1\n", {"a.py"}),
        ("FROM pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime\n", {"a.py", "old/a.py"}),
        ("FROM ubuntu:22.04\n", {"a.py", "old/a.py"}),
    ],
)
def test_the_image_beside_programs_only_lowers_what_is_known(image: str, fixed: set[str], tmp_path: Path) -> None:
    files = {"setup.py": SETUP.format(">=2.6"), "a.py": CODE, "old/Dockerfile": image, "old/a.py": CODE}
    assert fixable(tmp_path, files) == fixed


def test_a_list_beside_programs_comes_before_their_image(tmp_path: Path) -> None:
    files = {
        "setup.py": SETUP.format(">=2.6"),
        "old/Dockerfile": "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\n",
    }
    files |= {"old/requirements.txt": "torch==2.7.0\n", "old/a.py": CODE}
    assert fixable(tmp_path, files) == {"old/a.py"}


def test_a_page_beside_programs_only_lowers_what_is_known(tmp_path: Path) -> None:
    files = {"setup.py": SETUP.format(">=2.6"), "a.py": CODE, "old/a.py": CODE, "new/a.py": CODE}
    files |= {
        "old/README.md": "```\npip install torch==2.0.1\n```\n",
        "new/README.md": "```\npip install torch==2.9\n```\n",
    }
    assert fixable(tmp_path, files) == {"a.py", "new/a.py"}


def test_what_conda_is_to_install_from_a_list_counts(tmp_path: Path) -> None:
    assert fixable(tmp_path, {"conda.txt": "python=3.11\npytorch>=2.0,<2.1\n", "a.py": CODE}) == set()
    assert fixable(tmp_path, {"conda.txt": "python=3.11\npytorch>=2.6\n", "a.py": CODE}) == {"a.py"}
