"""Which Python is examined when nobody says, and what is said when somebody names none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from torchlift.doctor.probes.examined_python import PythonError, default_python, python_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="environments are laid out as on POSIX")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Programs: a virtual environment, one of conda, a folder of programs, torchlift in pipx."""
    for name in ("venv/bin/python", "venv/bin/python3", "conda/bin/python", "usr/bin/python3", "usr/bin/python"):
        program(tmp_path / name)
    program(tmp_path / "share/pipx/venvs/torchlift/bin/python")
    return tmp_path


def program(path: Path, content: str = "#!/bin/sh\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)


def chosen(place: Path, variables: dict[str, str], prefix: str = "usr") -> str:
    """`default_python` of a torchlift in `prefix`; folders are meant below `place`."""
    full = {name: ":".join(str(place / part) for part in text.split(":") if part) for name, text in variables.items()}
    folder = place / prefix
    python = default_python(full, executable=str(folder / "bin/python"), prefix=str(folder))
    return str(Path(python).relative_to(place))


PIPX = "share/pipx/venvs/torchlift"


@pytest.mark.parametrize(
    ("variables", "prefix", "expected"),
    [
        ({}, "usr", "usr/bin/python"),
        ({"PATH": "venv/bin:usr/bin"}, "usr", "usr/bin/python"),
        ({"VIRTUAL_ENV": "venv", "PATH": "venv/bin:usr/bin"}, "usr", "venv/bin/python"),
        ({"VIRTUAL_ENV": "venv"}, "usr", "venv/bin/python"),
        ({"CONDA_PREFIX": "conda", "PATH": "conda/bin:usr/bin"}, "usr", "conda/bin/python"),
        ({"VIRTUAL_ENV": "venv", "CONDA_PREFIX": "conda", "PATH": "venv/bin:conda/bin"}, "usr", "venv/bin/python"),
        ({"VIRTUAL_ENV": "venv", "CONDA_PREFIX": "conda", "PATH": "conda/bin:venv/bin"}, "usr", "conda/bin/python"),
        ({"VIRTUAL_ENV": "venv", "CONDA_PREFIX": "conda", "PATH": "usr/bin"}, "usr", "venv/bin/python"),
        ({"VIRTUAL_ENV": "gone", "PATH": "usr/bin"}, "usr", "usr/bin/python"),
        ({"VIRTUAL_ENV": "venv", "PATH": f"{PIPX}/bin:venv/bin"}, PIPX, "venv/bin/python"),
        ({"PATH": f"{PIPX}/bin:nowhere:usr/bin"}, PIPX, "usr/bin/python3"),
        ({"VIRTUAL_ENV": PIPX, "PATH": f"{PIPX}/bin:usr/bin"}, PIPX, "usr/bin/python3"),
        ({"PATH": f"{PIPX}/bin"}, PIPX, f"{PIPX}/bin/python"),
        ({}, PIPX, f"{PIPX}/bin/python"),
    ],
)
def test_the_active_environment_is_examined_and_never_the_one_that_only_holds_torchlift(
    place: Path, variables: dict[str, str], prefix: str, expected: str
) -> None:
    assert chosen(place, variables, prefix) == expected


@pytest.mark.parametrize("mark", ["uv-receipt.toml", "pipx_metadata.json"])
def test_an_environment_made_for_torchlift_alone_is_known_by_its_makers_mark(place: Path, mark: str) -> None:
    program(place / "custom/torchlift/bin/python")
    assert chosen(place, {"PATH": "usr/bin"}, "custom/torchlift") == "custom/torchlift/bin/python"
    (place / "custom/torchlift" / mark).write_text("")
    assert chosen(place, {"PATH": "usr/bin"}, "custom/torchlift") == "usr/bin/python3"


def test_an_empty_or_plain_file_named_python_is_passed_over(place: Path) -> None:
    program(place / "shop/python3", "")
    (place / "plain").mkdir()
    (place / "plain/python3").write_text("#!/bin/sh\n")
    assert chosen(place, {"PATH": "shop:plain:usr/bin"}, PIPX) == "usr/bin/python3"


def test_an_interpreter_can_be_named_by_path_command_or_environment(place: Path) -> None:
    variables = {"PATH": f"{place}/nowhere:{place}/usr/bin"}
    assert python_of(f"{place}/venv/bin/python", variables) == f"{place}/venv/bin/python"
    assert python_of(f"{place}/venv", variables) == f"{place}/venv/bin/python"
    assert python_of("python3", variables) == f"{place}/usr/bin/python3"
    assert python_of(sys.executable) == sys.executable


def test_the_link_of_a_virtual_environment_is_not_followed(place: Path) -> None:
    link = place / "linked/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(place / "usr/bin/python")
    assert python_of(str(link)) == str(link)
    assert default_python({"VIRTUAL_ENV": str(place / "linked")}, executable="x", prefix="/x") == str(link)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("", "There is no Python at an empty path."),
        ("{}/absent", "There is no Python at {}/absent."),
        ("no-such-python", "There is no Python at no-such-python."),
        ("{}", "The folder {} holds no Python (looked for python in it)."),
        ("{}/note", "{}/note is not a program that can be run."),
        ("{}/" + "x" * 300, ""),
        ("nul\0byte", ""),
        ("~nosuchuser/python", ""),
    ],
)
def test_nonsense_is_answered_with_a_sentence(tmp_path: Path, given: str, sentence: str) -> None:
    (tmp_path / "note").write_text("hello")
    with pytest.raises(PythonError) as caught:
        python_of(given.replace("{}", str(tmp_path)), {"PATH": str(tmp_path)})
    assert str(caught.value).startswith(sentence.replace("{}", str(tmp_path)))
    assert str(caught.value).endswith("Give a Python executable, a command on PATH, or the folder of an environment.")
