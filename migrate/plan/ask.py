"""Asks the questions of a plan on the terminal, and writes the answers into the configuration."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from torchlift.migrate.plan.answers_file import CannotWrite, write_answers
from torchlift.migrate.plan.report import PlanReport, Question
from torchlift.migrate.tell.report.paths import from_here
from torchlift.migrate.workspace.config import Config
from torchlift.migrate.workspace.root import project_root
from torchlift.terminal.columns import one_line


def ask_and_write(plan: PlanReport, paths: list[Path], config: Config) -> None:
    """Ask every question, then write what was answered; a file that cannot be edited ends the command with status 2."""
    answers: dict[str, str | list[str]] = {}
    kept = list(config.torchscript.keep)
    for number, question in enumerate(plan.questions, 1):
        value = _answer(number, question)
        if value is None:
            continue
        if question.about == "artifact":
            kept.append(question.artifact or "")
            answers["keep"] = kept
        else:
            answers[question.about] = value
        if value == "keep" and question.about == "support":
            break  # it answers all the others
    if not answers:
        click.echo("Nothing was answered, so nothing was written.")
        return
    path = answers_path(paths, config)
    try:
        write_answers(path, answers)
    except CannotWrite as error:
        click.echo(f"{from_here(path)} was left as it is. {error}", err=True)
        sys.exit(2)
    click.echo(f"Written to {from_here(path)}. `torchlift migrate --diff` shows what follows from it.")


def answers_path(paths: list[Path], config: Config) -> Path:
    """The configuration that counts, else the project's pyproject.toml, else a torchlift.toml to be made beside it.

    A new pyproject.toml would change how the project is built.
    """
    if config.source is not None:
        return config.source
    root = project_root(paths)
    pyproject = root / "pyproject.toml"
    return pyproject if pyproject.is_file() else root / "torchlift.toml"


def _answer(number: int, question: Question) -> str | None:
    click.echo(f"\n{number}. {one_line(question.text)}")
    for answer in question.answers:
        click.echo(f"   {answer.value}: {one_line(answer.effect)}")
    choices = [*(answer.value for answer in question.answers), "skip"]
    value = click.prompt("  ", type=click.Choice(choices), default="skip", prompt_suffix=" ")
    return None if value == "skip" else str(value)
