"""What `torchlift record` costs a test suite: CPU seconds with and without it, in turns, and whether the tests end alike.

    python bench/recording.py FOLDER --python EXE --rounds 3 --tests "-q tests"

FOLDER is a project with tests, EXE an interpreter with what they need; TESTS goes to pytest. Each round runs
the suite plainly and under `record --no-prove`, in changing order; the last run proves, too, unless `--no-proofs`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """Print a table; 1 if a test ended otherwise or the hooks cost more than they may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--path", default=".", help="PYTHONPATH of the tests")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-proofs", action="store_true")
    parser.add_argument("--tests", default="-q", help="arguments of pytest")
    options = parser.parse_args()
    tests = [options.python, "-m", "pytest", "-p", "no:cacheprovider", *shlex.split(options.tests)]
    environment = {**os.environ, "PYTHONPATH": options.path, "OMP_NUM_THREADS": "1"}
    plain, recorded, endings = [], [], set()
    with tempfile.TemporaryDirectory() as scratch:
        evidence = Path(scratch, "evidence.json")
        record = [sys.executable, "-I", "-m", "torchlift", "record", "-o", str(evidence)]
        for turn in range(options.rounds):
            pair = [(tests, plain), ([*record, "--no-prove", "--", *tests], recorded)]
            for command, times in pair if turn % 2 else reversed(pair):
                cpu, ending, _ = run(command, options.folder, environment)
                times.append(cpu)
                endings.add(ending)
        print(f"plain     {shown(plain)}")
        print(f"recorded  {shown(recorded)}")
        extra = statistics.median(recorded) - statistics.median(plain)
        share = extra / statistics.median(plain)
        print(f"hooks and file: {extra:+.2f} s CPU, {share:+.1%}; endings: {sorted(endings)}")
        if not options.no_proofs:
            began = time.monotonic()
            cpu, ending, errors = run([*record, "--", *tests], options.folder, environment)
            endings.add(ending)
            print(f"with proofs: {cpu:.1f} s CPU, {time.monotonic() - began:.1f} s in all")
            print("\n".join(line for line in errors.splitlines() if line.startswith("record: ")))
        found = json.loads(evidence.read_bytes())
        print(f"{len(found['sites'])} sites, {evidence.stat().st_size} bytes")
    return 0 if len(endings) == 1 and extra <= 0.05 * statistics.median(plain) + 1.5 else 1


def run(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, str, str]:
    """CPU seconds of a command with all its children, how its tests ended, and its errors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    return cpu, f"{done.returncode}: {re.sub(r' in [0-9.:() s]+.*', '', last).strip('= ')}", done.stderr


def shown(times: list[float]) -> str:
    return f"median {statistics.median(times):.2f} s CPU ({', '.join(f'{one:.2f}' for one in times)})"


if __name__ == "__main__":
    sys.exit(main())
