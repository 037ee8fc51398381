"""Check that torchlift says the same whatever the circumstances: `python bench/same_output.py DEST [NAME ...]`.

The JSON report of one project must be the same, byte for byte, for every number of jobs, every hash seed, and every
order in which its files are named. Exit code 1 when it is not.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from corpus import fetched, python_files
from scratch import as_repository
from torchlift_command import DEFAULT, Run, migrate


def main() -> None:
    parser = argparse.ArgumentParser(description="Check that torchlift's report does not depend on circumstances.")
    parser.add_argument("corpus", type=Path, metavar="DEST", help="folder filled by fetch_corpus.py")
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects (default: all that are there)")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2, 4], help="job counts (default: 1 2 4)")
    parser.add_argument("--hash-seeds", type=int, nargs="*", default=[0, 1, 2, 3], help="(default: 0 1 2 3)")
    parser.add_argument("--orders", type=int, default=2, help="shuffled orders to try (default: 2)")
    options = parser.parse_args()

    different = 0
    with tempfile.TemporaryDirectory(prefix="torchlift-same-") as scratch:
        for project, folder in fetched(options.corpus, options.names):
            repository = as_repository(folder, Path(scratch, project.folder))
            runs = {
                f"{jobs} job(s)": report(options.torchlift, repository, "--jobs", str(jobs)) for jobs in options.jobs
            }
            for seed in options.hash_seeds:
                runs[f"hash seed {seed}"] = report(options.torchlift, repository, seed=seed)
            odd = unlike_first(runs)

            files = [path.relative_to(repository).as_posix() for path in python_files(repository)]
            named = {"files in order": report(options.torchlift, repository, paths=files)}
            for order in range(options.orders):
                shuffled = random.Random(order).sample(files, len(files))
                named[f"files in random order {order}"] = report(options.torchlift, repository, paths=shuffled)
            odd += unlike_first(named)

            for sentence in odd:
                print(f"{project.folder}: {sentence}", flush=True)
            if not odd:
                print(f"{project.folder}: {len(runs) + len(named)} runs, same report", flush=True)
            different += len(odd)
    if different:
        raise SystemExit(1)


def report(program: str, repository: Path, *arguments: str, seed: int = 0, paths: list[str] | None = None) -> Run:
    """One `--check` run.

    Raises:
        SystemExit: torchlift gave no report.
    """
    run = migrate(
        program,
        repository,
        "--check",
        "--output-format",
        "json",
        *arguments,
        paths=paths,
        environment={"PYTHONHASHSEED": str(seed)},
    )
    try:
        seen = run.report["summary"]["files_seen"]
    except (ValueError, KeyError):
        seen = 0
    # An uncaught exception also ends with exit code 1, so the report itself has to be looked at.
    if run.sample.code not in (0, 1) or not seen:
        raise SystemExit(f"torchlift failed (exit code {run.sample.code}) on {repository.name}: {run.stderr.strip()}")
    return run


def unlike_first(runs: dict[str, Run]) -> list[str]:
    """Sentences about runs whose output is not that of the first."""
    (first, expected), *others = runs.items()
    return [
        f"the report with {name} is not the one with {first}" for name, run in others if run.stdout != expected.stdout
    ]


if __name__ == "__main__":
    main()
