"""`python -m torchlift.testing`: compares captures from the command line."""

from __future__ import annotations

import sys

import click

from torchlift.testing.captures import compare_captures
from torchlift.testing.processes import TorchUnavailable
from torchlift.testing.verdict import Verdict


def _numbers(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(part) for part in value.split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of whole numbers such as 8,1.") from None


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--eager", help="Makes the nn.Module.", metavar="WHERE:FUNCTION")
@click.option("--torchscript", help="Makes the traced or scripted value.", metavar="WHERE:FUNCTION")
@click.option("--migrated", required=True, help="Makes the ExportedProgram or its module.", metavar="WHERE:FUNCTION")
@click.option("--inputs", required=True, help="Gives the example inputs.", metavar="WHERE:FUNCTION")
@click.option("--mask", help="Selects what is compared: mask(output, *inputs).", metavar="WHERE:FUNCTION")
@click.option("--seeds", default="0", callback=_numbers, show_default=True, help="Seeds, separated by commas.")
@click.option("--calls", default=2, show_default=True, type=click.IntRange(1), help="Consecutive calls per input.")
@click.option(
    "--batch-sizes", callback=_numbers, help="Batch sizes to try, such as 8,1; '' for none. [default: derived]"
)
@click.option("--dtypes", help="Further dtypes to try, such as float64,bfloat16; '' for none. [default: derived]")
@click.option("--other-values/--no-other-values", default=True, help="Try other values than the example's too.")
@click.option("--rtol", default=1e-5, show_default=True, help="Relative tolerance.")
@click.option("--atol", default=1e-5, show_default=True, help="Absolute tolerance.")
@click.option("--save/--no-save", default=True, help="Compare after a round trip through a file too.")
@click.option("--grad/--no-grad", default=True, help="Record gradients while calling.")
@click.option("--timeout", default=600.0, show_default=True, help="Seconds for each variant.")
@click.option("--accept-eager", is_flag=True, help="Exit with 0 also where only TorchScript is the odd one out.")
def main(
    eager: str | None,
    torchscript: str | None,
    migrated: str,
    inputs: str,
    mask: str | None,
    seeds: tuple[int, ...],
    calls: int,
    batch_sizes: tuple[int, ...] | None,
    dtypes: str | None,
    other_values: bool,
    rtol: float,
    atol: float,
    save: bool,
    grad: bool,
    timeout: float,
    accept_eager: bool,
) -> None:
    """Compare what a model does in eager mode, as TorchScript and migrated to torch.export.

    WHERE:FUNCTION is package.module:function or file.py:function. Exit status: 0 the same, 1 a difference, 2 something could
    not be run.
    """
    try:
        found = compare_captures(
            eager=eager,
            torchscript=torchscript,
            migrated=migrated,
            inputs=inputs,
            mask=mask,
            seeds=seeds,
            calls=calls,
            batch_sizes=batch_sizes,
            dtypes=None if dtypes is None else [name.strip() for name in dtypes.split(",") if name.strip()],
            other_values=other_values,
            rtol=rtol,
            atol=atol,
            save=save,
            grad=grad,
            timeout=timeout,
        )
    except (ValueError, TorchUnavailable) as error:
        click.echo(error, err=True)
        sys.exit(2)
    click.echo(str(found))
    if found.verdict is Verdict.FAILED:
        sys.exit(2)
    accepted = (Verdict.SAME, Verdict.TORCHSCRIPT_WRONG) if accept_eager else (Verdict.SAME,)
    sys.exit(0 if found.verdict in accepted else 1)


if __name__ == "__main__":
    main(prog_name="python -m torchlift.testing")
