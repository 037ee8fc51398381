"""Compare torchlift with maintainers who took TorchScript out by hand: `python bench/replay.py --clones FOLDER`.

`replay.tsv` lists their commits. The parent of each is unpacked from the clone in FOLDER/OWNER/NAME (full histories; see
`fetch_corpus.py`), migrated with the intent, and compared line by line with what they made of it.

Counted of a commit are files other than documentation from which they removed a line that names TorchScript. There
the lines count that they removed in one go with such a line, and imports of a name that stands in them and on no other
line of the parent: where other code uses the name too, they replaced the import for that code. A line is made when torchlift removes the same
line of the parent; an added line is made when torchlift adds the same text to the same file. The rest of their changes
in these files is not about TorchScript, and counted as "other". Places in the column `apart` of the list are
decisions that only people make; each has its reason there, and its lines are counted by themselves. What torchlift changes in the same files
beyond their lines is counted and, with `--list`, shown; what it does to other files is only counted.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import fetch_corpus
from changes import Hunk, hunks, import_lines, lines_of
from corpus_run import MODES, complaints
from leaving import RULES, share
from scratch import as_repository, changed, git, snapshot
from torchlift_command import DEFAULT, migrate

COMMITS = Path(__file__).with_name("replay.tsv")
_CODE = {".py", ".pyi", ".toml", ".cfg", ".ini", ".yaml", ".yml"}
_NAMES_IT = re.compile(rb"jit(?!ter)|torch_?script|scripting|scripted|scriptable", re.IGNORECASE)
_WORD = re.compile(rb"\w+")
_SYNTAX = {b"from", b"import", b"as"}
_APART = re.compile(r"(?P<path>[^:;]+)(?::(?P<first>\d+)-(?P<last>\d+))?: (?P<reason>[^;]+)(?:; |$)")


@dataclass(frozen=True)
class Commit:
    """One row of the list.

    Attributes:
        project: `owner/name` on GitHub.
        parent: full hash of the commit before.
        commit: full hash of theirs.
        subject: first line of its message.
        kind: what was taken out, in a few words.
        speed: `eager` or `compile`: what they put in the place of scripting for speed.
        tests: `successor` or `delete`: what they did with tests of scripting.
        apart: decisions of people, `PATH[:FIRST-LAST]: REASON; ...`, lines of the parent.
    """

    project: str
    parent: str
    commit: str
    subject: str
    kind: str
    speed: str
    tests: str
    apart: str

    @property
    def intent(self) -> list[str]:
        """The options that say what they meant."""
        return [
            *("--torchscript", "drop"),
            *("--torchscript-speed", self.speed),
            *("--torchscript-tests", self.tests),
        ]

    def decided(self, path: str, line: int) -> bool:
        """Whether a line of the parent, counted from 0, is left to people."""
        return any(
            found["path"] == path and (found["first"] is None or int(found["first"]) <= line + 1 <= int(found["last"]))
            for found in _APART.finditer(self.apart)
        )


@dataclass
class Theirs:
    """What maintainers did to one file.

    Attributes:
        old: lines of the parent.
        counted: their removed lines that count, from 0.
        apart: those that are left to people.
        other: their removed lines about something else.
        added: texts of the lines they added where a counted one went.
    """

    old: list[bytes]
    counted: set[int] = field(default_factory=set)
    apart: set[int] = field(default_factory=set)
    other: set[int] = field(default_factory=set)
    added: Counter[bytes] = field(default_factory=Counter)


@dataclass
class Made:
    """What torchlift made of their lines in one mode.

    Attributes:
        removed: counted lines that it removes too.
        naming: those of them that name TorchScript.
        added: added lines that it adds too.
        beyond: lines it removes or adds in the same files, and they did not.
        elsewhere: lines it removes or adds in other files.
        missed: `PATH:LINE: TEXT` of the counted lines that it leaves.
        extra: the same of the lines beyond, with `-` or `+` before the text.
    """

    removed: int = 0
    naming: int = 0
    added: int = 0
    beyond: int = 0
    elsewhere: int = 0
    missed: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)


@dataclass
class Replayed:
    """One commit, compared.

    Attributes:
        commit: the row.
        removed: their removed lines that count.
        naming: those of them that name TorchScript.
        added: their added lines that count.
        apart: their removed lines that are left to people.
        other: their removed lines about something else.
        made: by mode.
        problems: sentences about what went wrong.
    """

    commit: Commit
    removed: int
    naming: int
    added: int
    apart: int
    other: int
    made: dict[str, Made]
    problems: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare torchlift with maintainers who took TorchScript out.")
    parser.add_argument("names", nargs="*", metavar="COMMIT", help="starts of hashes (default: all that are listed)")
    parser.add_argument("--clones", type=Path, required=True, metavar="FOLDER", help="clones in FOLDER/OWNER/NAME")
    parser.add_argument("--no-intent", action="store_true", help="run without saying that TorchScript is dropped")
    parser.add_argument(
        "--min-torch", metavar="X.Y", help="the lowest torch, in the place of what the parents say of their day"
    )
    parser.add_argument("--torchlift", default=DEFAULT, help="how to call it")
    parser.add_argument("--list", action="store_true", help="list the lines that are missed and those beyond")
    parser.add_argument("--json", type=Path, help="write everything that was found to this file")
    options = parser.parse_args()

    with COMMITS.open(encoding="utf-8", newline="") as stream:
        rows = [Commit(**row) for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    chosen = [row for row in rows if not options.names or row.commit.startswith(tuple(options.names))]
    results: list[Replayed] = []
    with tempfile.TemporaryDirectory(prefix="torchlift-replay-") as scratch:
        for row in chosen:
            intent = [] if options.no_intent else row.intent
            intent += ["--min-torch", options.min_torch] if options.min_torch else []
            results.append(replay(options.torchlift, row, options.clones / row.project, Path(scratch), intent))
            print(f"{row.project} {row.commit[:8]}", file=sys.stderr, flush=True)
    print(table(results))
    if options.list:
        print(listing(results))
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n", encoding="utf-8")
    problems = [f"- {result.commit.commit[:8]}: {problem}" for result in results for problem in result.problems]
    if problems:
        print("\n".join(["", "Problems:", "", *problems]))
        raise SystemExit(1)


def replay(program: str, row: Commit, clone: Path, scratch: Path, intent: list[str]) -> Replayed:
    """Migrate the parent in both modes and compare."""
    folder = scratch / row.commit
    folder.mkdir()
    missing = fetch_corpus.unpack_commit(clone, row.parent, folder)
    problems = [f"the clone lacks {path}" for path in missing if path.endswith(".py")]
    repository = as_repository(folder, scratch / f"{row.commit}-copy" / clone.name)
    files = theirs(row, clone, folder)
    start = snapshot(repository)
    made: dict[str, Made] = {}
    for mode, flags in MODES.items():
        run = migrate(program, repository, *RULES, *intent, *flags, "--output-format", "json")
        problems += complaints(mode, run)
        made[mode] = compare(files, repository, folder, changed(start, snapshot(repository)))
        git(repository, "reset", "--quiet", "--hard")
        git(repository, "clean", "--quiet", "-d", "-x", "--force")
    counted = [file.old[line] for file in files.values() for line in file.counted]
    return Replayed(
        row,
        len(counted),
        sum(map(names_it, counted)),
        sum(file.added.total() for file in files.values()),
        sum(len(file.apart) for file in files.values()),
        sum(len(file.other) for file in files.values()),
        made,
        problems,
    )


def theirs(row: Commit, clone: Path, folder: Path) -> dict[str, Theirs]:
    """What the commit did, by path, in files from which it took TorchScript.

    Raises:
        fetch_corpus.FetchError: the clone does not hold it.
    """
    names = fetch_corpus.git("-C", str(clone), "diff", "--name-only", "--no-renames", "-z", row.parent, row.commit)
    kept = fetch_corpus.git("-C", str(clone), "ls-tree", "-r", "-z", "--name-only", row.commit).decode().split("\0")
    found: dict[str, Theirs] = {}
    for path in names.decode().split("\0"):
        before = folder / path
        if Path(path).suffix not in _CODE or not before.is_file() or path.startswith("docs/"):
            continue
        old = before.read_bytes()
        new = fetch_corpus.git("-C", str(clone), "show", f"{row.commit}:{path}") if path in kept else b""
        file = judged(row, path, old, new)
        if file.counted or file.apart:
            found[path] = file
    return found


def judged(row: Commit, path: str, old: bytes, new: bytes) -> Theirs:
    """Which of their lines count."""
    before, after = lines_of(old), lines_of(new)
    file = Theirs(before)
    found = hunks(before, after)
    if not any(names_it(before[line]) for hunk in found for line in range(hunk.start, hunk.end)):
        return file
    removed = [{line for line in range(hunk.start, hunk.end) if before[line].strip()} for hunk in found]
    about = [any(names_it(before[line]) for line in lines) for lines in removed]
    words = {word for lines, is_about in zip(removed, about, strict=True) if is_about
             for line in lines for word in _WORD.findall(before[line])}  # fmt: skip
    bound = import_lines(old)
    gone = {line for lines, is_about in zip(removed, about, strict=True) if is_about for line in lines} | set(bound)
    elsewhere = {word for line, text in enumerate(before) if line not in gone for word in _WORD.findall(text)}
    imports = {line for line in bound if (words - elsewhere) & set(_WORD.findall(before[line])) - _SYNTAX}
    for hunk, lines, is_about in zip(found, removed, about, strict=True):
        apart = {line for line in lines if row.decided(path, line) and (is_about or line in imports)}
        counted = (lines if is_about else lines & imports) - apart
        file.apart |= apart
        file.counted |= counted
        file.other |= lines - counted - apart
        if counted and not apart:
            file.added.update(text for line in range(hunk.new_start, hunk.new_end) if (text := after[line].strip()))
    return file


def names_it(line: bytes) -> bool:
    return bool(_NAMES_IT.search(line))


def compare(files: dict[str, Theirs], repository: Path, original: Path, paths: list[str]) -> Made:
    """What stands in the working tree against what the maintainers made."""
    made = Made()
    for path, file in files.items():
        new = repository / path
        after = lines_of(new.read_bytes()) if new.is_file() else []
        found = hunks(file.old, after)
        gone = {line for hunk in found for line in range(hunk.start, hunk.end) if file.old[line].strip()}
        made.removed += len(gone & file.counted)
        made.naming += sum(names_it(file.old[line]) for line in gone & file.counted)
        made.missed += [placed(path, line, "-", file.old[line]) for line in sorted(file.counted - gone)]
        beyond = sorted(gone - file.counted - file.apart - file.other)
        made.extra += [placed(path, line, "-", file.old[line]) for line in beyond]
        wanted = file.added.copy()
        for hunk in found:
            for text in added(hunk, after):
                if wanted[text]:
                    wanted[text] -= 1
                    made.added += 1
                elif not set(range(hunk.start, hunk.end)) & (file.counted | file.apart):
                    made.extra.append(placed(path, hunk.start, "+", text))
    made.beyond = len(made.extra)
    for path in set(paths) - files.keys():
        old, new = ((root / path).read_bytes() if (root / path).is_file() else b"" for root in (original, repository))
        made.elsewhere += sum(
            hunk.end - hunk.start + hunk.new_end - hunk.new_start for hunk in hunks(lines_of(old), lines_of(new))
        )
    return made


def added(hunk: Hunk, after: list[bytes]) -> list[bytes]:
    return [text for line in range(hunk.new_start, hunk.new_end) if (text := after[line].strip())]


def placed(path: str, line: int, sign: str, text: bytes) -> str:
    return f"{path}:{line + 1}: {sign} {text.decode(errors='replace').strip()}"


def table(results: list[Replayed]) -> str:
    """Markdown for people."""
    lines = [
        "| commit | kind | their lines | made, safe | made, all | naming TorchScript | made, safe | made, all "
        "| added | made, all | apart | other | beyond, safe | beyond, all | elsewhere, all |",
        "|---|---|" + "--:|" * 13,
    ]
    for result in results:
        name = f"{result.commit.project} {result.commit.commit[:8]}"
        lines.append(f"| {name} | {result.commit.kind} | {' | '.join(cells([result]))} |")
    return "\n".join([*lines, f"| **{len(results)} commits** | | {' | '.join(cells(results))} |"])


def cells(results: list[Replayed]) -> list[str]:
    """The numbers of some commits together."""

    def total(what: str, mode: str | None = None) -> int:
        return sum(getattr(result.made[mode] if mode else result, what) for result in results)

    removed, naming, new = total("removed"), total("naming"), total("added")
    return [
        str(removed),
        *(share(total("removed", mode), removed) for mode in MODES),
        str(naming),
        *(share(total("naming", mode), naming) for mode in MODES),
        str(new),
        share(total("added", "unsafe"), new),
        *(str(total(what)) for what in ("apart", "other")),
        *(str(total("beyond", mode)) for mode in MODES),
        str(total("elsewhere", "unsafe")),
    ]


def listing(results: list[Replayed]) -> str:
    """What is missed and what is beyond, with all fixes, to be read."""
    lines = []
    for result in results:
        made = result.made["unsafe"]
        lines += ["", f"{result.commit.project} {result.commit.commit[:8]} {result.commit.subject}", "  missed:"]
        lines += [f"    {line}" for line in made.missed]
        lines += ["  beyond:", *(f"    {line}" for line in made.extra)]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
