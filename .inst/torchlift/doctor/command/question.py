"""What is asked about a machine: which checks, which other torch, which project, and what a check is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from torchlift.doctor.check import Check
    from torchlift.doctor.command.options import OutputOptions, QuestionOptions
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.facts import Facts


def checks_of(question: QuestionOptions) -> tuple[Check, ...]:
    """The checks that are to run."""
    from torchlift.doctor.checks.registry import UnknownName, all_checks, selected, split_names

    try:
        return selected(all_checks(), split_names(question.only), split_names(question.skip))
    except UnknownName as error:
        raise click.UsageError(str(error)) from None


def requirement_of(text: str | None) -> str | None:
    """The requirement of torch that `--for` names."""
    if text is None:
        return None
    from torchlift.doctor.command.wanted import WantedError, torch_requirement

    try:
        return torch_requirement(text)
    except WantedError as error:
        raise click.BadParameter(f"{error}.", param_hint="--for") from None


def diagnosed(facts: Facts, checks: tuple[Check, ...], output: OutputOptions) -> Examination:
    """What the checks say about a machine."""
    from torchlift.doctor.diagnose import diagnose
    from torchlift.doctor.examination import Examination

    return Examination(facts=facts, findings=diagnose(facts, checks), strict=output.strict)


def examination_of(
    facts: Facts, checks: tuple[Check, ...], wanted: str | None, question: QuestionOptions, output: OutputOptions
) -> Examination:
    """What the checks say, which wheel fits, and what `--repo` says."""
    from torchlift.doctor.diagnose import diagnose, without_installed_wheels
    from torchlift.doctor.examination import Examination
    from torchlift.doctor.remedies.wheel_remedy import fitted, wheel_answer

    looked_at = facts
    if wanted is not None:
        looked_at, checks = without_installed_wheels(facts, checks)
    project = None
    if question.repo is not None:
        from torchlift.doctor.repo import ProjectError, examine_project

        try:
            project = examine_project(question.repo, facts)
        except ProjectError as error:
            raise click.BadParameter(f"{error}.", param_hint="--repo") from None
    return Examination(
        facts=facts,
        findings=diagnose(looked_at, checks),
        answer=fitted(facts, wheel_answer(facts, wanted)),
        wanted=wanted,
        project=project,
        strict=output.strict,
    )


def about_checks(question: QuestionOptions, output: OutputOptions) -> str:
    """The answer to `--list-checks`, or to `--explain` with the id of a check or a smoke."""
    from torchlift.doctor.checks.registry import UnknownName, all_checks, check_named
    from torchlift.doctor.report.catalogue import explained, listed

    if question.explain is None:
        return listed(checks_of(question), as_json=output.json)
    from torchlift.doctor.smoke.loading import own_smokes
    from torchlift.doctor.smoke.parent.catalogue import explained as explained_smoke

    smokes = own_smokes()
    smoke = smokes.get(question.explain.strip().lower())
    if smoke is not None:
        return explained_smoke(smoke, as_json=output.json)
    try:
        return explained(check_named(all_checks(), question.explain, tuple(smokes)), as_json=output.json)
    except UnknownName as error:
        from torchlift.doctor.errors.matching import first_match

        is_message = " " in question.explain.strip() or first_match(question.explain) is not None
        hint = " For an error message there is --explain-error." if is_message else ""
        raise click.UsageError(f"{error}{hint}") from None
