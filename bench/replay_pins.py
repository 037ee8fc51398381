"""Compare torchlift with maintainers who bumped torch by hand: `python bench/replay_pins.py --clones FOLDER`.

`replay_pins.tsv` lists their commits, each with the release that it moves to. The parent of each is unpacked from the clone
in FOLDER/OWNER/NAME, as in `replay.py`, and migrated with that release as the target.

Counted are lines that they changed, and that by themselves keep an older torch or CUDA: an exact or upper pin of torch,
torchvision or torchaudio below the target, an index or a build of a CUDA, an image of PyTorch, CUDA or NGC, a
variable or a list of torch releases. A line that only raises a lower bound is none, and neither is a comment, prose, or what
stands in a lock file. A line is found where a finding of torchlift lies on it, and made where torchlift removes it too.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import fetch_corpus
from changes import hunks, lines_of
from leaving import share
from replay import Theirs, compare, placed
from scratch import as_repository, changed, git, snapshot
from torchlift_command import DEFAULT, migrate

COMMITS = Path(__file__).with_name("replay_pins.tsv")
_FLAGS = ("--select", "TL3", "--output-format", "json")
_MODES = {
    "safe": (),
    "all": ("--unsafe-fixes",),
    "GPUs named": ("--unsafe-fixes", "--gpus", "A100", "--driver", "595.58.03"),
}
TEXT = re.compile(
    r"(?i)\.(?:txt|in|toml|cfg|ini|ya?ml|sh|bash|md|rst|bat|cmd|ps1|ipynb|mk|env|docker)$|dockerfile|makefile|"
    r"(?:^|/)(?:setup|noxfile)\.py$"
)
_KINDS = {
    "pin": re.compile(
        rb"(?i)(?<![\w-])(?:torch|torchvision|torchaudio|pytorch)(?:\[\w*\])?[\"']?\s*(?:[<>=!~]+\s*[\w.*]+\s*,\s*)*"
        rb"(?P<operator>===?|<=?|~=|(?<=h)=|= ?[\"'][~<=]*)\s*[\"']?(?P<release>\d+\.\d+)(?P<patch>\.[1-9])?"
    ),
    "index": re.compile(rb"whl/(?:nightly/|lts/[\d.]+/)?cu\d{2,3}|data\.pyg\.org/whl"),
    "build": re.compile(rb"\+(?:pt\d+)?cu\d{2,3}"),
    "image": re.compile(rb"(?:pytorch/pytorch|nvidia/cuda|nvidia/pytorch):[\w.${]"),
    "value": re.compile(
        rb"(?i)(?:^|[\s{,\"'(-])(?:py)?torch(?:[-_ ]?ver(?:sion)?s?)?[\"']?\s*[:=]\s*[\[\"' ]*(?P<release>\d+\.\d+)"
    ),
}
_COMMENT = re.compile(rb"^\s*(?:#|//|REM\b|::|<!--)", re.IGNORECASE)
_COMMAND = re.compile(rb"(?:pip3?|conda|mamba|uv)\b[^\n]* (?:install|add|create)\b|docker |^\s*FROM ")


@dataclass(frozen=True)
class Commit:
    """One row of the list.

    Attributes:
        project: `owner/name` on GitHub.
        parent: full hash of the commit before.
        commit: full hash of theirs.
        target: the torch that they moved to.
        half: `tuned` for what was read while the rules were made, `held` for what was not.
        subject: first line of its message.
    """

    project: str
    parent: str
    commit: str
    target: str
    half: str
    subject: str


@dataclass
class Replayed:
    """One commit, compared.

    Attributes:
        commit: the row.
        lines: their lines that count, by kind.
        found: those with a finding, by kind.
        made: those that are changed, by mode.
        beyond: lines that are changed in the same files and that they left, by mode.
        missed: `PATH:LINE: TEXT` of the lines without a finding.
        left: the same of the lines that no mode changes.
        problems: sentences about what went wrong.
    """

    commit: Commit
    lines: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    beyond: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare torchlift with maintainers who bumped torch by hand.")
    parser.add_argument("names", nargs="*", metavar="COMMIT", help="starts of hashes (default: all that are listed)")
    parser.add_argument("--clones", type=Path, required=True, metavar="FOLDER", help="clones in FOLDER/OWNER/NAME")
    parser.add_argument("--half", choices=("tuned", "held"), help="only these rows")
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--list", action="store_true", help="list the lines without a finding, and those not changed")
    parser.add_argument("--json", type=Path, help="write everything that was found to this file")
    options = parser.parse_args()

    with COMMITS.open(encoding="utf-8", newline="") as stream:
        rows = [Commit(**row) for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    rows = [row for row in rows if options.half in (None, row.half)]
    chosen = [row for row in rows if not options.names or row.commit.startswith(tuple(options.names))]
    results: list[Replayed] = []
    with tempfile.TemporaryDirectory(prefix="torchlift-pins-") as scratch:
        for row in chosen:
            results.append(replay(options.torchlift, row, options.clones / row.project, Path(scratch)))
            print(f"{row.project} {row.commit[:8]}", file=sys.stderr, flush=True)
    print(table(results))
    if options.list:
        print(listing(results))
    if options.json:
        options.json.write_text(json.dumps([as_json(result) for result in results], indent=1) + "\n", encoding="utf-8")
    problems = [f"- {result.commit.commit[:8]}: {problem}" for result in results for problem in result.problems]
    if problems:
        print("\n".join(["", "Problems:", "", *problems]))
        raise SystemExit(1)


def replay(program: str, row: Commit, clone: Path, scratch: Path) -> Replayed:
    """Check the parent, migrate it in each mode, and compare."""
    folder = scratch / row.commit
    folder.mkdir()
    fetch_corpus.unpack_commit(clone, row.parent, folder)
    for path in sorted(folder.rglob("*")):
        # What no rule of this family reads costs time only.
        if path.is_file() and not TEXT.search(path.as_posix()) and path.suffix not in {".lock", ".in"}:
            path.unlink()
    repository = as_repository(folder, scratch / f"{row.commit}-copy" / clone.name)
    kinds = theirs(row, clone, folder)
    files = {
        path: Theirs(lines_of((folder / path).read_bytes()), {line for line, _ in found})
        for path, found in kinds.items()
    }
    result = Replayed(row)
    check = migrate(program, repository, "--check", "--target", row.target, *_FLAGS)
    if check.sample.code not in (0, 1):
        result.problems.append(f"--check ended with {check.sample.code}: {check.stderr.strip()[-200:]}")
        return result
    places = [
        (item["filename"], item["location"]["row"] - 1, item["end_location"]["row"])
        for item in check.report["findings"]
    ]
    left: dict[str, set[str]] = {}
    start = snapshot(repository)
    for mode, flags in _MODES.items():
        migrate(program, repository, "--target", row.target, *flags, *_FLAGS)
        made = compare(files, repository, folder, changed(start, snapshot(repository)))
        result.made[mode], result.beyond[mode] = made.removed, made.beyond
        left[mode] = set(made.missed)
        git(repository, "reset", "--quiet", "--hard")
    for path, found in kinds.items():
        for line, kind in sorted(found):
            result.lines[kind] += 1
            if any(at == path and first <= line < last for at, first, last in places):
                result.found[kind] += 1
            else:
                result.missed.append(placed(path, line, kind, files[path].old[line]))
    result.left = sorted(set.intersection(*left.values()))
    shutil.rmtree(folder)
    shutil.rmtree(repository.parent)
    return result


def theirs(row: Commit, clone: Path, folder: Path) -> dict[str, set[tuple[int, str]]]:
    """Their lines that count, from 0, with their kinds, by path.

    Raises:
        fetch_corpus.FetchError: the clone does not hold the commit.
    """
    names = fetch_corpus.git("-C", str(clone), "diff", "--name-only", "--no-renames", "-z", row.parent, row.commit)
    kept = fetch_corpus.git("-C", str(clone), "ls-tree", "-r", "-z", "--name-only", row.commit).decode().split("\0")
    found: dict[str, set[tuple[int, str]]] = {}
    for path in names.decode().split("\0"):
        if not TEXT.search(path) or not (folder / path).is_file() or path not in kept or "lock" in Path(path).name:
            continue
        before = lines_of((folder / path).read_bytes())
        after = lines_of(fetch_corpus.git("-C", str(clone), "show", f"{row.commit}:{path}"))
        lines = {
            (line, kind)
            for hunk in hunks(before, after)
            for line in range(hunk.start, hunk.end)
            if hunk.new_end > hunk.new_start and (kind := kind_of(path, before[line], row.target)) is not None
        }
        if lines:
            found[path] = lines
    return found


def kind_of(path: str, line: bytes, target: str) -> str | None:
    """Why a line keeps an older torch; None where it does not."""
    if _COMMENT.search(line) and not path.endswith((".md", ".rst")):
        return None
    if path.endswith((".md", ".rst", ".ipynb")) and not _COMMAND.search(line):
        return None
    for kind, pattern in _KINDS.items():
        for match in pattern.finditer(line):
            named = match.groupdict()
            if named.get("release") is None or b"torchvision" in match[0]:
                return kind
            below = pair(named["release"].decode())
            bound = named.get("operator") == b"<" and not named["patch"]
            if below < pair(target) or (bound and below == pair(target)):
                return kind
    return None


def as_json(result: Replayed) -> dict[str, Any]:
    return {name: asdict(value) if isinstance(value, Commit) else value for name, value in vars(result).items()}


def pair(release: str) -> tuple[int, int]:
    major, minor = release.split(".")[:2]
    return int(major), int(minor)


def table(results: list[Replayed]) -> str:
    """Markdown for people."""
    lines = [
        f"| commit | target | lines | found | {' | '.join(f'made, {mode}' for mode in _MODES)} | beyond, all |",
        "|---|---|" + "--:|" * (3 + len(_MODES)),
    ]
    lines += [f"| {result.commit.project} {result.commit.commit[:8]} | {result.commit.target} | {cells([result])} |"
              for result in results]  # fmt: skip
    lines.append(f"| **{len(results)} commits** | | {cells(results)} |")
    kinds = sorted({kind for result in results for kind in result.lines})
    for kind in kinds:
        total, found = (sum(getattr(result, what)[kind] for result in results) for what in ("lines", "found"))
        lines.append(f"| of kind {kind} | | {total} | {share(found, total)} |{' |' * (1 + len(_MODES))}")
    return "\n".join(lines)


def cells(results: list[Replayed]) -> str:
    """The numbers of some commits together."""
    lines, found = (sum(getattr(result, what).total() for result in results) for what in ("lines", "found"))
    made = [share(sum(result.made[mode] for result in results), lines) for mode in _MODES]
    return " | ".join([str(lines), share(found, lines), *made, str(sum(result.beyond["all"] for result in results))])


def listing(results: list[Replayed]) -> str:
    """The lines that nothing was said of, and those that no mode changes, to be read."""
    lines = []
    for result in results:
        lines += [
            "",
            f"{result.commit.project} {result.commit.commit[:8]} {result.commit.subject}",
            "  without a finding:",
        ]
        lines += [f"    {line}" for line in result.missed]
        lines += ["  not changed:", *(f"    {line}" for line in result.left)]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
