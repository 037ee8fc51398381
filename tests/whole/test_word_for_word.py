"""Whole answers, of which other tests look for a few words each: reports, explanations, plans and patches as they were."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable
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


@pytest.mark.parametrize("name", MACHINES)
def test_a_report_of_a_machine_is_as_it_was_in_every_format(name: str, tmp_path: Path, told: Told) -> None:
    facts = facts_file(name, tmp_path)
    for form in ("text", "json", "markdown", "html", "github", "junit"):
        told(f"doctor {form} {name}", answered("doctor", "--facts", facts, "--format", form, "--verbose"))


def test_a_comparison_of_all_machines_is_as_it_was_in_every_format(tmp_path: Path, told: Told) -> None:
    files = [facts_file(name, tmp_path) for name in (*MACHINES, "healthy_h100")]
    for form in ("text", "json", "markdown", "html", "github", "junit"):
        told(f"doctor {form} all", answered("doctor", "--format", form, "--verbose", "merge", *files))


@pytest.mark.parametrize("gpu", GPUS)
def test_the_torch_for_a_described_machine_is_as_it_was(gpu: str, told: Told) -> None:
    told(f"doctor for {gpu}", "\n".join(answered("doctor", "--gpu", gpu, *asked.split()) for asked in ASKED))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_explanation_of_an_error_is_as_it_was(subject: str, told: Told) -> None:
    rows: tuple[KnownError, ...] = SUBJECTS[subject]
    said = [
        explanation_text.render(explanation.Explanation(first_cause(chunks_of(io.BytesIO(text.encode())))), Style())
        for row in rows
        for text in row.says
    ]
    told(f"errors of {subject}", "\n".join(said))


@pytest.mark.parametrize("project", ["legacy_project", "traps", "evidence_programs"])
def test_findings_plans_and_patches_are_as_they_were_in_every_format(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    shutil.copytree(
        FIXTURES / project, tmp_path / project, ignore=shutil.ignore_patterns("__pycache__", "*.pt", "*.pt2")
    )
    monkeypatch.chdir(tmp_path / project)
    files = [f"--output-file={form}={tmp_path / form}" for form in OUTPUT_FORMATS]
    said = answered("migrate", ".", "--check", *files)
    for form in OUTPUT_FORMATS:
        written = (tmp_path / form).read_text(encoding="utf-8")
        told(f"migrate {form} {project}", re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*", "TIME", written))
    everything = ("--unsafe-fixes", "--torchscript=drop", "--torchscript-tests=successor", "--min-torch=2.13")
    said += answered("migrate", ".", "--diff", *everything) + answered("plan", ".")
    told(f"migrate {project}", said.replace(str(tmp_path), "FOLDER"))
