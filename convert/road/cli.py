"""`torchlift convert`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from torchlift.convert.road.converting import ConvertWish
    from torchlift.convert.road.given_inputs import GivenInputs
    from torchlift.convert.road.record import Conversion

_ARCHIVES = (".pt", ".pth", ".ts", ".jit", ".torchscript", ".ptl")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--inputs", metavar="WORDS", help="Inputs of a call: 'float32[4,3] mask=bool[4,3] true'.")
@click.option(
    "--inputs-file", type=click.Path(dir_okay=False, path_type=Path), help="A file with what --inputs would say."
)
@click.option(
    "--evidence", type=click.Path(dir_okay=False, path_type=Path), help="Take inputs from calls that `record` saw."
)
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="A program of this method; may be given again."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The program; a folder if there are several.")
@click.option("--check-only", is_flag=True, help="Convert and compare, write nothing.")
@click.option("--allow", multiple=True, metavar="CASE", help="Write even if this case differs, such as 'one row'.")
@click.option("--overwrite", is_flag=True, help="Replace a program that is there.")
@click.option(
    "--emit-python",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a Python module, its weights and a test there instead; it needs torch, and neither torchlift nor the archive.",
)
@click.option(
    "--aoti", is_flag=True, help="Also compile the program with AOTInductor, and compare what the package does."
)
@click.option("--executorch", is_flag=True, help="Also write a program for ExecuTorch (.pte), where it is installed.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=120.0, show_default=True, help="CPU seconds of a step."
)
@click.option(
    "--memory", type=click.FloatRange(min=0.5), default=8.0, show_default=True, help="GB that a step may take."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON, as convert/convert.schema.json describes it.")
def convert(
    files: tuple[Path, ...],
    inputs: str | None,
    inputs_file: Path | None,
    evidence: Path | None,
    methods: tuple[str, ...],
    output: Path | None,
    check_only: bool,
    allow: tuple[str, ...],
    overwrite: bool,
    emit_python: Path | None,
    aoti: bool,
    executorch: bool,
    timeout: float,
    memory: float,
    as_json: bool,
) -> None:
    """Make ExportedPrograms (.pt2) of TorchScript archives, with or without their source.

    Each program is compared with its archive, call by call; it is written only where both do the same. Of folders, files that
    are named as archives are taken. Exit status 0: all are converted; 1: one is not; 2: torchlift or its input failed.
    """
    from torchlift.convert.road.converting import ConvertWish
    from torchlift.testing.processes import TorchUnavailable

    wish = ConvertWish(
        _inputs(inputs, inputs_file),
        _evidence(evidence),
        methods,
        frozenset(allow),
        check_only,
        overwrite,
        timeout,
        int(memory * (1 << 30)),
        emit_python,
        aoti,
        executorch,
    )
    paths = list(_paths(files))
    if not paths:
        _fail("There is no archive in it: files of a folder are taken if they end in " + ", ".join(_ARCHIVES) + ".")
    several = len(paths) > 1
    if several and output is not None and output.is_file():
        _fail(f"{output} is a file, and several archives need a folder.")
    missing = next((path for path, _ in paths if not path.exists()), None)
    if missing is not None:
        _fail(f"{missing} does not exist.")
    try:
        done = _converted(paths, output, wish, several)
    except TorchUnavailable as error:
        _fail(f"Converting runs the archive and the program, to compare them. {error}")
    _report(done, as_json)


def _converted(
    paths: list[tuple[Path, Path]], output: Path | None, wish: ConvertWish, several: bool
) -> list[Conversion]:
    from torchlift.convert.road.converting import Converter
    from torchlift.testing.processes import FreshProcesses

    done: list[Conversion] = []
    shows = sys.stderr.isatty()

    def tell(words: str) -> None:
        if shows:
            click.echo(f"\r\x1b[K{words}", err=True, nl=False)

    with FreshProcesses() as processes:
        converter = Converter(wish, processes, tell)
        for number, (path, below) in enumerate(paths, start=1):
            tell(f"{number}/{len(paths)} {path.name}")
            done += converter.convert(path, _target(path, output, below, several), below)
    tell("")
    return done


def _target(path: Path, output: Path | None, below: Path, several: bool) -> Path:
    beside = path.with_suffix(".pt2").name
    if output is None:
        return path.with_name(beside)
    return output / below / beside if several or output.is_dir() else output


def _paths(files: tuple[Path, ...]) -> list[tuple[Path, Path]]:
    """The archives, and the folders in which they lie, as seen from the folder that was given."""
    found: dict[Path, Path] = {}
    for path in files:
        if path.is_dir():
            inside = sorted(one for one in path.rglob("*") if one.suffix in _ARCHIVES and one.is_file())
            for one in inside:
                found.setdefault(one, one.parent.relative_to(path))
        else:
            found.setdefault(path, Path())
    return list(found.items())


def _inputs(words: str | None, file: Path | None) -> GivenInputs | None:
    from torchlift.convert.road.given_inputs import InputsUnreadable, given_by_user
    from torchlift.file_bytes import file_bytes

    if words is not None and file is not None:
        _fail("Give --inputs or --inputs-file, not both.")
    try:
        if file is not None:
            words = file_bytes(file).decode()
        return None if words is None else given_by_user(words)
    except (InputsUnreadable, UnicodeDecodeError) as error:
        _fail(str(error) if isinstance(error, InputsUnreadable) else f"{file} is no text.")
    except OSError as error:
        _fail(f"{file} cannot be read: {error.strerror or error}.")


def _evidence(path: Path | None) -> object:
    from torchlift.evidence.file import EvidenceError, read_evidence

    try:
        return None if path is None else read_evidence(path)
    except EvidenceError as error:
        _fail(str(error))


def _report(done: list[Conversion], as_json: bool) -> None:
    from torchlift import __version__
    from torchlift.convert.road.record import CONVERSION_SCHEMA, Conversions
    from torchlift.convert.road.show import shown
    from torchlift.json_records.writing import plain
    from torchlift.terminal.color import wants_color
    from torchlift.terminal.standard_output import why_not_written
    from torchlift.terminal.style import Style, can_write_marks

    if as_json:
        text = json.dumps(plain(Conversions(CONVERSION_SCHEMA, __version__, done)), indent=2)
    else:
        style = Style(wants_color("auto", sys.stdout), can_write_marks(sys.stdout.encoding))
        text = "\n".join(shown(done, style))
    problem = why_not_written(lambda: click.echo(text))
    unwritten = any(one.outcome == "failed" and "cannot be written" in one.said for one in done)
    if problem or unwritten:
        sys.exit(2)
    short = any(one.outcome not in ("converted", "same") or any(also.failed for also in one.also) for one in done)
    sys.exit(int(short))


def _fail(text: str) -> NoReturn:
    click.echo(text, err=True)
    sys.exit(2)
