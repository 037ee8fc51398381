"""Compare torchlift with its peers, side by side: `python bench/compare.py DEST [NAME ...]`.

Every command is a whole process over the same files. Rounds are interleaved (A B C A B C ...), and ratios are taken
within a round, so a busy machine disturbs both sides alike. TorchFix is too slow for whole code bases: it and the
others run over one file in ten, and nothing is scaled up.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from corpus import fetched, python_files
from measure import Sample, measure
from scratch import as_repository

TORCHFIX = "torchfix==0.7.0"
AST_PARSE = """
import ast, os, sys, warnings
warnings.simplefilter("ignore")
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".py", ".pyi")):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            try:
                ast.parse(data)
            except (SyntaxError, ValueError):
                pass
"""


@dataclass(frozen=True)
class Row:
    """One command of a comparison; `codes` are the exit codes that mean it did its work."""

    name: str
    command: tuple[str, ...]
    codes: tuple[int, ...] = (0,)


def main() -> None:
    options = parse_arguments()
    results: list[dict[str, object]] = []
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    )
    with tempfile.TemporaryDirectory(prefix="torchlift-compare-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            repository = as_repository(folder, Path(scratch, project.folder))
            title = f"{project.name} {project.version}, {describe(repository)}"
            results.append(compare(title, rows(options, repository), repository, options.rounds))
            if options.torchfix_venv:
                sample = as_repository(
                    every_nth(repository, Path(scratch, "picked"), options.every),
                    Path(scratch, f"{project.folder}-sample"),
                )
                title = f"{project.name} {project.version}, one file in {options.every}, {describe(sample)}"
                torchfix = Row(
                    "TorchFix 0.7.0", (torchfix_program(options.torchfix_venv), "--jobs", "1", sample.name), (0, 1)
                )
                results.append(compare(title, [*rows(options, sample), torchfix], sample, options.torchfix_rounds))
                shutil.rmtree(Path(scratch, "picked"))
                shutil.rmtree(sample)
            shutil.rmtree(repository)
            if options.json:
                options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare torchlift with ruff, TorchFix and a bare ast.parse.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", default=["nemo_toolkit", "transformers", "torch"], help="projects"
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of each command (default: 3)")
    parser.add_argument("--torchlift", default=f"{shlex.quote(sys.executable)} -m torchlift", help="how to call it")
    parser.add_argument("--no-torchlift", action="store_true", help="only the others")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2], help="job counts of torchlift (default: 1 2)")
    parser.add_argument("--ruff", default="ruff", help="how to call ruff")
    parser.add_argument(
        "--torchfix-venv", type=Path, help="environment for TorchFix, made if missing; without: no TorchFix"
    )
    parser.add_argument("--torchfix-rounds", type=int, default=1, help="runs of the sample with TorchFix (default: 1)")
    parser.add_argument("--every", type=int, default=10, help="the sample takes one file in this many (default: 10)")
    parser.add_argument("--json", type=Path, help="also write every single measurement to this file")
    return parser.parse_args()


def rows(options: argparse.Namespace, tree: Path) -> list[Row]:
    """The commands compared on `tree`, run beside it. The first is what the others' ratios refer to."""
    # Ruff leaves out folders such as `build` unless told otherwise; here everybody reads the same files.
    ruff = (*shlex.split(options.ruff), "check", "--isolated", "--no-cache", "--quiet", "--config", "exclude=[]")
    table = [
        Row("ruff F", (*ruff, "--select", "F", tree.name), (0, 1)),
        Row("ruff NPY", (*ruff, "--select", "NPY", tree.name), (0, 1)),
        Row("ast.parse of every file", (sys.executable, "-I", "-S", "-c", AST_PARSE, tree.name)),
    ]
    if not options.no_torchlift:
        check = (*shlex.split(options.torchlift), "migrate", tree.name, "--check")
        table += [
            Row(f"torchlift --check, {jobs} job{'s' * (jobs > 1)}", (*check, "--jobs", str(jobs)), (0, 1, 2))
            for jobs in options.jobs
        ]
    return table


def compare(title: str, table: Sequence[Row], tree: Path, rounds: int) -> dict[str, object]:
    """Run every row `rounds` times, print a Markdown table, and return all measurements.

    Raises:
        SystemExit: a command failed.
    """
    samples: dict[str, list[Sample]] = {row.name: [] for row in table}
    with tempfile.TemporaryDirectory() as logs:
        complaint = Path(logs, "stderr")
        for _ in range(rounds):
            for row in table:
                sample = measure(row.command, cwd=tree.parent, stderr=complaint)
                said = complaint.read_text(encoding="utf-8", errors="replace").strip()
                # An uncaught exception ends with exit code 1, which also means findings.
                if sample.code not in row.codes or "Traceback (most recent call last)" in said:
                    raise SystemExit(f"{row.name} failed on {title} (exit code {sample.code}): {said[-2000:]}")
                samples[row.name].append(sample)
        trees = {
            row.name: measure(row.command, cwd=tree.parent, watch_tree=True).tree_mb
            for row in table
            if row.name.startswith("torchlift")
        }
    reference = samples[table[0].name]
    print(f"\n### {title}\n\nMedian of {rounds} run(s); ratios to {table[0].name}, lowest to highest in brackets.\n")
    print("| | CPU s | wall s | peak MB, one process | peak MB, all | CPU ratio |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in table:
        own = samples[row.name]
        whole = trees.get(row.name)
        print(
            f"| {row.name} | {median(s.cpu for s in own):.2f} | {median(s.wall for s in own):.2f} "
            f"| {max(s.peak_mb for s in own):.0f} | {'' if whole is None else f'{whole:.0f}'} "
            f"| {ratio(own, reference)} |",
            flush=True,
        )
    lift = [name for name in samples if name.startswith("torchlift")]
    if lift and "TorchFix 0.7.0" in samples:
        print(f"\nTorchFix to {lift[0]}: CPU {ratio(samples['TorchFix 0.7.0'], samples[lift[0]])}.", flush=True)
    return {"title": title, "samples": {name: [asdict(s) for s in own] for name, own in samples.items()}, "tree": trees}


def ratio(own: Iterable[Sample], reference: Iterable[Sample]) -> str:
    """Median, lowest and highest of the CPU ratios of runs in the same round."""
    ratios = [mine.cpu / other.cpu for mine, other in zip(own, reference, strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def describe(tree: Path) -> str:
    files = python_files(tree)
    return f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB"


def every_nth(tree: Path, target: Path, step: int) -> Path:
    """Copy one in `step` of the Python files of `tree`, in path order, keeping their paths."""
    for path in python_files(tree)[::step]:
        copy = target / path.relative_to(tree)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target


def torchfix_program(environment: Path) -> str:
    """Path of TorchFix in `environment`, which is made when it is not there.

    Raises:
        SystemExit: the environment cannot be made.
    """
    scripts = environment.resolve() / ("Scripts" if os.name == "nt" else "bin")
    program = scripts / "torchfix"
    if not program.exists():
        for command in (
            [sys.executable, "-m", "venv", str(environment)],
            [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TORCHFIX],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"The environment for TorchFix could not be made: {done.stderr.strip()}")
    return str(program)


if __name__ == "__main__":
    main()
