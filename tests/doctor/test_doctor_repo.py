"""`doctor --repo`: a project's metadata held against a machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from doctor_machines import changed, healthy

from torchlift.doctor.check import Result
from torchlift.doctor.repo import ProjectError, examine_project


def examined(folder: Path, files: Mapping[str, str], machine: str) -> tuple[Result, ...]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return examine_project(str(folder), healthy(machine)).results


def project(requirement: str, python: str = ">=3.10") -> dict[str, str]:
    return {
        "pyproject.toml": f'[project]\nname = "x"\nrequires-python = "{python}"\ndependencies = ["{requirement}"]\n'
    }


def test_a_project_that_needs_2_15_cannot_run_on_a_v100(tmp_path: Path) -> None:
    (result,) = examined(tmp_path, project("torch>=2.15"), "healthy_v100")
    assert result.status == "problem"
    assert "requires torch>=2.15 (pyproject.toml:4)" in result.summary and "last" in result.summary
    assert "2.14" in result.summary
    assert result.remedy is not None and result.remedy.command is not None
    assert "torch==2.14" in result.remedy.command and "whl/cu126" in result.remedy.command


def test_the_same_project_runs_on_an_h100(tmp_path: Path) -> None:
    (result,) = examined(tmp_path, project("torch>=2.15"), "healthy_h100")
    assert result.status == "ok"


def test_an_installed_torch_that_the_project_does_not_accept_is_a_warning(tmp_path: Path) -> None:
    (result,) = examined(tmp_path, project("torch==2.13.0"), "healthy_h100")
    assert result.status == "warning" and "torch 2.15.0+cu132 is installed" in result.summary
    assert result.remedy is not None and result.remedy.command is not None and "2.13.0" in result.remedy.command


def test_what_only_an_extra_asks_for_is_a_note(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\n[project.optional-dependencies]\ntest = ["torch==2.13.0"]\n'
    (result,) = examined(tmp_path, {"pyproject.toml": text}, "healthy_h100")
    assert result.status == "note"


def test_an_index_without_code_for_the_gpu_is_a_problem(tmp_path: Path) -> None:
    files = {"requirements.txt": "--extra-index-url https://download.pytorch.org/whl/cu130\ntorch>=2.6\n"}
    results = examined(tmp_path, files, "healthy_v100")
    index = next(result for result in results if "cu130" in result.summary)
    assert index.status == "problem" and "requirements.txt:1" in index.summary
    assert index.remedy is not None and "cu126" in (index.remedy.command or "")


def test_an_index_that_ended_before_the_wanted_release_is_a_problem(tmp_path: Path) -> None:
    files = {"requirements.txt": "--index-url https://download.pytorch.org/whl/cu126\ntorch>=2.15\n"}
    results = examined(tmp_path, files, "healthy_h100")
    index = next(result for result in results if "The index cu126" in result.summary)
    assert index.status == "problem" and "its last is 2.14" in index.summary


def test_an_index_that_serves_the_machine_is_well(tmp_path: Path) -> None:
    files = {"requirements.txt": "--index-url https://download.pytorch.org/whl/cu126\ntorch>=2.6\n"}
    assert {result.status for result in examined(tmp_path, files, "healthy_v100")} == {"ok"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[[tool.uv.index]]\nname = "t"\nurl = "https://download.pytorch.org/whl/cu130"\n'),
        ("pyproject.toml", '[[tool.poetry.source]]\nname = "t"\nurl = "https://download.pytorch.org/whl/cu130"\n'),
        ("requirements-gpu.txt", "-i https://download.pytorch.org/whl/cu130\n"),
        (
            "environment.yml",
            "dependencies:\n  - pip:\n    - --extra-index-url https://download.pytorch.org/whl/cu130\n",
        ),
    ],
)
def test_indexes_are_found_wherever_a_project_names_them(tmp_path: Path, name: str, text: str) -> None:
    results = examined(tmp_path, {name: text}, "healthy_v100")
    assert any("The index cu130" in result.summary and name in result.summary for result in results)


def test_an_index_that_torchlift_does_not_know_is_not_guessed_about(tmp_path: Path) -> None:
    files = {"requirements.txt": "--index-url https://download.pytorch.org/whl/cu199\ntorch\n"}
    index = next(result for result in examined(tmp_path, files, "healthy_h100") if "cu199" in result.summary)
    assert index.status == "note" and "not in torchlift's tables" in index.summary


def test_a_pinned_build_is_held_against_the_gpu(tmp_path: Path) -> None:
    (well,) = examined(tmp_path, project("torch==2.14.1+cu126"), "healthy_v100")
    assert well.status == "ok"
    (ill,) = examined(tmp_path, project("torch==2.14.1+cu130"), "healthy_v100")
    assert ill.status == "problem"


def test_the_python_of_the_project_counts(tmp_path: Path) -> None:
    result = examined(tmp_path, project("torch", python=">=3.13"), "healthy_h100")[0]
    assert result.status == "problem" and "Python >=3.13" in result.summary and "3.12.7" in result.summary


def test_markers_are_those_of_the_examined_machine(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\ndependencies = ["torch>=2.15; sys_platform == \'darwin\'", "torch>=2.6; sys_platform == \'linux\'"]'
    (result,) = examined(tmp_path, {"pyproject.toml": text}, "healthy_v100")
    assert result.status == "ok" and "torch>=2.6" in result.summary


@pytest.mark.parametrize(
    ("constraint", "status"),
    [("^2.15", "problem"), ("~2.14", "ok"), ("2.14.1", "ok"), (">=2.15,<3", "problem"), (">=2.5,<2.15", "ok")],
)
def test_poetry_constraints_are_understood(tmp_path: Path, constraint: str, status: str) -> None:
    text = f'[tool.poetry.dependencies]\ntorch = "{constraint}"\n'
    (result,) = examined(tmp_path, {"pyproject.toml": text}, "healthy_v100")
    assert result.status == status, result.summary


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "<2.14"\n'),
        ("environment.yml", "dependencies:\n  - pytorch<2.14\n"),
    ],
)
def test_an_upper_bound_alone_counts_in_every_notation(tmp_path: Path, name: str, text: str) -> None:
    (result,) = examined(tmp_path, {name: text}, "healthy_h100")
    assert result.status == "warning" and "torch 2.15.0+cu132 is installed" in result.summary


def test_the_python_of_poetry_counts_in_its_own_notation(tmp_path: Path) -> None:
    text = '[tool.poetry.dependencies]\npython = "~3.13"\ntorch = "*"\n'
    result = examined(tmp_path, {"pyproject.toml": text}, "healthy_h100")[0]
    assert result.status == "problem" and "Python ~3.13" in result.summary
    text = text.replace("~3.13", "^3.10")
    assert {result.status for result in examined(tmp_path, {"pyproject.toml": text}, "healthy_h100")} == {"ok"}


def test_a_project_newer_than_the_data_is_not_judged(tmp_path: Path) -> None:
    (result,) = examined(tmp_path, project("torch>=9.1"), "healthy_h100")
    assert result.status == "note" and "newer than torchlift's data" in result.summary


def test_a_project_that_says_nothing_about_torch(tmp_path: Path) -> None:
    (result,) = examined(tmp_path, {"README.md": "torch>=2.15"}, "healthy_v100")
    assert result.status == "note"


def test_broken_metadata_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\ntorch")
    report = examine_project(str(tmp_path), changed("empty", {}))
    assert any("is not valid TOML" in note for note in report.notes)


def test_credentials_of_an_index_are_never_shown(tmp_path: Path) -> None:
    files = {"requirements.txt": "--index-url https://me:secret@mirror.test/download.pytorch.org/whl/cu126\ntorch\n"}
    text = repr(examined(tmp_path, files, "healthy_v100"))
    assert "mirror.test" in text and "secret" not in text


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="There is no folder"):
        examine_project(str(tmp_path / "none"), changed("empty", {}))
