"""Where one reader of a project's files knew what the other did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlift.dependencies.lowest import lowest_release
from torchlift.dependencies.metadata import Metadata, read_metadata
from torchlift.dependencies.strength import Strength


def metadata(folder: Path, name: str, text: str) -> Metadata:
    (folder / name).write_text(text)
    return read_metadata(folder, folder)


def declared(found: Metadata) -> list[tuple[str, Strength, str | None]]:
    return [(item.place, item.strength, str(lowest_release(item.pin) or "") or None) for item in found.declarations]


def test_a_channel_of_conda_is_no_requirement(tmp_path: Path) -> None:
    text = "channels:\n  - pytorch\n  - conda-forge::pytorch\ndependencies:\n  - numpy\n"
    assert declared(metadata(tmp_path, "environment.yml", text)) == []


def test_a_comment_behind_a_requirement_of_setup_cfg_is_none_of_it(tmp_path: Path) -> None:
    found = metadata(tmp_path, "setup.cfg", "[options]\ninstall_requires =\n    torch>=2.1  # for compile\n")
    assert declared(found) == [("setup.cfg:3", Strength.RUNTIME, "2.1")] and found.notes == []


def test_the_place_is_that_of_the_requirement_and_not_of_the_first_such_word(tmp_path: Path) -> None:
    text = '[project]\nkeywords = ["torch"]\n\ndependencies = [\n  "torch",\n]\n'
    assert declared(metadata(tmp_path, "pyproject.toml", text)) == [("pyproject.toml:5", Strength.RUNTIME, None)]


def test_what_is_escaped_in_toml_counts_as_what_it_means(tmp_path: Path) -> None:
    text = '[project]\ndependencies = [\n  "torch>=2.1; python_version < \\"3.12\\"",\n]\n'
    found = metadata(tmp_path, "pyproject.toml", text)
    assert declared(found) == [("pyproject.toml:3", Strength.RUNTIME, "2.1")]
    assert found.declarations[0].pin.text == 'torch>=2.1; python_version < "3.12"'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.hatch.envs.test]\ndependencies = ["torch>=2.3"]\n'),
        ("setup.py", "from setuptools import setup\nsetup(tests_require=['torch>=2.3'])\n"),
        ("setup.cfg", "[options]\ntests_require = torch>=2.3\n"),
    ],
)
def test_what_tests_and_environments_of_developers_need_counts_least(tmp_path: Path, name: str, text: str) -> None:
    assert declared(metadata(tmp_path, name, text)) == [(f"{name}:2", Strength.OTHER, "2.3")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[build-system]\nrequires = ["torch>=2.3"]\n'),
        ("setup.py", "from setuptools import setup\nsetup(setup_requires=['torch>=2.3'])\n"),
        ("setup.cfg", "[options]\nsetup_requires = torch>=2.3\n"),
    ],
)
def test_what_only_builds_the_distribution_is_no_bound(tmp_path: Path, name: str, text: str) -> None:
    assert declared(metadata(tmp_path, name, text)) == []


def test_two_versions_without_a_comma_are_not_understood_as_pip_does_not(tmp_path: Path) -> None:
    found = metadata(tmp_path, "requirements.txt", "torch>=2.1 <3\n")
    assert declared(found) == []
    assert found.notes == ["The torch requirement in requirements.txt:1 is not understood (`<3`) and was left out."]


def test_the_python_of_poetry_is_one_that_is_asked_for(tmp_path: Path) -> None:
    found = metadata(tmp_path, "pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.10"\n')
    assert [(item.pin.text, item.pin.specifier, item.place) for item in found.python] == [
        ("^3.10", ">=3.10,<4", "pyproject.toml:2")
    ]


def test_the_files_of_a_distribution_count_as_it_does_whatever_comes_first(tmp_path: Path) -> None:
    text = '[tool.setuptools.dynamic]\noptional-dependencies.x.file = "a.txt"\ndependencies.file = "a.txt"\n'
    (tmp_path / "a.txt").write_text("torch>=2.2\n")
    assert declared(metadata(tmp_path, "pyproject.toml", text)) == [("a.txt:1", Strength.RUNTIME, "2.2")]
