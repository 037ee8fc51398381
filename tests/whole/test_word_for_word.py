"""Whole answers, of which other tests look for a few words each: reports, explanations, plans and patches as they were."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from doctor_machines import FIXTURES, MACHINES, facts_file
from noted_words import problem_with

from torchlift import __version__
from torchlift.cli import torchlift
from torchlift.doctor.errors.first_cause import first_cause
from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.errors.lines import chunks_of
from torchlift.doctor.errors.table import SUBJECTS
from torchlift.doctor.report import explanation, explanation_text
from torchlift.migrate.output_formats import OUTPUT_FORMATS
from torchlift.terminal.style import Style

Told = Callable[[str, str], None]
GPUS = ("GTX 1080", "V100", "T4", "RTX 3090", "A100", "RTX 4090", "2xH100", "B200", "RTX 5090", "8.6")
ASKED = (
    "--driver 450",
    "--driver 525.60.13",
    "--driver 550",
    "--driver 580",
    "--driver 580 --os windows",
    "--driver 580 --machine aarch64",
    "--driver 580 --python-version 3.9",
    "--driver 580 --python-version 3.14",
    "--driver 580 --for torch==2.15",
    "--driver 525.60.13 --for torch==2.13",
    "--driver 580 --emit requirements",
    "--driver 580 --emit uv",
    "--driver 580 --emit pixi",
    "--driver 580 --emit dockerfile",
)
PROJECTS = ("legacy_project", "traps", "evidence_programs")
EVERYTHING = ("--unsafe-fixes", "--torchscript=drop", "--torchscript-tests=successor", "--min-torch=2.13")
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*"


@pytest.fixture
def told(pytestconfig: pytest.Config) -> Told:
    """Fails where something is answered otherwise than it was noted."""

    def compare(name: str, said: str) -> None:
        problem = problem_with(name, said.replace(__version__, "VERSION"))
        assert problem is None or pytestconfig.getoption("prove"), problem

    return compare


def answered(*arguments: str) -> str:
    done = CliRunner(env={"COLUMNS": "80", "LINES": "24"}).invoke(torchlift, arguments, prog_name="torchlift")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return f"{done.exit_code}\n{done.output}"


def explained(text: str) -> str:
    found = first_cause(chunks_of(io.BytesIO(text.encode())))
    return explanation_text.render(explanation.Explanation(found), Style())


def questions_for_the_doctor(folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names, and what to ask `torchlift` with; `folder` gets files with facts."""
    files = [facts_file(name, folder) for name in (*MACHINES, "healthy_h100")]
    for form in ("text", "json", "markdown", "html", "github", "junit"):
        for name, file in zip(MACHINES, files, strict=False):
            yield f"doctor {form} {name}", ("doctor", "--facts", file, "--format", form, "--verbose")
        yield f"doctor {form} all", ("doctor", "--format", form, "--verbose", "merge", *files)
    for gpu in GPUS:
        for asked in ASKED:
            yield f"doctor for {gpu}", ("doctor", "--gpu", gpu, *asked.split())


def copied(project: str, folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", "*.pt", "*.pt2")
    return Path(shutil.copytree(FIXTURES / project, folder / project, ignore=ignored))


def answered_in_every_format(project: Path) -> dict[str, str]:
    """Findings by format, and a plan and a patch by ""."""
    written = {form: project.with_name(f"{project.name}.{form}") for form in OUTPUT_FORMATS}
    files = [f"--output-file={form}={path}" for form, path in written.items()]
    here = Path.cwd()
    os.chdir(project)
    try:
        said = answered("migrate", ".", "--check", *files)
        said += answered("migrate", ".", "--diff", *EVERYTHING) + answered("plan", ".")
    finally:
        os.chdir(here)
    found = {form: re.sub(_TIME, "TIME", path.read_text(encoding="utf-8")) for form, path in written.items()}
    return {form: text.replace(str(project.parent), "FOLDER") for form, text in {**found, "": said}.items()}


def test_a_report_of_a_machine_is_as_it_was_in_every_format(tmp_path: Path, told: Told) -> None:
    said: dict[str, str] = {}
    for name, arguments in questions_for_the_doctor(tmp_path):
        said[name] = said.get(name, "") + answered(*arguments)
    for name, answers in said.items():
        told(name, answers)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_explanation_of_an_error_is_as_it_was(subject: str, told: Told) -> None:
    rows: tuple[KnownError, ...] = SUBJECTS[subject]
    told(f"errors of {subject}", "\n".join(explained(text) for row in rows for text in row.says))


@pytest.mark.parametrize("project", PROJECTS)
def test_findings_plans_and_patches_are_as_they_were_in_every_format(project: str, tmp_path: Path, told: Told) -> None:
    for form, said in answered_in_every_format(copied(project, tmp_path)).items():
        told(f"migrate {form} {project}", said)
