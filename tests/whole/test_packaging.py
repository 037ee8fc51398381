"""The built wheel holds every file of the mapped folders, under the one import name."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from torchlift.help import ENTRIES

pytestmark = pytest.mark.xdist_group("the built wheel")

ROOT = Path(__file__).parents[2]
MAPPED = {
    "torchlift": ROOT / "src/torchlift",
    "torchlift/migrate": ROOT / "migrate",
    "torchlift/rules": ROOT / "rules",
    "torchlift/doctor": ROOT / "doctor",
    "torchlift/testing": ROOT / "testing",
    "torchlift/record": ROOT / "record",
    "torchlift/convert": ROOT / "convert",
    "torchlift/server": ROOT / "server",
    "torchlift/survey": ROOT / "survey",
}


@pytest.fixture(scope="module")
def wheel(wheel_file: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(wheel_file)


def test_every_source_file_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    expected = {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in MAPPED.items()
        for path in folder.rglob("*.py")
        if "__pycache__" not in path.parts
    }
    assert expected <= set(wheel.namelist())


def test_every_data_file_that_the_repository_has_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", *MAPPED.values()], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    expected = set()
    for name, folder in MAPPED.items():
        inside = [Path(path) for path in tracked if not path.endswith(".py")]
        inside = [ROOT / path for path in inside if (ROOT / path).is_relative_to(folder)]
        expected |= {f"{name}/{path.relative_to(folder).as_posix()}" for path in inside}
    assert len(expected) > 10
    assert expected <= set(wheel.namelist())


def test_the_pages_are_in_the_wheel_but_those_that_are_made_of_entries(wheel: zipfile.ZipFile) -> None:
    inside = {
        name.rpartition("/")[2].removesuffix(".md") for name in wheel.namelist() if name.startswith("torchlift/docs/")
    }
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages - set(ENTRIES) == inside - {"__init__.py"} and set(ENTRIES) < pages


def test_the_tables_of_the_resolver_load_from_the_wheel(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    program = (
        "from torchlift.wheels import gpus, machine, resolver\n"
        "v100 = machine.Device('V100', gpus.by_name('V100').gpu.capability)\n"
        "print(resolver.__file__, resolver.resolve(machine.Machine((v100,), '580.95.05')).choice.build)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path) in done.stdout and done.stdout.endswith(" cu126\n")


_RULES_IMPORTED = """
import sys
from click.testing import CliRunner
from torchlift.cli import torchlift
done = CliRunner().invoke(torchlift, ["migrate", "--check", "--isolated", sys.argv[1]])
print(done.exit_code, *(name for name in sys.modules if name.startswith("torchlift.rules.") and ".tl" in name))
"""


def _imported_rules(installed: Path, source: Path) -> list[str]:
    """The exit code of a check where nothing can be written, and the modules of rules that it has imported."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", _RULES_IMPORTED, str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_wheel_brings_its_index_of_rules(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    installed, source = tmp_path / "installed", tmp_path / "project" / "a.py"
    wheel.extractall(installed)
    source.parent.mkdir()
    source.write_text("x = 1\n")
    assert _imported_rules(installed, source) == ["0"]
    source.write_text("import torch\n\nx = torch.ger(a, b)\n")
    code, *rules = _imported_rules(installed, source)
    assert code == "1" and len(rules) < 5

    rule = next((installed / "torchlift/rules").rglob("tl401_*.py"))
    rule.write_text(rule.read_text() + "\n# changed\n")
    assert len(_imported_rules(installed, source)) > 100

    rule.write_text(rule.read_text().removesuffix("\n# changed\n"))
    assert _imported_rules(installed, source) == ["1", *rules]
    later = rule.stat().st_mtime + 3600
    os.utime(rule, (later, later))
    assert len(_imported_rules(installed, source)) > 100


def test_the_wheel_brings_no_other_top_level_name(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"torchlift"}


def test_all_commands_are_installed(wheel: zipfile.ZipFile) -> None:
    entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    text = wheel.read(entry).decode()
    for line in (
        "torchlift = torchlift.cli:main",
        "migrate = torchlift.migrate.cli:main",
        "doctor = torchlift.doctor.cli:main",
    ):
        assert line in text


@pytest.mark.parametrize("folder", ["rules", "migrate", "doctor"])
def test_the_bare_folder_refuses_to_be_imported(folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and f"import torchlift.{folder}" in done.stderr


def test_the_readme_and_the_automation_run_the_same_test_command() -> None:
    command = "python3 -m venv .venv && .venv/bin/pip install -q '.[test]' && .venv/bin/python -m pytest"
    assert command in (ROOT / "README.md").read_text()
    assert command in (ROOT / ".ci/run").read_text().splitlines()


def test_the_rule_catalogue_is_up_to_date() -> None:
    from torchlift.rules.catalogue import contents

    assert (ROOT / "docs/rules.md").read_text() == contents()
