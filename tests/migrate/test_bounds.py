from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from torchlift.migrate.workspace.bounds import Bound, BoundsReport, read_bounds
from torchlift.versions import TorchVersion


def project(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def bound(folder: Path, files: Mapping[str, str | bytes]) -> tuple[str, str] | None:
    found = read_bounds(project(folder, files)).bound
    return (str(found.version), found.source) if found else None


def test_without_metadata_there_is_no_bound(tmp_path: Path) -> None:
    assert read_bounds(tmp_path) == BoundsReport(None, ())
    assert bound(tmp_path, {"pyproject.toml": "", "setup.py": "", "setup.cfg": "", "requirements.txt": ""}) is None


# pyproject.toml


def test_dependencies_of_the_project(tmp_path: Path) -> None:
    text = '[project]\nname = "p"\ndependencies = [\n  "numpy>=1",\n  "torchvision>=0.15",\n  "torch>=2.1",\n]\n'
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.1", "pyproject.toml:6")


def test_crlf_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    text = '\ufeff[project]\r\ndependencies = ["torch>=2.1"]\r\n'
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.1", "pyproject.toml:2")


def test_every_branch_of_markers_counts(tmp_path: Path) -> None:
    text = """[project]
dependencies = [
  "torch>=2.4; python_version >= '3.12'",
  "torch>=2.0; python_version < '3.12'",
  "torch; sys_platform == 'darwin'",
]
"""
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.0", "pyproject.toml:4, the lowest of 2")


def test_extras_count_where_the_project_itself_says_nothing(tmp_path: Path) -> None:
    text = """[project]
dependencies = ["torch"]
[project.optional-dependencies]
gpu = ["torch>=2.2"]
dev = ["torch==2.9.0"]
"""
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.2", "pyproject.toml:4, the lowest of 2")
    text = text.replace('["torch"]', '["torch>=2.5"]')
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.5", "pyproject.toml:2")


@pytest.mark.parametrize(
    "text",
    [
        '[dependency-groups]\ntest = ["torch>=2.3", {include-group = "x"}]',
        '[tool.uv]\ndev-dependencies = ["torch>=2.3"]',
        '[tool.pdm.dev-dependencies]\ntest = ["torch>=2.3"]',
        '[tool.poetry.dev-dependencies]\ntorch = "^2.3"',
        '[tool.poetry.group.dev.dependencies]\ntorch = "^2.3"',
        '[tool.poetry.dependencies]\ntorch = "^2.3"',
        '[tool.poetry.dependencies]\n"torch" = {version = "~2.3", source = "cpu"}',
        '[tool.poetry.dependencies]\ntorch.version = "2.3.*"',
        '[tool.poetry.dependencies]\ntorch = {url = "https://example.org/torch-2.3.0%2Bcu118-cp310-cp310-linux_x86_64.whl"}',
    ],
)
def test_other_tables_of_pyproject(tmp_path: Path, text: str) -> None:
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.3", "pyproject.toml:2")


def test_a_poetry_table_of_its_own_has_its_line(tmp_path: Path) -> None:
    text = '[tool.poetry.dependencies]\npython = "^3.10"\npytorch-lightning = "^2"\n\n[tool.poetry.dependencies.torch]\nversion = "^2.3"'
    assert bound(tmp_path, {"pyproject.toml": text}) == ("2.3", "pyproject.toml:6")


def test_poetry_branches_count(tmp_path: Path) -> None:
    text = """[tool.poetry.dependencies]
torch = [
  {version = "^2.4", markers = "sys_platform == 'linux'"},
  {version = ">=2.1", markers = "sys_platform != 'linux'"},
]
"""
    found = read_bounds(project(tmp_path, {"pyproject.toml": text})).bound
    assert found is not None
    assert found.version == TorchVersion(2, 1)
    assert found.source == "pyproject.toml:4, the lowest of 2"


def test_requirement_files_that_the_metadata_names_are_the_requirements(tmp_path: Path) -> None:
    text = """[project]
dynamic = ["dependencies", "optional-dependencies"]
[tool.setuptools.dynamic]
dependencies = {file = ["deps/run.txt"]}
optional-dependencies = {dev = {file = "deps/dev.txt"}}
"""
    files = {"pyproject.toml": text, "deps/run.txt": "torch>=2.4", "deps/dev.txt": "torch>=2.0"}
    assert bound(tmp_path, {**files, "requirements.txt": "torch>=1.13"}) == ("2.4", "deps/run.txt:1")
    assert bound(tmp_path, {"deps/run.txt": ""}) == ("2.0", "deps/dev.txt:1")


def test_bad_toml_is_a_note(tmp_path: Path) -> None:
    report = read_bounds(project(tmp_path, {"pyproject.toml": "torch = [", "requirements.txt": "torch>=2.1"}))
    assert report.bound == Bound(TorchVersion(2, 1), "requirements.txt:1")
    [note] = report.notes
    assert note.startswith("pyproject.toml is not valid TOML (")


@pytest.mark.parametrize(
    "text",
    [
        "project = 1 # torch",
        "[project]\ndependencies = 'torch>=2'",
        "[project]\ndependencies = [1, 'torch']",
        "[project]\noptional-dependencies = ['torch>=2']",
        "[project.optional-dependencies]\na = 'torch'",
        "dependency-groups = ['torch']",
        "tool = 1 # torch",
        "[tool]\npoetry = 1\nuv = 'torch'\npdm = []\nsetuptools = 1",
        "[tool.poetry]\ndependencies = ['torch']\ngroup = [1]",
        "[tool.poetry.dependencies]\ntorch = 1",
        "[tool.poetry.dependencies]\ntorch = [1, {git = 'x'}]",
        "[tool.poetry.group]\ndev = 1 # torch",
        "[tool.setuptools.dynamic]\ndependencies = 1\noptional-dependencies = {a = 1} # file",
        "[tool.setuptools.dynamic]\ndependencies = {file = [1, '../../x', '/etc/passwd', '.']}",
    ],
)
def test_a_pyproject_of_another_shape_has_no_bound(tmp_path: Path, text: str) -> None:
    assert bound(tmp_path, {"pyproject.toml": text}) is None


# setup.cfg


def test_setup_cfg(tmp_path: Path) -> None:
    text = """[metadata]
name = p
description = uses torch>=1.0 and 100%% more
[options]
install_requires =
    numpy
    torch>=2.1; python_version < "3.12"
[options.extras_require]
dev =
    torch>=2.0
"""
    assert bound(tmp_path, {"setup.cfg": text}) == ("2.1", "setup.cfg:7")
    assert bound(tmp_path, {"setup.cfg": text.replace("torch>=2.1", "torch")}) == ("2.0", "setup.cfg:10")


def test_setup_cfg_may_name_a_requirement_file(tmp_path: Path) -> None:
    files = {"setup.cfg": "[options]\ninstall_requires = file: deps.txt, more.txt\n", "more.txt": "torch>=2.2"}
    assert bound(tmp_path, {**files, "requirements.txt": "torch>=1.13"}) == ("2.2", "more.txt:1")


@pytest.mark.parametrize("text", ["torch", "[options\ntorch", "[options]\n torch\n= x", "[a]\ntorch\n[a]\n"])
def test_a_malformed_setup_cfg_is_a_note(tmp_path: Path, text: str) -> None:
    report = read_bounds(project(tmp_path, {"setup.cfg": text}))
    assert report.bound is None
    assert report.notes[0].startswith("setup.cfg cannot be read (")


# setup.py


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("from setuptools import setup\nsetup(install_requires=['numpy', 'torch>=2.1'])", 2),
        ("import setuptools\nsetuptools.setup(\n  install_requires=[\n    'torch>=2.1',\n  ],\n)", 4),
        ("from setuptools import setup\nNEEDS = ['torch>=2.1']\nsetup(install_requires=NEEDS)", 2),
        ("needs = ('numpy',)\nneeds += ('torch>=2.1',)\nsetup(install_requires=needs)", 2),
        ("needs = []\nif True:\n    needs.append('torch>=2.1')\nsetup(install_requires=needs)", 3),
        ("needs = []\nneeds.extend(['torch>=2.1'])\nsetup(install_requires=needs)", 2),
        ("a = ['numpy']\nb = ['torch>=2.1']\nsetup(install_requires=a + b)", 2),
        ("a: list[str] = ['torch>=2.1']\nsetup(install_requires=[*a, 'numpy'])", 1),
        ("V = '2.1'\nsetup(install_requires=[f'torch>={V}'])", 2),
        ("V = '2.1'\nsetup(install_requires=['torch>=' + V])", 2),
        ("T = 'torch>=2.1'\nsetup(install_requires=[T])", 1),
        ("setup(install_requires='numpy\\ntorch>=2.1')", 1),
        ("setup(install_requires=list({'torch>=2.1'}))", 1),
        ("setup(install_requires=['torch>=2.1' if X else 'torch-cpu'])", 1),
        ("config = {'install_requires': ['torch>=2.1']}\nsetup(**config)", 1),
        ("config = dict(install_requires=['torch>=2.1'])\nsetup(**config)", 1),
        ("setup(**{'install_requires': ['torch>=2.1']})", 1),
        ("def do():\n    setup(install_requires=['torch>=2.1'])", 2),
        ("setup(extras_require={'all': ['torch>=2.1']})", 1),
        ("extras = {}\nextras['x'] = 1\nsetup(extras_require={**{'a': ['torch>=2.1']}, 'b': extras['x']})", 3),
        ("a = ['torch>=2.1']\na = a + a\nsetup(install_requires=a)", 1),
    ],
)
def test_setup_py_is_read_as_syntax(tmp_path: Path, text: str, line: int) -> None:
    assert bound(tmp_path, {"setup.py": text}) == ("2.1", f"setup.py:{line}")


@pytest.mark.parametrize(
    "text",
    [
        "setup(install_requires=read('requirements/base.txt'))",
        "setup(install_requires=open('requirements/base.txt').read().splitlines())",
        "needs = read(HERE / 'requirements/base.txt')  # torch\nsetup(install_requires=needs)",
    ],
)
def test_a_requirement_file_that_setup_py_reads_is_the_requirement(tmp_path: Path, text: str) -> None:
    files = {"setup.py": text + " # file", "requirements/base.txt": "torch>=2.3", "requirements.txt": "torch>=1.13"}
    assert bound(tmp_path, files) == ("2.3", "requirements/base.txt:1")


@pytest.mark.parametrize(
    "text",
    [
        "setup(install_requires=needs())  # torch",
        "setup(install_requires=a)\na = b\nb = a  # torch",
        "setup(name='torch>=2.1', install_requires=[1, None, b'torch'])",
        "notsetup(install_requires=['torch>=2.1'])",
        "setup('torch>=2.1', **'torch>=2.1')",
        "setup(**f())  # torch",
        "setup(**{**{}, 1: ['torch>=2']})",
    ],
)
def test_a_computed_setup_py_has_no_bound(tmp_path: Path, text: str) -> None:
    assert bound(tmp_path, {"setup.py": text}) is None


def test_setup_py_is_never_executed(tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'ran')!r}, 'w')\nsetup(install_requires=['torch>=2.1'])"
    assert bound(tmp_path, {"setup.py": text}) == ("2.1", "setup.py:2")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "text",
    ["print 'torch'", "torch\0", "setup(install_requires=" + "(" * 500 + "'torch')", "\ttorch\n  x"],
    ids=["python2", "nul", "parentheses", "tabs"],
)
def test_an_unparsable_setup_py_is_a_note(tmp_path: Path, text: str) -> None:
    report = read_bounds(project(tmp_path, {"setup.py": text}))
    assert report.bound is None
    assert report.notes[0].startswith("setup.py cannot be parsed (")


def test_a_setup_py_that_doubles_without_end_is_read_quickly(tmp_path: Path) -> None:
    lists = "\n".join(f"a{number} = a{number + 1} + a{number + 1}" for number in range(60))
    text = f"{lists}\na60 = ['torch>=2.1']\nb0 = 'torch'\n"
    text += "\n".join(f"b{number + 1} = b{number} + b{number}" for number in range(60))
    text += "\nsetup(install_requires=a0, extras_require=b60)"
    assert bound(tmp_path, {"setup.py": text}) == ("2.1", "setup.py:61")


def test_a_very_deep_setup_py_is_a_note_or_a_bound(tmp_path: Path) -> None:
    text = "setup(install_requires=['torch>=2.1']" + " + ['x']" * 20_000 + ")"
    report = read_bounds(project(tmp_path, {"setup.py": text}))
    assert report.bound is not None or report.notes


# Requirement files


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "requirements_gpu.txt",
        "requirements.in",
        "dev-requirements.txt",
        "requirements/base.txt",
        "requirements/base.in",
    ],
)
def test_requirement_files(tmp_path: Path, name: str) -> None:
    text = "# torch>=1.0\n--index-url https://example.org/torch\nnumpy\ntorch==2.1.0+cu118  # pinned\ntorchvision\n"
    assert bound(tmp_path, {name: text}) == ("2.1", f"{name}:4")


@pytest.mark.parametrize(
    "line",
    [
        "torch==2.1.0 --hash=sha256:00 --hash=sha256:11",
        "torch==2.1.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11",
        "torch \\\n  >=2.1",
        "   torch>=2.1",
        "torch>=2.1;python_version<'3.12'#x",
        "https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl",
    ],
)
def test_lines_of_requirement_files(tmp_path: Path, line: str) -> None:
    assert bound(tmp_path, {"requirements.txt": f"numpy\n{line}\nscipy\n"}) == ("2.1", "requirements.txt:2")


def test_the_last_line_may_go_on_into_nothing(tmp_path: Path) -> None:
    assert bound(tmp_path, {"requirements.txt": "torch>=2.1 \\"}) == ("2.1", "requirements.txt:1")


def test_included_files_are_read_once_wherever_the_circle_begins(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "-r sub/more.txt\n-c constraints.txt\n",
        "sub/more.txt": "--requirement=../requirements.txt\n--constraint ../constraints.txt\n",
        "constraints.txt": "-r constraints.txt\ntorch>=2.1\n",
    }
    assert bound(tmp_path, files) == ("2.1", "constraints.txt:2")


def test_includes_that_lead_nowhere_or_outside_are_notes(tmp_path: Path) -> None:
    project(tmp_path, {"secret.txt": "torch>=1.0"})
    text = "-r no.txt\n-r ../secret.txt\n-r https://example.org/r.txt\n-r .\n-r a\0b\ntorch>=2.1\n"
    report = read_bounds(project(tmp_path / "p", {"requirements.txt": text}))
    assert report.bound == Bound(TorchVersion(2, 1), "requirements.txt:6")
    assert report.notes == (
        "requirements.txt:1 includes no.txt, which is no file.",
        "requirements.txt:2 includes ../secret.txt, which lies outside the project and was not read.",
        "requirements.txt:4 includes ., which is no file.",
        "requirements.txt:5 includes a\0b, which is no file.",
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_requirement_files_of_other_encodings(tmp_path: Path, encoding: str) -> None:
    data = "# é\r\ntorch>=2.1\r\n".encode(encoding)
    assert bound(tmp_path, {"requirements.txt": data}) == ("2.1", "requirements.txt:2")


def test_malformed_lines_are_notes_if_they_are_about_torch(tmp_path: Path) -> None:
    text = "numpy=>1\n???\n[\ntorch=2.1\ntorch>=${V}\ntorch>=2.2\n"
    report = read_bounds(project(tmp_path, {"requirements.txt": text}))
    assert report.bound == Bound(TorchVersion(2, 2), "requirements.txt:6")
    assert report.notes == (
        "The torch requirement in requirements.txt:4 is not understood (`=2.1`) and was left out.",
        "The torch requirement in requirements.txt:5 is not understood (`>=${V}`) and was left out.",
    )


def test_binary_nonsense_has_no_bound(tmp_path: Path) -> None:
    nonsense = bytes(range(256)) * 20 + b"torch\0"
    names = ["pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "environment.yml"]
    assert bound(tmp_path, dict.fromkeys(names, nonsense)) is None


# conda


def test_a_conda_environment(tmp_path: Path) -> None:
    text = """name: p
channels:
  - pytorch
  - nvidia
dependencies:
  - python=3.10
  - pytorch-cuda=11.8
  - "pytorch>=2.1"  # the one
  - pip:
"""
    assert bound(tmp_path, {"environment.yml": text}) == ("2.1", "environment.yml:8")


def test_the_pip_part_of_a_conda_environment(tmp_path: Path) -> None:
    text = "dependencies:\n- python=3.10\n- pip:\n  - torch==2.2.0\n  - pytorch==1.0\n  - -r more.txt\n- scipy\n"
    files = {"environment-gpu.yaml": text, "more.txt": "torchvision\n"}
    assert bound(tmp_path, files) == ("2.2", "environment-gpu.yaml:4")
    files["more.txt"] = "torch>=2.0"
    assert bound(tmp_path, files) == ("2.0", "more.txt:1, the lowest of 2")


def test_torch_is_no_conda_package_and_pytorch_none_of_pip(tmp_path: Path) -> None:
    assert bound(tmp_path, {"environment.yml": "dependencies:\n  - torch>=2\n  - pip:\n    - pytorch>=2\n"}) is None


# Several files


def test_what_the_distribution_requires_beats_everything_else(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project.optional-dependencies]\ndev = ["torch>=1.11"]\n[dependency-groups]\nt = ["torch==2.0"]',
        "setup.py": "setup(install_requires=['torch>=2.4'])",
        "setup.cfg": "[options.extras_require]\na = torch>=1.12",
        "requirements.txt": "torch==1.13",
        "environment.yml": "dependencies:\n  - pytorch=1.10",
    }
    assert bound(tmp_path, files) == ("2.4", "setup.py:1")


def test_extras_beat_what_developers_install(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[dependency-groups]\nt = ["torch==2.0"]\n[project.optional-dependencies]\nx = ["torch>=2.4"]',
        "requirements.txt": "torch==1.13",
    }
    assert bound(tmp_path, files) == ("2.4", "pyproject.toml:4")


def test_among_equals_the_lowest_counts_and_says_so(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "torch>=2.4",
        "requirements-old.txt": "torch==1.13.1",
        "requirements-x.txt": "torch>=2.4",
    }
    assert read_bounds(project(tmp_path, files)) == BoundsReport(
        Bound(TorchVersion(1, 13, 1), "requirements-old.txt:1, the lowest of 3", pinned=True)
    )


def test_files_that_agree_need_no_remark(tmp_path: Path) -> None:
    report = read_bounds(project(tmp_path, {"requirements.txt": "torch>=2.4", "environment.yml": "- pytorch=2.4.0"}))
    assert report == BoundsReport(Bound(TorchVersion(2, 4), "requirements.txt:1"))


def test_a_repository_of_several_distributions(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "torch>=2.0",
        "python/pyproject.toml": '[project]\ndependencies = ["torch>=2.4"]',
        "python/pkg/sub/a.py": "",
        "other/a.py": "",
    }
    project(tmp_path, files)
    assert read_bounds(tmp_path).bound == Bound(TorchVersion(2), "requirements.txt:1")
    for start in ("python", "python/pkg/sub", "python/pkg/sub/a.py", "python/no/such"):
        assert read_bounds(tmp_path, tmp_path / start).bound == Bound(TorchVersion(2, 4), "python/pyproject.toml:2")
    for start in ("", "other", "..", "../elsewhere"):
        assert read_bounds(tmp_path, tmp_path / start).bound == Bound(TorchVersion(2), "requirements.txt:1")


@pytest.mark.skipif(os.name == "nt", reason="not on this system")
def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "requirements.txt")
    (tmp_path / "setup.py").mkdir()
    (tmp_path / "requirements-dev.txt").symlink_to("/etc/hostname")
    (tmp_path / "requirements-loop.txt").symlink_to("requirements-loop.txt")
    (tmp_path / "requirements").write_text("torch>=2")
    assert read_bounds(tmp_path) == BoundsReport(None)


def test_neither_packaging_nor_torch_nor_yaml_is_imported(tmp_path: Path) -> None:
    project(tmp_path, {"requirements.txt": "torch>=2.4", "environment.yml": "- pytorch=2.4.0"})
    code = (
        "import sys; from pathlib import Path; from torchlift.migrate.workspace.bounds import read_bounds\n"
        f"assert read_bounds(Path({str(tmp_path)!r})).bound\n"
        "assert not {'packaging', 'yaml', 'torch', 'tomllib', 'importlib.metadata'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
