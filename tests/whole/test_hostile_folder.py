"""Commands run in a folder whose files have the names of modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = ["click", "libcst", "packaging", "pathspec", "tomli", "pynvml", "ast", "json", "torch"]


@pytest.mark.parametrize("arguments", [["rules"], ["migrate", "--check", "--isolated", "used.py"]], ids=lambda a: a[0])
def test_python_m_runs_no_module_of_the_working_directory(tmp_path: Path, arguments: list[str]) -> None:
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text("open('marker', 'w')\n")
    (tmp_path / "used.py").write_text("import torch\n\nx = torch.ger(a, b)\n")
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if "migrate" in arguments else 0), done.stderr
    assert not (tmp_path / "marker").exists()


def test_too_many_braces_on_the_command_line_are_a_sentence(tmp_path: Path) -> None:
    arguments = ["migrate", "--check", "--isolated", "--exclude", "{a,b}" * 18, "."]
    done = subprocess.run(
        [sys.executable, "-m", "torchlift", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "its braces stand for more than 1000 patterns; write fewer of them." in done.stderr


BAD = os.fsdecode(b"s\xff\xfe")


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names of files are Unicode there")
def test_names_that_are_no_utf_8_are_names_like_others(tmp_path: Path) -> None:
    (tmp_path / BAD).mkdir()
    (tmp_path / BAD / "__init__.py").touch()
    scripted = "import torch\n\n\n@torch.jit.script\ndef f(x):\n    return torch.ger(x, x)\n\n\nf.save('\\udcff.pt')\n"
    (tmp_path / BAD / f"{BAD}.py").write_text(scripted)
    (tmp_path / "main.py").write_text("import torch\n\nx = torch.jit.load('\\udcff.pt')\n")
    (tmp_path / f"{BAD}.sh").write_text("pip install torch==2.9.0+cu126\n")
    for arguments, status in (
        (["--check"], 1),
        (["--diff", "--torchscript", "drop", "--unsafe-fixes"], 1),
        (["--allow-no-vcs", "--select", "TL401"], 0),
    ):
        command = [sys.executable, "-m", "torchlift", "migrate", "--isolated", *arguments, "."]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == status, done.stderr
    assert "torch.outer" in (tmp_path / BAD / f"{BAD}.py").read_text()


LARGE = ["big.py", "requirements.txt", "setup.cfg", "setup.py", "environment.yml", "Dockerfile", "build.sh", "uv.lock"]


@pytest.mark.skipif(sys.platform == "win32", reason="a file with holes takes its whole size there")
def test_files_of_a_gigabyte_are_not_read(tmp_path: Path) -> None:
    for name in LARGE:
        with (tmp_path / name).open("wb") as file:
            file.truncate(10**9)
    done = _checked(tmp_path)
    assert done.returncode == 1 and "used.py:3:5" in done.stdout, done.stderr
    told = [line for line in (done.stdout + done.stderr).splitlines() if "it is larger than 20 MB" in line]
    assert [name for name in LARGE if any(name in line for line in told)] == LARGE[:5]


@pytest.mark.parametrize("name", ["pyproject.toml", "torchlift.toml"])
def test_a_configuration_of_a_gigabyte_is_a_sentence(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(10**9)
    done = _checked(tmp_path)
    assert done.returncode == 2 and "it is larger than 20 MB" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
def test_pipes_and_devices_are_not_waited_for(tmp_path: Path, kind: str) -> None:
    for name in (*LARGE, "pyproject.toml", "torchlift.toml", ".gitignore", "conftest.py", "Makefile"):
        if kind == "pipe":
            os.mkfifo(tmp_path / name)
        else:
            (tmp_path / name).symlink_to("/dev/zero")
    done = _checked(tmp_path)
    assert done.returncode == 1 and "used.py:3:5" in done.stdout, done.stderr


def _checked(folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "used.py").write_text("import torch\n\nx = torch.ger(a, b)\n")
    command = [sys.executable, "-m", "torchlift", "migrate", "--check", "--output-format", "concise", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name there")
@pytest.mark.parametrize("output_format", ["full", "concise"])
def test_names_and_lines_give_no_orders_to_the_ci_system_that_shows_them(tmp_path: Path, output_format: str) -> None:
    source = "import torch\n\nx = torch.ger(a, b)  # ##[error]x ##vso[task.x]y ##teamcity[z]\n"
    for name in ("::error file=x::a.py", "##[error]a.py", " ::b.py"):
        (tmp_path / name).write_text(source)
    command = [
        sys.executable,
        "-m",
        "torchlift",
        "migrate",
        "--check",
        "--isolated",
        "--output-format",
        output_format,
        ".",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for line in (done.stdout + done.stderr).splitlines():
        assert not line.lstrip().startswith("::")
        assert not any(order in line for order in ("##[", "##vso[", "##teamcity["))
