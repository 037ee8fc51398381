"""What became of the examples of a rule, as lines on a terminal."""

from __future__ import annotations

import textwrap

import click

from torchlift.authoring.chosen import ChosenRule
from torchlift.authoring.completeness import gaps_in
from torchlift.authoring.trial import try_example


def try_and_report(chosen: ChosenRule) -> int:
    """Try every example, print what became of each as it is known, and return the exit status."""
    rule = chosen.rule
    click.echo(f"{rule.code} {rule.name}")
    gaps = gaps_in(rule)
    for gap in gaps:
        click.echo(f"  [✗] {gap}")
    failed = 0
    not_run: dict[str, int] = {}
    for example in rule.examples:
        tried = try_example(rule, example, chosen.own)
        failed += bool(tried.problems)
        click.echo(f"  [{'✗' if tried.problems else '✓'}] {example.why}{f': {tried.held}' if tried.held else ''}")
        for problem in tried.problems:
            click.echo(textwrap.indent(problem.rstrip("\n"), "      "))
        if tried.not_run is not None:
            not_run[tried.not_run] = not_run.get(tried.not_run, 0) + 1
    well = len(rule.examples) - failed
    click.echo(f"{well} of {len(rule.examples)} examples hold." + (" The rule is not complete." if gaps else ""))
    for reason, count in not_run.items():
        click.echo(f"{count} {'was' if count == 1 else 'were'} not run before and after: {reason}")
    return 1 if failed or gaps else 0
