"""`torchlift rule --new` writes a file that says what is missing from it; `--test` tries a rule from where its author has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import told
from own_rule_files import write_rule

from torchlift.cli import torchlift

ROOT = Path(__file__).parents[2]


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchlift", *arguments]
    around = {**os.environ, "PYTHONUTF8": "1", **environment}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=around)
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose rules may be changed."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "rules", root / "rules", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("src", "migrate", "doctor", "testing"):
        (root / name).symlink_to(ROOT / name)
    return root


def test_a_new_rule_takes_the_next_free_code_of_its_family(checkout: Path) -> None:
    free = dict(line.split() for line in run(checkout, "rules", "--free").stdout.splitlines())
    done = run(checkout / "rules" / "api", "rule", "--new", "TL4", "old-thing")
    assert done.returncode == 0, done.stderr
    again = run(checkout, "rule", "--new", "TL401", "new-thing")
    assert again.returncode == 2 and "TL401 is taken; the next free one is TL4" in again.stderr
    written = checkout / "rules" / "api" / f"{free['TL4'].lower()}_old_thing.py"
    assert f'code="{free["TL4"]}"' in written.read_text() and written.name in done.stdout
    assert not list((checkout / "rules").rglob(f"{free['TL5'].lower()}*"))


def test_an_own_rule_begins_at_100_and_goes_on_from_the_files_that_are_there(tmp_path: Path) -> None:
    names = []
    for name in ("first", "second"):
        assert told(tmp_path, "rule", "--new", "X", name, "--folder", "tools").returncode == 0
        names.append(sorted(path.name for path in (tmp_path / "tools").iterdir()))
    assert names == [["x100_first.py"], ["x100_first.py", "x101_second.py"]]


REFUSED = {
    "torchlift's letters in another folder": (["TL999", "new-thing", "--folder", "tools"], "Codes with TL belong to"),
    "a name that is taken": (["X1", "moved-name", "--folder", "."], "is called 'moved-name' already"),
    "a name in capitals": (["X1", "OldThing", "--folder", "."], "in lower case with hyphens"),
    "no code": (["1X", "old-thing", "--folder", "."], "is no code"),
    "letters of another tool": (["TOR9", "old-thing", "--folder", "."], "Codes with TOR belong to torchlift"),
    "torchlift's letters outside a checkout": (["TL4", "old-thing"], "go to a checkout of it"),
    "own letters and no folder": (["X1", "old-thing"], "--folder"),
    "no name": (["X1"], "A new rule has a name"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_begun_is_refused_with_a_sentence(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = told(tmp_path, "rule", "--new", *arguments)
    assert done.returncode == 2 and said in done.stderr and not list(tmp_path.iterdir())


def test_a_rule_that_is_not_filled_in_is_refused_place_by_place(tmp_path: Path) -> None:
    told(tmp_path, "rule", "--new", "X1", "old-thing", "--folder", ".")
    done = told(tmp_path, "rule", "--test", "x100_old_thing.py")
    assert done.returncode == 1 and "0 of 5 examples hold. The rule is not complete." in done.stdout
    for part in ("`summary`", "`why`", "`fix`", "`targets[0]`", "`sources[0]`", "<the module after the fix>"):
        assert part in done.stdout


@pytest.mark.usefixtures("processes")
def test_a_rule_outside_torchlift_is_tried_under_torch(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        torchlift, ["rule", "--test", str(write_rule(tmp_path))]
    )  # torch is prepared here already
    assert done.exit_code == 0, done.stdout
    assert "[✓] a call: reported, rewritten as shown, the same when run" in done.stdout
    assert "4 of 4 examples hold." in done.stdout


def test_without_torch_all_but_the_run_is_tried_and_said_so(tmp_path: Path) -> None:
    rule = write_rule(tmp_path / "rules")
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n")
    done = run(tmp_path, "rule", "--test", str(rule), PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stdout
    assert "[✓] a call: reported, rewritten as shown\n" in done.stdout
    assert "1 was not run before and after: torch cannot be imported" in done.stdout


@pytest.mark.parametrize(
    ("stand_in", "status", "said"),
    [
        ('(("acme.py", ACME),)', 0, "[✓] a plain call: reported, rewritten as shown, the same when run"),
        ("()", 1, 'What stands for it here can be given: `files=(("acme.py", "..."),)`'),
    ],
)
@pytest.mark.usefixtures("processes")
def test_the_documented_rule_about_a_library_of_ones_own_is_proven_with_its_stand_in(
    stand_in: str, status: int, said: str, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "own_rules.md").read_text()
    rule = tmp_path / "x100_old_loader.py"
    text = page.partition("```python\n")[2].partition("```")[0]
    rule.write_text(text.replace('files=(("acme.py", ACME),)', f"files={stand_in}"))
    done = CliRunner().invoke(torchlift, ["rule", "--test", str(rule)])
    assert (done.exit_code, said in done.stdout) == (status, True), done.stdout


@pytest.mark.usefixtures("processes")
def test_the_documented_call_with_one_more_argument_is_edited_and_a_reference_is_told(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "own_rules.md").read_text()
    whole, more = (text.partition("```")[0] for text in page.split("```python\n")[1:3])
    head, tail = whole[: whole.index("    if new is None:")], whole[whole.index("\n\nACME") :]
    changed = {
        "import Finding": "import EditCall, Finding",
        "def load(path):": "def load(path, strict=True):",
        r"def f(path):\n    return load(path)\n": r"def f(path):\n    return load(path, strict=False)\n",
    }
    text = f"{head}{more}{tail}"
    for old, new in changed.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    reference = text.index("    Bad(\n", text.index("EXAMPLES = (\n    Bad(\n") + 20)
    rest = text.index("    Bad('from acme")
    told = "    Bad('import acme\\n\\nLOADERS = [acme.old_load]\\n', why='no call'),\n"
    rule = tmp_path / "x100_old_loader.py"
    rule.write_text(f"{text[:reference]}{told}{text[rest:]}")
    done = CliRunner().invoke(torchlift, ["rule", "--test", str(rule)])
    assert done.exit_code == 0 and "6 of 6 examples hold" in done.stdout, done.stdout


@pytest.mark.parametrize("with_torch", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_the_documented_test_of_own_rules_fails_with_them(with_torch: bool, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "own_rules.md").read_text()
    (tmp_path / "test_rules.py").write_text(page.rpartition("```python\n")[2].partition("```")[0])
    rule = write_rule(tmp_path / "tools" / "torchlift_rules")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_rules.py"]
    without_torch = tmp_path / "without torch"
    without_torch.mkdir()
    (without_torch / "torch.py").write_text("raise ImportError('not here')\n")
    around = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **({} if with_torch else {"PYTHONPATH": str(without_torch)}),
    }

    def tried() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=around)

    assert tried().returncode == 0
    rule.write_text(rule.read_text().replace("x = mylib.older()", "x = mylib.old()"))
    failed = tried()
    assert failed.returncode == 1 and "1 failed" in failed.stdout, failed.stdout


WRONG = {
    "not found": ("x = mylib.old()", "x = mylib.newest()", "[✗] a call\n      It is not reported."),
    "found": ("x = mylib.older()", "x = mylib.old()", "It is reported, at example.py: `mylib.old` is gone."),
    "rewritten otherwise": ("x = mylib.new()", "x = mylib.newer()", "It is rewritten otherwise than shown:"),
    "another result": ("new = old", "new = int", "It does not do the same when run"),
    "a run that fails": (
        "result = ",
        "result = 1 / 0 and ",
        "reported, rewritten as shown\n      Nothing can be compared: `run` fails with the code as it was: ZeroDivisionError",
    ),
    "a fix that cannot work": (
        "MESSAGE, fix=fix",
        "MESSAGE, help='Not rewritten.', fix=fix",
        "its own help says that it cannot",
    ),
    "words of the scaffold": (
        "MESSAGE, fix=fix",
        "MESSAGE, help='<What to write instead.>', fix=fix",
        "`check` still says what is to be written: <What to write instead.>",
    ),
    "a check that raises": ("if use.call is None:", "if use.cal is None:", "AttributeError"),
    "no look-alikes": ('    Ok("import other', '    Bad("import other', "EXAMPLES has 2 `Ok`; at least 3 look-alikes"),
}


@pytest.mark.parametrize(("old", "new", "said"), WRONG.values(), ids=WRONG)
@pytest.mark.usefixtures("processes")
def test_an_example_that_does_not_hold_is_named_with_the_reason(old: str, new: str, said: str, tmp_path: Path) -> None:
    rule = write_rule(tmp_path)
    text = rule.read_text()
    assert old in text
    rule.write_text(text.replace(old, new, 1))
    done = CliRunner().invoke(torchlift, ["rule", "--test", str(rule)])
    assert done.exit_code == 1 and said in done.stdout, done.stdout


@pytest.mark.parametrize("by", ["code", "file"])
def test_in_a_checkout_its_own_rules_are_tried_and_not_the_installed_ones(checkout: Path, by: str) -> None:
    rule = next((checkout / "rules").rglob("tl902_*.py"))
    meant = "TL902" if by == "code" else str(rule)
    assert run(checkout, "rule", "--test", meant).returncode == 0
    rule.write_text(rule.read_text().replace("print('no trigger word here')", "import torch.jit\\nprint 'here'"))
    done = run(checkout, "rule", "--test", meant)
    assert done.returncode == 1 and "[✗] a plain file" in done.stdout
