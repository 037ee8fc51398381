"""The patch: real `git apply` and `patch` must turn the old bytes into the new ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.migrate.tell.report.diff import patch_bytes, run_patch, shown_patch
from torchlift.source import SourceText
from torchlift.versions import TorchVersion

LONG = "".join(f"line_{number} = {number}\n" for number in range(60))
UTF8 = "# caf\u00e9 \U0001f44d\nx = torch.jit.load(p)\n"

NASTY = {
    "one line changed": (b"a\nb\nc\n", "a\nB\nc\n"),
    "first and last line changed": (b"a\nb\nc\nd\ne\nf\ng\nh\ni\n", "A\nb\nc\nd\ne\nf\ng\nh\nI\n"),
    "distant changes": (LONG.encode(), LONG.replace("line_5 ", "x ").replace("line_50 ", "import y\ny ")),
    "changes seven lines apart": (LONG.encode(), LONG.replace("line_5 ", "x ").replace("line_12 ", "y ")),
    "changes eight lines apart": (LONG.encode(), LONG.replace("line_5 ", "x ").replace("line_13 ", "y ")),
    "lines removed": (LONG.encode(), LONG.replace("line_7 = 7\nline_8 = 8\n", "")),
    "lines added at the top": (LONG.encode(), "import torch\n\n" + LONG),
    "lines added at the end": (LONG.encode(), LONG + "import torch\n"),
    "repeated lines": (b"x\n" * 500, "x\n" * 200 + "y\n" + "x\n" * 200 + "z\n" + "x\n" * 98),
    "no final newline": (b"a\nb", "a\nB"),
    "final newline appears": (b"a\nb", "a\nb\n"),
    "final newline goes away": (b"a\nb\n", "a\nb"),
    "no final newline in the context": (b"a\nb\nc", "A\nb\nc"),
    "windows newlines": (b"a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
    "windows newlines without the last": (b"a\r\nb", "A\r\nb"),
    "windows newlines with a lone carriage return at the end": (b"a\r\nb\r", "A\r\nb\r"),
    "mixed newlines": (b"a\r\nb\nc\rd\n", "a\r\nB\nc\rD\n"),
    "lone carriage returns only": (b"a\rb\rc\r", "a\rB\rc\r"),
    "lone carriage return inside a line": (b"a\nb\rc\nd\n", "a\nb\rC\nd\n"),
    "byte-order mark": (b"\xef\xbb\xbfa\nb\n", "A\nb\n"),
    "byte-order mark in the context": (b"\xef\xbb\xbfa\nb\n", "a\nB\n"),
    "utf-8": (UTF8.encode(), UTF8.replace("jit", "export")),
    "latin-1": (b"# coding: latin-1\nx = '\xe9'\ny = 1\n", "# coding: latin-1\nx = '\xe9\xe8'\ny = 1\n"),
    "shift-jis": (
        "# coding: shift_jis\nx = '表示'\ny = 1\n".encode("shift_jis"),
        "# coding: shift_jis\nx = '表'\ny = 1\n",
    ),
    "form feeds and unicode separators": (
        "a\x0cb\x0b\nc\u2028d\x85\n\x1ce\n".encode(),
        "a\x0cB\x0b\nc\u2028D\x85\n\x1ce\n",
    ),
    "lines that look like a patch": (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- y\n", "--- a/x\n+++ b/z\n@@ -1 +1 @@\n-- y\n"),
    "trailing white space": (b"a  \n\t\nb \n", "a  \n\t\nB \n"),
    "empty becomes full": (b"", "import torch\n"),
    "a megabyte on one line": (b"x = " + b"1+" * 500_000 + b"1", "y = " + "1+" * 500_000 + "1"),
}


def outcome_of(data: bytes, new_text: str, path: str = "pkg/train.py") -> FileOutcome:
    return FileOutcome(path, SourceText.from_bytes(data), new_text=new_text)


def run(*outcomes: FileOutcome) -> RunResult:
    return RunResult(
        mode=Mode.DIFF,
        unsafe_fixes=False,
        target=TorchVersion(2, 15),
        min_torch=TorchVersion(2, 13),
        min_torch_source=None,
        files_seen=1,
        files_analysed=1,
        outcomes=outcomes,
    )


def call(folder: Path, *command: str, patch: bytes = b"") -> None:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}  # no setting of whoever runs this
    environ = {**os.environ, **quiet}
    done = subprocess.run(command, cwd=folder, env=environ, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace") + repr(patch[:2000])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    call(folder, "git", "init", "--quiet", ".")
    call(folder, "git", "config", "core.autocrlf", "false")
    return folder


@pytest.mark.parametrize("case", NASTY)
def test_git_apply_gives_exactly_the_new_bytes(case: str, repository: Path) -> None:
    data, new_text = NASTY[case]
    outcome = outcome_of(data, new_text)
    file = repository / outcome.path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    call(repository, "git", "apply", "-", patch=patch_bytes(outcome))
    assert file.read_bytes() == outcome.source.replaced(new_text).to_bytes()


@pytest.mark.parametrize("case", NASTY)
def test_git_apply_in_reverse_gives_the_old_bytes_back(case: str, repository: Path) -> None:
    data, new_text = NASTY[case]
    outcome = outcome_of(data, new_text)
    if not data:
        pytest.skip("git takes away a file that a patch empties")
    file = repository / outcome.path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(outcome.source.replaced(new_text).to_bytes())
    call(repository, "git", "apply", "--reverse", "-", patch=patch_bytes(outcome))
    assert file.read_bytes() == data


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@pytest.mark.parametrize("case", NASTY)
def test_patch_gives_exactly_the_new_bytes(case: str, tmp_path: Path) -> None:
    data, new_text = NASTY[case]
    outcome = outcome_of(data, new_text)
    file = tmp_path / outcome.path
    file.parent.mkdir()
    file.write_bytes(data)
    call(tmp_path, "patch", "-p1", "--binary", patch=patch_bytes(outcome))
    assert file.read_bytes() == outcome.source.replaced(new_text).to_bytes()


@pytest.mark.parametrize("tool", [("git", "apply", "-"), ("patch", "-p1", "--binary")], ids=("git", "patch"))
def test_a_file_that_is_removed_is_gone_when_the_patch_is_applied(tool: tuple[str, ...], repository: Path) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    outcome = outcome_of(b"import torch\n", "", "test_script.py")
    (repository / "test_script.py").write_bytes(b"import torch\n")
    call(repository, *tool, patch=patch_bytes(outcome))
    assert not (repository / "test_script.py").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows forbids these names")
@pytest.mark.parametrize(
    "name",
    [
        "with space.py",
        "tab\tand\nnewline.py",
        'quo"te.py',
        "back\\slash.py",
        "caf\u00e9.py",
        "raw\udcff.py",
        "2020-01-01.py",
    ],
)
def test_strange_file_names_are_understood(name: str, repository: Path) -> None:
    file = repository / name
    file.write_bytes(b"a\n")
    call(repository, "git", "apply", "-", patch=patch_bytes(outcome_of(b"a\n", "b\n", name)))
    assert file.read_bytes() == b"b\n"


def test_a_patch_applies_in_a_project_below_the_top_of_the_repository(repository: Path) -> None:
    project = repository / "services" / "model"
    project.mkdir(parents=True)
    (project / "train.py").write_bytes(b"a\n")
    call(project, "git", "apply", "-", patch=patch_bytes(outcome_of(b"a\n", "b\n", "train.py")))
    assert (project / "train.py").read_bytes() == b"b\n"


def test_a_patch_of_many_files_in_several_encodings_applies_at_once(repository: Path) -> None:
    outcomes = []
    for number, (data, new_text) in enumerate(NASTY.values()):
        outcomes.append(outcome_of(data, new_text, f"many_{number}.py"))
        (repository / f"many_{number}.py").write_bytes(data)
    call(repository, "git", "apply", "-", patch=run_patch(run(*outcomes)))
    for outcome in outcomes:
        assert outcome.new_text is not None
        assert (repository / outcome.path).read_bytes() == outcome.source.replaced(outcome.new_text).to_bytes()


def test_hundreds_of_random_changes_apply_at_once(repository: Path) -> None:
    random = Random(2)
    outcomes = []
    for number in range(300):
        old = [random.choice(["a\n", "b\n", "c\r\n", "d\r", "\n"]) for _ in range(random.randrange(40))]
        new = [line if random.random() < 0.9 else random.choice(["x\n", "", "y\r", "a\n"]) for line in old]
        outcomes.append(outcome_of("".join(old).encode(), "".join([*new, "z"]), f"random_{number}.py"))
        (repository / f"random_{number}.py").write_bytes("".join(old).encode())
    call(repository, "git", "apply", "-", patch=run_patch(run(*outcomes)))
    for outcome in outcomes:
        assert outcome.new_text is not None
        assert (repository / outcome.path).read_bytes() == outcome.new_text.encode()


def test_a_patch_has_headers_hunks_and_three_lines_of_context() -> None:
    text = "".join(f"{number}\n" for number in range(1, 21))
    outcome = outcome_of(text.encode(), text.replace("5\n6\n", "five\n", 1).replace("20\n", "20"), "my train.py")
    assert patch_bytes(outcome) == (
        b"--- a/my train.py\t\n+++ b/my train.py\t\n"
        b"@@ -2,8 +2,7 @@\n 2\n 3\n 4\n-5\n-6\n+five\n 7\n 8\n 9\n"
        b"@@ -17,4 +16,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
    )


def test_a_file_without_changes_has_no_patch() -> None:
    assert patch_bytes(FileOutcome("a.py", SourceText("a\n"))) == b""
    assert patch_bytes(outcome_of(b"a\n", "a\n")) == b""
    assert run_patch(run()) == b""
    assert shown_patch(run(), color=True) == ""


def test_the_patch_for_the_eye_is_decoded_coloured_and_harmless() -> None:
    first = outcome_of(b"# coding: latin-1\r\nx = '\xe9'\r\nz = 1", "# coding: latin-1\r\nx = '\xe9\x1b[2J'\r\nz = 1")
    colored = shown_patch(run(first), color=True)
    plain = """\
--- a/pkg/train.py
+++ b/pkg/train.py
@@ -1,3 +1,3 @@
 # coding: latin-1
-x = '\u00e9'
+x = '\u00e9\u241b[2J'
 z = 1
\\ No newline at end of file
"""
    assert shown_patch(run(first), color=False) == plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert "\x1b[32m+x" in colored and "\x1b[31m-x" in colored
