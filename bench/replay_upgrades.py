"""What maintainers changed for a newer torch, and what torchlift says of it: `python bench/replay_upgrades.py --clones FOLDER`.

`replay_upgrades.tsv` lists their commits, each with the release it is held against. The parent of each is unpacked from the clone in
FOLDER/OWNER/NAME, and the files they changed are checked as part of the whole project (TL2 to TL6). Counted are the lines they
took out that speak of what an upgrade is about (`UPGRADE`); a line is found where a finding lies on it or a fix would change it, and
has a fix where that does. What is not found is sorted by patterns, first of all into what stands in no code: that sorting is to be read, not trusted.
`replay_upgrades_judged.tsv` holds what a reader who did not write the rules said of lines, before torchlift was run, for the commits
whose half begins with "read": whether an upgrade to the target needs the line changed.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import fetch_corpus
from changes import lines_of
from leaving import share
from notebook_rows import rows_of
from scratch import as_repository
from torchlift_command import DEFAULT, migrate

COMMITS = Path(__file__).with_name("replay_upgrades.tsv")
JUDGED = Path(__file__).with_name("replay_upgrades_judged.tsv")
UPGRADE = re.compile(
    r"torch\.cuda\.amp|torch\.cpu\.amp|GradScaler|autocast|torch\.load\(|weights_only|init_process_group|device_id|batch_isend|whl/cu|\+cu1"
    r"|(?:pytorch/pytorch|nvidia/cuda|nvcr\.io/nvidia/pytorch):"
    r"|(?:^|[\"'\s])(?:torch|torchvision|torchaudio|pytorch)(?:\[\w+\])?\s*[=<~]=?\s*[\d\"']|torch\._six"
    r"|torch\.(?:symeig|qr|svd|lu|cholesky|norm|solve|lstsq|triangular_solve|chain_matmul|range)\(|lr_scheduler\._LRScheduler"
    r"|set_default_tensor_type|torchtext|torchaudio\.(?:backend|set_audio|info|load|save)|functional_tensor|pretrained=|use_reentrant"
    r"|_register_pytree|sdp_kernel|is_torch_|torch\.distributed\.(?:launch|_)|register_backward_hook|volatile|\.data\[0\]|torch_version"
    r"|pytorch-version|torch:",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(r"(?i)change|release|history|\.lock$")
_SORTS = {
    "prose, comments, docstrings": re.compile(
        r"\s*(?:#|//|LABEL|>>>|-? ?We use|You can later|Inspired by|See )|.*(?:`torch\.load|pip uninstall|is deprecated\.)"
    ),
    "what stands around a stand-in for amp": re.compile(
        r".*(?:def (?:default_)?autocast|with autocast\(\)|autocast = (?:contextlib|nullcontext|default|None)|hasattr\(torch\.cuda|get_autocast)"
    ),
    "rows and lists of releases": re.compile(
        r"(?i)\s*(?:- )?\"?(?:py)?torch(?:_version|-version)?\"?\s*[:=]|.*(?:pytorch_version|for torch_version in)"
    ),
    "images of CUDA": re.compile(r".*nvidia/cuda:"),
    "imports": re.compile(r"\s*from torch|\s*import torch"),
}


@dataclass(frozen=True)
class Commit:
    """One row of the list.

    Attributes:
        project: `owner/name` on GitHub.
        parent: full hash of the commit before.
        commit: full hash of theirs.
        target: the torch that they moved to.
        half: `tuned` for what was read while the rules were made, `held` for what was not, or who judged its lines.
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
    """One commit.

    Attributes:
        commit: the row.
        lines, found, fixed: numbers of lines.
        needed, needed_found: those that a reader said an upgrade needs changed, and how many of these were found.
        missed: what was not found, by sort.
        listed: `PATH:LINE: TEXT` of these.
        problem: why it could not be run.
    """

    commit: Commit
    lines: int = 0
    found: int = 0
    fixed: int = 0
    needed: int = 0
    needed_found: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    listed: list[str] = field(default_factory=list)
    problem: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="COMMIT", help="starts of hashes (default: all that are listed)")
    parser.add_argument("--clones", type=Path, required=True, metavar="FOLDER", help="clones in FOLDER/OWNER/NAME")
    parser.add_argument(
        "--half",
        help="only these rows: tuned, held, fresh, or read and what it is of",
    )
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--list", action="store_true", help="list the lines without a finding")
    options = parser.parse_args()
    with COMMITS.open(encoding="utf-8", newline="") as stream:
        rows = [Commit(**row) for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    rows = [row for row in rows if options.half in (None, row.half)]
    results = []
    with tempfile.TemporaryDirectory(prefix="torchlift-upgrades-") as scratch:
        for row in rows:
            if not options.names or row.commit.startswith(tuple(options.names)):
                results.append(replay(options.torchlift, row, options.clones / row.project, Path(scratch)))
    print(table(results))
    for result in results if options.list else ():
        print("\n".join(["", f"{result.commit.project} {result.commit.commit[:8]}", *result.listed]))
    if any(result.problem for result in results):
        raise SystemExit(1)


def replay(program: str, row: Commit, clone: Path, scratch: Path) -> Replayed:
    """Check the files of the parent that the commit changed, and compare."""
    result = Replayed(row)
    folder = scratch / row.commit
    folder.mkdir()
    fetch_corpus.unpack_commit(clone, row.parent, folder)
    theirs = {
        path: {number: text for number, text in taken_out(clone, row, path) if UPGRADE.search(text)}
        for path in changed_paths(clone, row)
        if not _NO_PLACE.search(path) and (folder / path).is_file()
    }
    repository = as_repository(folder, scratch / f"{row.commit}-copy" / clone.name)
    paths = sorted(path for path, lines in theirs.items() if lines)
    if paths:
        check = migrate(program, repository, "--check", "--target", row.target, "--select", "TL2,TL3,TL4,TL5,TL6",
                        "--output-format", "json", paths=paths)  # fmt: skip
        if check.sample.code not in (0, 1):
            result.problem = f"--check ended with {check.sample.code}: {check.stderr.strip()[-200:]}"
            return result
        found: dict[str, set[int]] = {}
        fixed: dict[str, set[int]] = {}
        root = repository.parent / check.report["root"]  # below the repository where all paths lie in one distribution
        for item in check.report["findings"]:
            name = (root / item["filename"]).relative_to(repository).as_posix()
            found.setdefault(name, set()).update(rows_of(root, item))
            for edit in item["fix"]["edits"] if item["fix"] else ():
                for places in (fixed, found):
                    places.setdefault(name, set()).update(rows_of(root, item, edit))
        for path in paths:
            for number, text in theirs[path].items():
                result.lines += 1
                result.fixed += number in fixed.get(path, ())
                needed = judged().get((row.commit[:8], path, number)) == "needed"
                result.needed += needed
                result.needed_found += needed and number in found.get(path, ())
                if number in found.get(path, ()):
                    result.found += 1
                else:
                    result.missed[sort_of(text)] += 1
                    result.listed.append(f"    {path}:{number}: {text.strip()[:150]}")
    shutil.rmtree(folder)
    shutil.rmtree(repository.parent)
    return result


@cache
def judged() -> dict[tuple[str, str, int], str]:
    """Verdicts by the start of a commit's hash, path and line."""
    with JUDGED.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["commit"], row["path"], int(row["line"])): row["verdict"] for row in rows}


def changed_paths(clone: Path, row: Commit) -> list[str]:
    """Paths that the commit changed."""
    names = fetch_corpus.git("-C", str(clone), "diff", "--name-only", "--no-renames", "-z", row.parent, row.commit)
    return [path for path in names.decode().split("\0") if path]


def taken_out(clone: Path, row: Commit, path: str) -> list[tuple[int, str]]:
    """The lines of the parent, from 1, that the commit took out or changed."""
    diff = fetch_corpus.git("-C", str(clone), "diff", "-U0", "--no-renames", row.parent, row.commit, "--", path)
    found, number = [], 0
    for line in lines_of(diff):
        start = re.match(rb"@@ -(\d+)", line)
        if start is not None:
            number = int(start[1])
        elif line.startswith(b"-") and not line.startswith(b"--- "):
            found.append((number, line[1:].decode("utf-8", "replace")))
            number += 1
    return found


def sort_of(text: str) -> str:
    """What a line without a finding is, by how it looks."""
    return next((name for name, pattern in _SORTS.items() if pattern.match(text)), "others")


def table(results: list[Replayed]) -> str:
    """Markdown for people."""
    lines = [
        "| commit | half | target | lines | found | with a fix | needed, by a reader | of these found |",
        "|---|---|---|" + "--:|" * 5,
    ]
    for result in results:
        row, numbers = (
            result.commit,
            f"{result.lines} | {result.found} | {result.fixed} | {result.needed} | {result.needed_found} |",
        )
        lines.append(f"| {row.project} {row.commit[:8]} | {row.half} | {row.target} | {result.problem or numbers}")
    for half in dict.fromkeys(result.commit.half for result in results):
        of = [result for result in results if result.commit.half == half]
        total, found = sum(result.lines for result in of), sum(result.found for result in of)
        needed = sum(result.needed for result in of)
        lines.append(
            f"| **{half}: {len(of)} commits** | | | {total} | {share(found, total)} | {sum(r.fixed for r in of)} "
            f"| {needed} | {share(sum(r.needed_found for r in of), needed)} |"
        )
    missed = sum((result.missed for result in results), Counter[str]())
    lines += ["", *(f"- {number} not found: {name}" for name, number in missed.most_common())]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
