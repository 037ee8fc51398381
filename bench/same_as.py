"""Compare two installations of torchlift: `python bench/same_as.py DEST [NAME ...] --other "OLD/bin/python -m torchlift"`.

What a change of the architecture must not change: the findings, the printed report and the patch of every project, byte
for byte. Exit code 1 when something differs; the first lines of each difference are printed.
"""

from __future__ import annotations

import argparse
import difflib
import tempfile
from pathlib import Path

from corpus import fetched
from scratch import as_repository
from torchlift_command import DEFAULT, migrate

RUNS: dict[str, list[str]] = {
    "report": ["--check"],
    "findings of all rules": ["--check", "--output-format", "json", "--select", "ALL"],
    "patch of all rules": ["--diff", "--unsafe-fixes", "--min-torch", "2.6", "--select", "ALL"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare what two installations of torchlift say.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all that are there)")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call this one")
    parser.add_argument("--other", required=True, help="how to call the other one")
    parser.add_argument("--lines", type=int, default=40, help="lines of a difference to print (default: 40)")
    options = parser.parse_args()

    different = 0
    with tempfile.TemporaryDirectory(prefix="torchlift-same-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            repository = as_repository(folder, Path(scratch, project.folder))
            before = outputs(options.other, repository)
            after = outputs(options.torchlift, repository)
            odd = [name for name in RUNS if before[name] != after[name]]
            print(f"{project.folder}: {', '.join(odd) + ' differ' if odd else 'the same'}", flush=True)
            for name in odd:
                print("\n".join(difference(before[name], after[name])[: options.lines]))
            different += len(odd)
    if different:
        raise SystemExit(1)


def outputs(program: str, repository: Path) -> dict[str, str]:
    """What each run prints, on both outputs, after its exit code.

    Raises:
        SystemExit: a run failed.
    """
    said = {}
    for name, arguments in RUNS.items():
        run = migrate(program, repository, *arguments, environment={"PYTHONHASHSEED": "0"})
        if run.sample.code not in (0, 1) or "Traceback" in run.stderr:
            raise SystemExit(f"{program} failed on {repository.name}: {run.stderr.strip()}")
        said[name] = f"{run.sample.code}\n{run.stdout.decode(errors='replace')}\n{run.stderr}"
    return said


def difference(before: str, after: str) -> list[str]:
    """Lines that differ, with their surroundings."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), "other", "this", lineterm="", n=2))


if __name__ == "__main__":
    main()
