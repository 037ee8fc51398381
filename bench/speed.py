"""How much CPU a run costs beside ruff's: `python bench/speed.py FOLDER [NAME ...]`.

Each project of `speed.tsv` is a folder of that name in FOLDER, a plain tree or a clone. Everything is a whole process, start-up
included, its CPU seconds those of all processes that it made. Commands take turns, ratios are taken within a round and their median is
told. The half that a project is in says whether anybody has tuned on it: `open` may be looked at, `held` may not.

- cold: with an empty cache, which the run fills; `--no-cache` is about as dear.
- warm: the same again, nothing changed.
- edited: a line was added at the end of one file, another one in each round, chosen among those with findings where there are some.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measure import Sample, measure
from scratch import as_repository
from torchlift_command import DEFAULT

LIST = Path(__file__).with_name("speed.tsv")
SOURCES = (".py", ".pyi")
DONE = {0, 1}


@dataclass(frozen=True)
class Listed:
    """One row of the list: a project, whether it is `open` or `held`, and where it comes from."""

    name: str
    half: str
    source: str


@dataclass(frozen=True)
class Commands:
    """The commands, for one copy of a project."""

    torchlift: tuple[str, ...]
    ruff: tuple[str, ...]
    torchfix: tuple[str, ...]
    copy: Path
    caches: Path

    def cpu(self, command: Sequence[str], output: Path | None = None) -> float:
        """CPU seconds of a command inside the copy.

        Raises:
            RuntimeError: it did not do its work.
        """
        errors = self.caches / "stderr"
        sample: Sample = measure(command, cwd=self.copy.parent, stdout=output, stderr=errors)
        if sample.code not in DONE:
            raise RuntimeError(f"{shlex.join(command)} ended with {sample.code}: {errors.read_text()[-300:]}")
        return sample.cpu

    def check(self, output: Path | None = None) -> float:
        """CPU seconds of a check with the cache as it is."""
        cache = ["--cache-dir", str(self.caches / "torchlift")]
        form = ["--output-format", "json"] if output is not None else []
        return self.cpu([*self.torchlift, "migrate", "--check", *cache, *form, self.copy.name], output)

    def rows(self, edit: Callable[[], None], *, torchfix: bool) -> dict[str, float]:
        """One round."""
        select = ["check", "--isolated", "--select", "F", "--quiet", "--exit-zero"]
        own = [*self.ruff, *select, "--cache-dir", str(self.caches / "ruff"), self.copy.name]
        found = {"ruff": self.cpu([*self.ruff, *select, "--no-cache", self.copy.name])}
        self.cpu(own)
        found["ruff, its cache"] = self.cpu(own)
        shutil.rmtree(self.caches / "torchlift", ignore_errors=True)
        found["cold"] = self.check()
        found["warm"] = self.check()
        edit()
        found["edited"] = self.check()
        if torchfix:
            found["TorchFix"] = self.cpu([*self.torchfix, "--select=ALL", self.copy.name])
        return found


def main() -> None:
    options = parse_arguments()
    listed = read_list(options.names)
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    )
    print(
        f"load {os.getloadavg()[0]:.1f}, {options.rounds} rounds; CPU seconds, and ratios to ruff F without its cache\n"
    )
    print(
        "| project | half | files | MB | ruff F | its cache | cold | warm | edited | TorchFix | cold/ruff | warm/ruff |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    results: dict[str, dict[str, object]] = {}
    for one in listed:
        if (options.folder / one.name).is_dir():
            results[one.name] = measured(one, options)
        else:
            print(f"| {one.name} | {one.half} | not fetched |", flush=True)
    for half in ("open", "held"):
        tell_half(half, [result for result in results.values() if result["half"] == half])
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def measured(one: Listed, options: argparse.Namespace) -> dict[str, object]:
    """The medians of one project, printed as a row of the table."""
    with tempfile.TemporaryDirectory(prefix="torchlift-speed-") as scratch:
        folder = Path(scratch)
        (folder / "source").mkdir()
        plain = shutil.ignore_patterns(".git")
        shutil.copytree(options.folder / one.name, folder / "source" / one.name, ignore=plain, symlinks=True)
        copy = as_repository(folder / "source" / one.name, folder / one.name)
        (folder / "caches").mkdir()
        commands = Commands(
            tuple(shlex.split(options.torchlift)),
            tuple(shlex.split(options.ruff)),
            tuple(shlex.split(options.torchfix or "")),
            copy,
            folder / "caches",
        )
        sources = [path for path in sorted(copy.rglob("*")) if path.suffix in SOURCES and path.is_file()]
        commands.check(folder / "report")
        report = json.loads((folder / "report").read_text())
        with_findings = sorted({finding["filename"] for finding in report["findings"]})
        candidates = [path for name in with_findings if (path := copy / name).suffix in SOURCES] or sources
        source = random.Random(one.name)

        def edit() -> None:
            with source.choice(candidates).open("ab") as file:
                file.write(b"\n# one line more\n")

        rounds = [commands.rows(edit, torchfix=bool(options.torchfix)) for _ in range(options.rounds)]
        size = sum(path.stat().st_size for path in sources) / 1e6
    return told(one, rounds, len(sources), size)


def told(one: Listed, rounds: Sequence[Mapping[str, float]], files: int, size: float) -> dict[str, object]:
    """The medians, after printing them."""
    middle = {name: median(each[name] for each in rounds) for name in rounds[0]}
    ratios = {name: median(each[name] / each["ruff"] for each in rounds) for name in ("cold", "warm", "edited")}
    cells = [f"{middle[name]:.2f}" if name in middle else "" for name in (*COLUMNS, "TorchFix")]
    print(
        f"| {one.name} | {one.half} | {files} | {size:.1f} | {' | '.join(cells)} | {ratios['cold']:.1f} | {ratios['warm']:.2f} |",
        flush=True,
    )
    return {"half": one.half, "files": files, "mb": size, "cpu": middle, "ratios": ratios}


COLUMNS = ("ruff", "ruff, its cache", "cold", "warm", "edited")


def tell_half(half: str, results: Sequence[Mapping[str, object]]) -> None:
    """The medians over the projects of a half, those over 3 MB and those below apart."""
    for name, some in (
        ("over 3 MB", [one for one in results if float(str(one["mb"])) > 3]),
        ("smaller", [one for one in results if float(str(one["mb"])) <= 3]),
    ):
        ratios = [one["ratios"] for one in some if isinstance(one["ratios"], dict)]
        if ratios:
            middle = {kind: median(one[kind] for one in ratios) for kind in ("cold", "warm", "edited")}
            shown = ", ".join(f"{kind} {value:.2f}" for kind, value in middle.items())
            print(f"\n{half}, {name} ({len(ratios)}): {shown} times ruff F without its cache")


def read_list(names: Sequence[str]) -> list[Listed]:
    rows = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    listed = [Listed(*row) for row in rows]
    unknown = set(names) - {one.name for one in listed}
    if unknown:
        raise SystemExit(f"{', '.join(sorted(unknown))} is not in {LIST.name}.")
    return [one for one in listed if not names or one.name in names]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="holds the projects, each in a folder of its name")
    parser.add_argument("names", nargs="*", metavar="NAME", help="those to measure; all of the list unless given")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--torchlift", default=DEFAULT, help="command to measure")
    parser.add_argument("--ruff", default="ruff", help="command to compare with")
    parser.add_argument("--torchfix", help="command to compare with, too; it takes minutes")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
