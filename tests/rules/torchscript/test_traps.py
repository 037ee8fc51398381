"""The traps: programs that a mechanical rewrite breaks, most of them in silence. What torchlift does about each is in its header.

A fixture is a Python file that starts with a header in comments:

    # T5: what is different after a mechanical rewrite, and whether anybody would notice.
    # outcome: review
    # finding: TL101 unsafe "words of the message that name the reason" "more words"
    # differs: words of the difference that the reviewed fix makes under `run`
    # naive differs: words of the difference that the mechanical rewrite makes
    # old is wrong: why the TorchScript program, and not the new one, is the odd one out
    # options: --batch-example 2
    # open: what torchlift does not do yet; the fixture shows what it should do

Then follows the program, and sections: `run` (statements that assign `result`, as in `torchlift.testing`), `assumption holds`
(the same where a reviewed fix must make no difference), `naive` (a mechanical rewrite as lines taken out and put in) and
`file NAME` (further files of the project, commented out unless they are Python).
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from noted_proofs import compared
from proofs import RememberingProcesses

from torchlift.finding import Finding
from torchlift.migrate.result import Mode, RunResult
from torchlift.migrate.run import RunOptions, analyse
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Settings
from torchlift.testing import FreshProcesses, Program, ProgramComparison, Verdict
from torchlift.testing.nodes import Scalar
from torchlift.versions import TorchVersion

FOLDER = Path(__file__).parents[3] / "fixtures/traps"
IDS = tuple(f"T{number}" for number in range(1, 40))
OUTCOMES = {
    "prevented": "a safe fix that avoids it",
    "refused": "no fix, and the message names the reason",
    "review": "a fix that needs review, whose message names the assumption",
    "control": "a rewrite that makes no difference",
}
_SECTION = re.compile(r"^# --- (.+) ---\n", re.MULTILINE)
_FINDING = re.compile(r"(TL\d+) (safe|unsafe|manual)((?: \"[^\"]+\")*)")


@dataclass(frozen=True)
class Expected:
    """A finding that the header of a fixture announces, with the words its message must have."""

    code: str
    safety: str
    words: tuple[str, ...]

    def fits(self, finding: Finding) -> bool:
        text = f"{finding.message} {finding.help or ''}"
        return (finding.code, finding.safety.value) == (self.code, self.safety) and all(w in text for w in self.words)


@dataclass(frozen=True)
class Trap:
    """One fixture; see the docstring of this file."""

    name: str
    id: str
    header: dict[str, list[str]]
    code: str
    run: str = ""
    holds: str = ""
    naive: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        return self.header["outcome"][0]

    @property
    def expected(self) -> list[Expected]:
        found = []
        for line in self.header.get("finding", ()):
            match = _FINDING.fullmatch(line)
            assert match, f"{self.name}: `{line}` is no finding"
            found.append(Expected(match[1], match[2], tuple(re.findall(r'"([^"]+)"', match[3]))))
        return found

    @property
    def batch_example(self) -> int | None:
        for option in self.header.get("options", ()):
            if option.startswith("--batch-example "):
                return int(option.split()[1])
        return None

    @property
    def min_torch(self) -> TorchVersion:
        for option in self.header.get("options", ()):
            if option.startswith("--min-torch "):
                return TorchVersion(*map(int, option.split()[1].split(".")))
        return TorchVersion(2, 13)

    def said(self, key: str) -> str:
        return self.header.get(key, [""])[0]


def read_trap(path: Path) -> Trap:
    lines = path.read_text().splitlines(keepends=True)
    end = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    header: dict[str, list[str]] = {}
    key = ""
    for line in lines[:end]:
        text = line.removeprefix("#").rstrip("\n")
        if text.startswith("   "):
            header[key][-1] += f" {text.strip()}"
            continue
        key, _, value = text.strip().partition(": ")
        header.setdefault(key, []).append(value)
    body, *sections = _SECTION.split("".join(lines[end:]).lstrip("\n"))
    parts = dict(zip(sections[::2], sections[1::2], strict=True))
    files = {
        title.removeprefix("file "): text.strip("\n") + "\n"
        if title.endswith(".py")
        else "".join(line.removeprefix("#").removeprefix(" ") for line in text.strip("\n").splitlines(keepends=True))
        for title, text in parts.items()
        if title.startswith("file ")
    }
    unknown = [title for title in parts if title not in {"run", "assumption holds", "naive"} and title[:5] != "file "]
    assert not unknown, f"{path.name}: there is no section `{unknown[0]}`"
    return Trap(
        path.stem,
        next(iter(header)),
        header,
        body.rstrip("\n") + "\n",
        parts.get("run", ""),
        parts.get("assumption holds", ""),
        parts.get("naive", ""),
        files,
    )


ALL = [read_trap(path) for path in sorted(FOLDER.glob("*.py"))]
TRAPS = [trap for trap in ALL if not trap.said("open")]
OPEN = [trap for trap in ALL if trap.said("open")]


@pytest.fixture(scope="module")
def remembering(processes: FreshProcesses) -> RememberingProcesses:
    return RememberingProcesses(processes)


def each(traps: list[Trap]) -> pytest.MarkDecorator:
    """A test of each trap, all tests of one on the same worker, which then migrates and runs its programs once."""
    params = [pytest.param(trap, id=trap.name, marks=pytest.mark.xdist_group(trap.name)) for trap in traps]
    return pytest.mark.parametrize("trap", params)


@cache
def migrated(index: int, unsafe: bool) -> RunResult:
    trap = ALL[index]
    with tempfile.TemporaryDirectory() as folder:
        files = {"example.py": trap.code, **trap.files}
        for file, text in files.items():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        python = tuple(sorted(file for file in files if file.endswith(".py")))
        settings = Settings(min_torch=trap.min_torch, batch_example=trap.batch_example)
        result = analyse(RunOptions(Path(folder), python, Mode.DIFF, frozenset(all_rules()), unsafe, settings))
    assert not [failure.detail or failure.reason for failure in result.failures]
    return result


def migrate(trap: Trap, *, unsafe: bool = False) -> RunResult:
    return migrated(ALL.index(trap), unsafe)


def rewritten(trap: Trap, result: RunResult) -> Program:
    new = {outcome.path: outcome.new_text for outcome in result.outcomes if outcome.new_text is not None}
    files = {path: new.get(path, text) for path, text in trap.files.items()}
    return Program(new.get("example.py", trap.code), files)


def compare(trap: Trap, new: Program, run: str, remembering: RememberingProcesses) -> ProgramComparison:
    old = Program(trap.code, trap.files)
    assert (new.code, dict(new.files)) != (old.code, dict(old.files)), "nothing was rewritten"
    found = compared(old, new, run, processes=remembering)
    assert found.verdict is not Verdict.FAILED, str(found)
    assert found.old != Scalar("NoneType", None), "`run` must assign `result`"
    return found


def naively_rewritten(trap: Trap) -> Program:
    """The program after the changes in the section `naive`, where `# - ` and `# + ` stand before old and new lines."""
    text = trap.code
    for hunk in re.findall(r"((?:# -.*\n)+)((?:# \+.*\n)*)", trap.naive):
        old, new = ("".join(line[4:] for line in side.splitlines(keepends=True)) for side in hunk)
        assert text.count(old) == 1, f"{trap.name}: these lines are there {text.count(old)} times:\n{old}"
        text = text.replace(old, new)
    return Program(text, trap.files)


@each(TRAPS)
def test_a_trap_is_reported_as_its_header_says(trap: Trap) -> None:
    check_findings(trap)


def check_findings(trap: Trap) -> None:
    result = migrate(trap)
    found = [finding for outcome in result.outcomes for finding in (*outcome.left, *outcome.fixed)]
    shown = "\n".join(f"{f.code} {f.safety.value}: {f.message} | {f.help}" for f in found)
    left = list(found)
    for expected in trap.expected:
        match = next((finding for finding in left if expected.fits(finding)), None)
        assert match is not None, f"no finding {expected}; there are:\n{shown}"
        left.remove(match)
    assert not left, f"findings that the header does not announce: {[f.code for f in left]} of\n{shown}"


@each(TRAPS)
def test_safe_fixes_do_not_fall_into_a_trap(trap: Trap, remembering: RememberingProcesses) -> None:
    check_safe_fixes(trap, remembering)


def check_safe_fixes(trap: Trap, remembering: RememberingProcesses) -> None:
    new = rewritten(trap, migrate(trap))
    if not any(expected.safety == "safe" for expected in trap.expected):
        assert (new.code, new.files) == (trap.code, trap.files)
        return
    found = compare(trap, new, trap.run, remembering)
    wanted = Verdict.TORCHSCRIPT_WRONG if trap.said("old is wrong") else Verdict.SAME
    assert found.verdict is wanted, f"{found}\n{new.code}"


@each([trap for trap in TRAPS if trap.run and "review" in trap.outcome])
def test_a_reviewed_fix_differs_only_as_its_message_says(trap: Trap, remembering: RememberingProcesses) -> None:
    new = rewritten(trap, migrate(trap, unsafe=True))
    found = compare(trap, new, trap.run, remembering)
    if trap.said("differs"):
        wrong = Verdict.TORCHSCRIPT_WRONG if trap.said("old is wrong") else found.verdict
        assert found.verdict not in {Verdict.SAME} and found.verdict is wrong, f"{found}\n{new.code}"
        assert trap.said("differs") in str(found), f"{found}\n{new.code}"
    else:
        assert found.verdict is Verdict.SAME, f"{found}\n{new.code}"
    if trap.holds:
        found = compare(trap, new, trap.holds, remembering)
        assert found.verdict is Verdict.SAME, f"{found}\n{new.code}"


@each([trap for trap in TRAPS if trap.outcome == "control"])
def test_a_control_does_the_same_after_its_fix(trap: Trap, remembering: RememberingProcesses) -> None:
    new = rewritten(trap, migrate(trap, unsafe=True))
    found = compare(trap, new, trap.run, remembering)
    assert found.verdict is Verdict.SAME, f"{found}\n{new.code}"


@each([trap for trap in TRAPS if trap.naive])
def test_the_mechanical_rewrite_differs(trap: Trap, remembering: RememberingProcesses) -> None:
    new = naively_rewritten(trap)
    found = compare(trap, new, trap.run, remembering)
    assert found.verdict is not Verdict.SAME, f"{found}\n{new.code}"
    assert trap.said("naive differs") in str(found), f"{found}\n{new.code}"


@each(OPEN)
def test_an_open_trap_is_still_open(trap: Trap, remembering: RememberingProcesses) -> None:
    with pytest.raises(AssertionError):
        check_findings(trap)
        check_safe_fixes(trap, remembering)
        raise pytest.fail.Exception(f"{trap.name} works: take its line `open` out")


@each(ALL)
def test_a_fixture_says_what_it_shows(trap: Trap) -> None:
    assert trap.id in IDS and trap.name.startswith(f"t{trap.id[1:]:>02}_")
    assert trap.outcome in OUTCOMES
    known = {trap.id, "outcome", "finding", "differs", "naive differs", "old is wrong", "options", "open"}
    assert not set(trap.header) - known, f"`{min(set(trap.header) - known)}` means nothing in a header"
    by_safety = Counter(expected.safety for expected in trap.expected)
    assert {"prevented": "safe", "refused": "manual", "review": "unsafe"}.get(trap.outcome, "safe") in {
        *by_safety,
        *(("safe",) if trap.outcome == "control" else ()),
    }
    assert trap.outcome in {"prevented", "control"} or any(expected.words for expected in trap.expected)
    assert bool(trap.naive) == bool(trap.said("naive differs"))
    assert trap.run or not (trap.naive or trap.outcome in {"prevented", "control"})


def test_every_trap_has_a_fixture(capsys: pytest.CaptureFixture[str]) -> None:
    found = Counter(trap.id for trap in ALL)
    assert [known for known in IDS if known not in found] == []
    outcomes = Counter(trap.outcome for trap in ALL)
    with capsys.disabled():
        shown = ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in OUTCOMES)
        print(f"\n{len(ALL)} programs over {len(found)} traps: {shown}")
