"""Options of `torchlift doctor`, by what they are about. Each group is a decorator and a record of its values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click

from torchlift.lazy_dataclass import dataclass

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Decorator = Callable[[Any], Any]

DoctorFormat = Literal["text", "json", "markdown", "html", "github", "junit"]
DOCTOR_FORMATS: tuple[DoctorFormat, ...] = get_args(DoctorFormat)


@dataclass(frozen=True)
class MachineOptions:
    """Which machine: this one, one of a file, or one that is only described."""

    python: str | None
    facts: str | None
    save_facts: str | None
    gpu: tuple[str, ...]
    driver: str | None
    os: str | None
    machine: str | None
    python_version: str | None
    root: str | None
    timeout: float | None
    import_torch: bool

    @property
    def is_described(self) -> bool:
        """Whether the machine is one that the user describes."""
        return bool(self.gpu or self.driver or self.os or self.machine or self.python_version)


@dataclass(frozen=True)
class QuestionOptions:
    """What is asked about it."""

    only: tuple[str, ...]
    skip: tuple[str, ...]
    wanted: str | None
    repo: str | None
    list_checks: bool
    explain: str | None
    install_with: Literal["pip", "uv", "uv-project", "poetry", "pixi", "conda", "dockerfile"] | None
    emit: Literal["requirements", "uv", "pixi", "dockerfile"] | None
    explain_error: str | None


@dataclass(frozen=True)
class OutputOptions:
    """How the answer is given."""

    verbose: bool
    format: DoctorFormat
    output_file: tuple[str, ...]
    html: str | None
    redact: bool
    strict: bool
    color: Literal["auto", "always", "never"]

    @property
    def json(self) -> bool:
        """Whether JSON is asked for."""
        return self.format == "json"

    def files(self) -> tuple[tuple[DoctorFormat | None, Path], ...]:
        """Where to write the report to, and how; None is for the place of what would be shown.

        Raises:
            click.UsageError: one of them is no file to write to.
        """
        if not self.output_file and self.html is None:
            return ()
        from torchlift.pipelines.files import OutputFileError, output_files

        page = [f"html={self.html}"] if self.html is not None else []
        try:
            return output_files([*self.output_file, *page], DOCTOR_FORMATS)
        except OutputFileError as error:
            raise click.UsageError(str(error)) from None

    @property
    def is_shown(self) -> bool:
        """Whether the report goes to standard output."""
        return all(chosen is not None for chosen, _ in self.files())

    def refuse_reports(self, option: str) -> None:
        """See that what is no report is asked for as text or JSON.

        Raises:
            click.UsageError: it is not; the message names `option`.
        """
        if self.format not in ("text", "json") or self.output_file or self.html is not None:
            raise click.UsageError(f"{option} is answered as text or as JSON, on standard output.")

    @property
    def is_redacted(self) -> bool:
        """Whether names are taken out: what is made to be pasted in public has none."""
        return self.redact or self.format == "markdown"


def machine_options(function: _Function) -> _Function:
    """Add the options of `MachineOptions`."""
    return _with(
        function,
        click.option(
            "--python", metavar="PATH", help="Interpreter or environment to examine. [default: the active one]"
        ),
        click.option("--facts", metavar="FILE", help="Diagnose the machine that a facts file describes (- for stdin)."),
        click.option("--save-facts", metavar="FILE", help="Write the facts about this machine to a file, too."),
        click.option("--gpu", multiple=True, metavar="NAME", help="A machine that you describe: V100, 2xH100, 8.6."),
        click.option("--driver", metavar="VERSION", help="NVIDIA driver of the described machine, such as 580."),
        click.option("--os", type=click.Choice(["linux", "windows", "darwin"]), help="Its operating system."),
        click.option("--machine", type=click.Choice(["x86_64", "aarch64"]), help="Its processor."),
        click.option("--python-version", metavar="VERSION", help="Its Python, such as 3.12."),
        click.option("--root", metavar="FOLDER", help="Examine the files below this folder instead of /."),
        click.option(
            "--timeout", type=click.FloatRange(min=0.1), metavar="SECONDS", help="How long one probe may take."
        ),
        click.option("--import-torch", is_flag=True, help="Also import torch, in a process of its own (seconds)."),
    )


def question_options(function: _Function) -> _Function:
    """Add the options of `QuestionOptions`."""
    return _with(
        function,
        click.option("--for", "wanted", metavar="REQ", help="Plan for another torch: torch==2.15."),
        click.option("--repo", metavar="PATH", help="Also say whether this machine can run that project."),
        click.option("--only", multiple=True, metavar="IDS", help="Checks or groups to run, comma-separated."),
        click.option("--skip", multiple=True, metavar="IDS", help="Checks or groups to leave out."),
        click.option(
            "--install-with",
            type=click.Choice(["pip", "uv", "uv-project", "poetry", "pixi", "conda", "dockerfile"]),
            help="Write commands for this tool. [default: what folder and environment show]",
        ),
        click.option(
            "--emit",
            type=click.Choice(["requirements", "uv", "pixi", "dockerfile"]),
            help="Write the pins of the answer, nothing else.",
        ),
        click.option("--list-checks", is_flag=True, help="List all checks."),
        click.option("--explain", metavar="ID", help="Say what a check or a smoke looks for, and why."),
        click.option(
            "--explain-error",
            metavar="TEXT",
            help="Say what an error message, or the first error of a log file (a path, or - for stdin), comes from.",
        ),
    )


def output_options(function: _Function) -> _Function:
    """Add the options of `OutputOptions`."""
    return _with(
        function,
        click.option("-v", "--verbose", is_flag=True, help="Show every check with all evidence."),
        click.option(
            "--output-format",
            "--format",
            "format",
            type=click.Choice(DOCTOR_FORMATS),
            default="text",
            show_default=True,
            help="How the report is written; markdown is for an issue, and implies --redact.",
        ),
        click.option(
            "--output-file",
            multiple=True,
            metavar="[FORMAT=]FILE",
            help="Write the report to FILE, in FORMAT beside what is shown, else in its place.",
        ),
        click.option("--json", "format", flag_value="json", help="Write the whole report as JSON."),
        click.option("--html", metavar="FILE", help="Write the report as one page for a browser, too."),
        click.option("--redact", is_flag=True, help="Replace names, paths, hosts and UUIDs, to paste it in public."),
        click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too."),
        click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True),
    )


def _with(function: _Function, *decorators: _Decorator) -> _Function:
    # Click lists options in the order of application, from the last to the first.
    for decorator in reversed(decorators):
        function = decorator(function)
    return function
