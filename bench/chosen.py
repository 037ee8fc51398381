"""Which mutants are judged: those of a seed, and those of earlier results that nothing killed, found again in today's code."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutations import Mutation, differs, mutations_of

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "rules": "rules",
    "migrate": "migrate",
    "doctor": "doctor",
    "convert": "convert",
    "record": "record",
    "src/torchlift": "ground",
}
TABLES = ("data", "examples", "smokes", "probes", "inside")


@dataclass
class Mutant:
    """One change of one file, and what became of it.

    Attributes:
        module: dotted name of the changed module.
        path: its file, relative to the repository.
        mutation: the change.
        fate: `killed`, `survived`, `timeout` (killed, too), `unseen`: no test executes the line in its own process, or
            `unclear`: the test that fails also fails without the change when it is run alone.
        by: the test that failed.
        tests: how many tests execute the line.
        seconds: how long it took.
    """

    module: str
    path: str
    mutation: Mutation
    fate: str = ""
    by: str = ""
    tests: int = 0
    seconds: float = 0.0

    def told(self) -> str:
        change = self.mutation
        return f"{self.path}:{change.line} {change.kind}: `{change.old}` -> `{change.new}`".replace("\n", " ")


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Give a command the options by which mutants are chosen."""
    parser.add_argument("--number", type=int, default=200, help="mutants (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default: 1)")
    parser.add_argument("--only", default="", metavar="PREFIX", help="files below this path only")
    parser.add_argument(
        "--again",
        type=Path,
        nargs="+",
        default=[],
        metavar="RESULTS",
        help="instead of new ones those of earlier results that no test killed",
    )


def arguments_of(options: argparse.Namespace) -> list[str]:
    """The same options for another process."""
    chosen = ["--number", str(options.number), "--seed", str(options.seed), "--only", options.only]
    return [*chosen, "--again", *map(str, options.again)] if options.again else chosen


def chosen(options: argparse.Namespace) -> list[Mutant]:
    """The mutants of a seed: every possible change of every function is as likely as any other. Or those asked again."""
    if options.again:
        rows = [row for path in options.again for row in json.loads(path.read_text())]
        left = [row for row in rows if row["fate"] in {"survived", "unseen", "unclear"}]
        return [found for row in left if row["path"].startswith(options.only) for found in _found_again(row)]
    everything: list[tuple[Path, Mutation]] = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT).as_posix()
            if inside.startswith(options.only) and not any(part in TABLES for part in path.parts):
                everything += ((path, mutation) for mutation in mutations_of(path.read_text(encoding="utf-8")))
    order = random.Random(options.seed).sample(everything, len(everything))
    mutants: list[Mutant] = []
    for path, mutation in order:
        if len(mutants) == options.number:
            break
        text = path.read_text(encoding="utf-8")
        if differs(text, mutation.applied(text)):
            inside = path.relative_to(ROOT).as_posix()
            dotted = inside.removeprefix("src/torchlift/").removesuffix(".py").removesuffix("/__init__")
            mutants.append(Mutant(f"torchlift.{dotted.replace('/', '.')}", inside, mutation))
    return mutants


def _found_again(row: dict[str, object]) -> Iterator[Mutant]:
    """The same change where its text stands today; none where it is gone."""
    was = Mutation(**row["mutation"])  # type: ignore[arg-type]
    path = ROOT / str(row["path"])
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    same = [now for now in mutations_of(text) if (now.kind, now.old, now.new) == (was.kind, was.old, was.new)]
    if same:
        nearest = min(same, key=lambda now: abs(now.line - was.line))
        yield Mutant(str(row["module"]), str(row["path"]), nearest)
