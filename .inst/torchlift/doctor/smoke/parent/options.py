"""`torchlift doctor --smoke`: its options, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torchlift.doctor.smoke.smoke import BURN_SECONDS, TIERS
from torchlift.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from torchlift.doctor.facts import Facts, Gpu
    from torchlift.doctor.smoke.parent.report import SmokeReport
    from torchlift.terminal.style import Style

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class SmokeOptions:
    """What is asked of the smokes; `smoke` is the tier, or None when none of them was asked for."""

    smoke: str | None
    smoke_only: tuple[str, ...]
    device: tuple[str, ...]
    smoke_timeout: float | None
    smoke_folder: tuple[str, ...]
    list_smokes: bool
    burn_seconds: float

    @property
    def wanted(self) -> bool:
        """Whether smokes are to be run."""
        return self.smoke is not None or bool(self.smoke_only)


def smoke_options(function: _Function) -> _Function:
    """Add the options of `SmokeOptions`."""
    decorators = (
        click.option(
            "--smoke",
            type=click.Choice(TIERS),
            is_flag=False,
            flag_value="default",
            metavar="[TIER]",
            help="Also run kernels on the device: quick (seconds), default, full (with compilers and rates), or burn: "
            "minutes of full load that prove the hardware.",
        ),
        click.option(
            "--smoke-only", multiple=True, metavar="ID", help="Run this smoke (repeatable), whatever its tier."
        ),
        click.option(
            "--device",
            multiple=True,
            metavar="NAME",
            help="Run on this device: cuda:0, cpu, GPU-... or MIG-... [default: all visible GPUs, else the CPU]",
        ),
        click.option(
            "--smoke-timeout",
            type=click.FloatRange(min=0.1),
            metavar="SECONDS",
            help="How long any smoke may take. [default: each has its own]",
        ),
        click.option(
            "--burn-seconds",
            type=click.FloatRange(min=1, max=86400),
            default=BURN_SECONDS,
            show_default=True,
            metavar="SECONDS",
            help="How long a burn loads each device.",
        ),
        click.option(
            "--smoke-folder",
            multiple=True,
            metavar="FOLDER",
            type=click.Path(exists=True, file_okay=False),
            help="Also run the smokes in the Python files of this folder.",
        ),
        click.option("--list-smokes", is_flag=True, help="List all smokes."),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def listed(options: SmokeOptions, *, as_json: bool = False) -> str:
    """What `--list-smokes` prints.

    Raises:
        click.UsageError: if an id or a folder of the options is wrong.
    """
    from torchlift.doctor.smoke.parent.report import list_smokes

    return list_smokes([chosen.smoke for chosen in _chosen(options, python="", everything=True)], as_json=as_json)


def run(
    options: SmokeOptions,
    facts: Facts,
    *,
    style: Style,
    live: bool,
    out: Callable[[str], None] | None,
    share: tuple[int, int] = (0, 1),
    tell: bool = True,
) -> SmokeReport:
    """Run the smokes that the options name under the interpreter that the facts are about.

    Args:
        options: what to run.
        facts: of this machine.
        style: how to write.
        live: whether `out` is a terminal, where a line may be written anew.
        out: takes text as results come; None for a machine format.
        share: (which, of how many) processes of this machine that divide the devices.
        tell: say on standard error what a burn takes, and how far it is.

    Raises:
        click.UsageError: if an id, a device or a folder of the options does not exist.
    """
    import sys
    from dataclasses import replace

    from torchlift.doctor.smoke.parent.burn_notice import BurnNotice
    from torchlift.doctor.smoke.parent.report import SmokeProgress, SmokeReport
    from torchlift.doctor.smoke.parent.runner import Run, SmokeError
    from torchlift.doctor.smoke.parent.torch_process import TorchUnavailable

    tier = options.smoke or "default"
    try:
        plan = replace(_plan(options, facts.python.executable or sys.executable, facts.gpus), share=share)
        smokes = Run(plan)
    except SmokeError as error:
        raise click.UsageError(str(error)) from None
    report = SmokeReport(tier if not options.smoke_only else None, smokes.plan.python)
    progress = SmokeProgress(style, live=live, out=out, total=len(smokes.chosen))
    smokes.on_start = progress.start
    burn = BurnNotice(smokes)
    if tell:
        smokes.on_targets = burn.announce
    try:
        for result in smokes.results():
            report.torch, report.import_seconds, report.note = smokes.torch, smokes.import_seconds, smokes.note
            report.devices = {target.name: target.device.get("title") for target in smokes.targets}
            report.results.append(result)
            progress.result(result, report)
    except SmokeError as error:
        raise click.UsageError(str(error)) from None
    except TorchUnavailable as error:
        report.unavailable(error)
    finally:
        burn.end()
    progress.end(report)
    return report


def _plan(options: SmokeOptions, python: str, gpus: Sequence[Gpu] = ()) -> Any:
    from torchlift.doctor.smoke.parent.runner import Plan

    return Plan(
        python=python,
        tier=options.smoke or "default",
        only=options.smoke_only,
        devices=options.device,
        timeout=options.smoke_timeout,
        burn_seconds=options.burn_seconds,
        folders=tuple(map(Path, options.smoke_folder)),
        gpus=gpus,
    )


def _chosen(options: SmokeOptions, python: str, *, everything: bool) -> Any:
    from dataclasses import replace

    from torchlift.doctor.smoke.parent.runner import SmokeError, choose

    plan = _plan(options, python)
    if everything and options.smoke is None:
        plan = replace(plan, tier=None)
    try:
        return choose(plan)
    except SmokeError as error:
        raise click.UsageError(str(error)) from None
