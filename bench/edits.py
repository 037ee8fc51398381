"""Whether findings stay those of a fresh run: `python bench/edits.py FOLDER... [--edits 1000] [--every 5] [--seed 1]`.

A copy of each FOLDER is opened as `torchlift server` opens it. Files of it are edited at random (tests/support/random_edits.py), each
edit is looked at, and after every few of them what is known of the open files is compared with what a run over the whole copy finds.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

from random_edits import described, edited

from torchlift.migrate import Mode, load_config, migrate
from torchlift.server.open_project import OpenProject

_OPEN = 4
"""Files that are open at a time; now and then one is saved and closed, and another opened."""


def main() -> None:
    """Edit, compare, and print one line a project; the exit status is 1 where something differed."""
    parser = argparse.ArgumentParser(description="Findings after edits against those of fresh runs.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--edits", type=int, default=1000, help="in each project")
    parser.add_argument("--every", type=int, default=5, help="edits between two fresh runs")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    differing = 0
    for folder in given.folders:
        with tempfile.TemporaryDirectory() as kept:
            copy = Path(kept).resolve() / folder.name
            shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            differing += _compared(copy, given.edits, given.every, random.Random(given.seed))
    sys.exit(1 if differing else 0)


def _compared(root: Path, edits: int, every: int, source: random.Random) -> int:
    config = replace(load_config(root), jobs=1)
    project = OpenProject(root, config)
    paths = (path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    names = sorted(name for name in paths if project.holds(name) and not project.decides(name))
    # Most files of a project have nothing to do with torch: half of those that are edited are to be others.
    speaking = [name for name in names if b"torch" in (root / name).read_bytes()] or names
    texts: dict[str, str] = {}
    looked, compared, differing, findings = 0.0, 0, 0, 0
    for number in range(1, edits + 1):
        while len(texts) < min(_OPEN, len(names)):
            name = source.choice(source.choice((names, speaking)))
            texts.setdefault(name, _text(root / name))
        name = source.choice(sorted(texts))
        texts[name] = edited(source, texts[name])
        begun = time.process_time()
        report = project.report(texts)
        looked += time.process_time() - begun
        assert report is not None
        for failure in report.failures:
            differing += 1
            last = failure.detail.strip().rpartition("\n")[2]
            print(f"{root.name}: edit {number}, {failure.path}: {failure.reason} {last}", flush=True)
        if number % every:
            continue
        compared += 1
        for name, text in texts.items():
            (root / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        fresh = {outcome.path: outcome.left for outcome in migrate([root], config, mode=Mode.CHECK).outcomes}
        for name in texts:
            now, then = [*map(described, report.findings[name])], [*map(described, fresh.get(name, ()))]
            findings += len(then)
            if now != then:
                differing += 1
                print(f"{root.name}: edit {number}, {name}:", *set(now) ^ set(then), sep="\n  ", flush=True)
        if source.random() < 0.3:
            del texts[source.choice(sorted(texts))]
    print(
        f"{root.name}: {len(names)} files, {edits} edits, {looked / edits * 1000:.0f} ms of CPU each; "
        f"{compared} fresh runs with {findings} findings in the open files, {differing} files differed",
        flush=True,
    )
    return differing


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


if __name__ == "__main__":
    main()
