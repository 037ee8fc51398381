"""The facts of the machine that the options mean: this one, one of a file, or one that is only described."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from torchlift.doctor.command.options import MachineOptions
    from torchlift.doctor.facts import Facts


def examined_facts(options: MachineOptions) -> Facts:
    """What is known of the machine.

    Raises:
        click.UsageError: the options contradict each other, or what they name cannot be used.
    """
    if options.is_described:
        return _described(options)
    if options.facts is not None:
        for name in ("python", "root", "import_torch"):
            if getattr(options, name):
                flag = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"--facts and {flag} exclude each other: a facts file is not looked at again.")
        return _from_file(options.facts)
    return _from_here(options)


def _described(options: MachineOptions) -> Facts:
    from torchlift.doctor.facts.hypothetical import DescriptionError, described

    for name in ("facts", "python", "root", "import_torch"):
        if getattr(options, name):
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} looks at a machine; --gpu, --driver and the like describe one. Choose one.")
    if options.driver is not None and not options.gpu:
        raise click.UsageError("--driver describes a machine together with --gpu: name the GPU, too.")
    try:
        return described(
            options.gpu,
            driver=options.driver,
            os=options.os,
            machine=options.machine,
            python=options.python_version,
        )
    except DescriptionError as error:
        text = str(error)
        raise click.UsageError(text if text.endswith("?") else f"{text}.") from None


def _from_file(name: str) -> Facts:
    from pathlib import Path

    from torchlift.doctor.facts.facts_json import FactsError, from_json, read_facts

    try:
        if name != "-":
            return read_facts(Path(name))
        import json

        try:
            return from_json(json.loads(sys.stdin.buffer.read()))
        except (ValueError, RecursionError) as error:
            if isinstance(error, FactsError):
                raise
            raise FactsError(f"Standard input is not JSON: {error}.") from None
    except FactsError as error:
        raise click.UsageError(str(error)) from None


def _from_here(options: MachineOptions) -> Facts:
    from pathlib import Path

    from torchlift.doctor.collect import Options, collect
    from torchlift.doctor.probes.examined_python import PythonError, python_of

    if options.python is not None:
        try:
            python_of(options.python)
        except PythonError as error:
            raise click.BadParameter(str(error), param_hint="--python") from None
    root = Path(options.root or "/")
    if not root.is_dir():
        raise click.BadParameter(f"{options.root} is no folder.", param_hint="--root")
    return collect(
        Options(python=options.python, root=root, timeout=options.timeout, import_torch=options.import_torch)
    )


def save(facts: Facts, name: str) -> None:
    """Write the facts to a file, or to standard output (`-`), which ends the run."""
    import json
    from pathlib import Path

    from torchlift.doctor.command.output import say
    from torchlift.doctor.facts.facts_json import to_json

    text = json.dumps(to_json(facts), indent=1) + "\n"
    if name == "-":
        say(text, 0)
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"The facts cannot be written to {name}: {error.strerror or error}.") from None
    click.echo(f"The facts are in {name}.", err=True)
