"""`torchlift inspect`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write JSON, as convert/inspect.schema.json describes it.")
@click.option("--all", "everything", is_flag=True, help="Name every tensor and import.")
def inspect(files: tuple[Path, ...], as_json: bool, everything: bool) -> None:
    """Say what FILE is: TorchScript, .pt2, state dict, pickle, ... and what is in it.

    torch is not needed, nothing is unpacked, imported or run: files that nobody trusts can be inspected. Exit status 0: every
    file is known; 1: one is not, or holds something dangerous; 2: one cannot be read.
    """
    from torchlift import __version__
    from torchlift.convert.inspection.inspect import inspected
    from torchlift.convert.inspection.record import INSPECTION_SCHEMA, Inspections
    from torchlift.convert.inspection.show import printable, shown
    from torchlift.json_records.writing import plain
    from torchlift.terminal.color import wants_color
    from torchlift.terminal.standard_output import why_not_written
    from torchlift.terminal.style import Style, can_write_marks

    found = [inspected(path) for path in files]
    if as_json:
        text = json.dumps(plain(Inspections(INSPECTION_SCHEMA, __version__, found)), indent=2)
    else:
        style = Style(wants_color("auto", sys.stdout), can_write_marks(sys.stdout.encoding))
        text = "\n\n".join("\n".join(shown(one, style, everything=everything)) for one in map(printable, found))
    problem = why_not_written(lambda: click.echo(text))
    if problem or any(one.problem for one in found):
        sys.exit(2)
    sys.exit(int(any(one.kind in ("unknown", "empty") or one.remarks for one in found)))
