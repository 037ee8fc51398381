"""What is not imported cannot be slow: budgets counted in modules, not in seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"libcst", "torch", "rich", "yaml", "packaging", "pathspec", "importlib.metadata", "multiprocessing", "ast"}
_CLEAN = "x = 1\n"
_FINDING = "import torch\nt = torch.jit.script(m)\n"
_FIXABLE = "import torch\nx = torch.ger(a, b)\n"


def modules_after(arguments: list[str], folder: Path) -> set[str]:
    """Names of the modules a command has imported when it ends."""
    code = (
        "import sys\n"
        "from torchlift.cli import torchlift\n"
        f"try:\n    torchlift({arguments!r})\nexcept SystemExit:\n    pass\n"
        "print('MODULES', *sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    line = next(line for line in done.stderr.splitlines() if line.startswith("MODULES"))
    return set(line.split()[1:])


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["migrate", "--help"], ["doctor", "--help"]], ids=" ".join
)
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    loaded = modules_after(arguments, tmp_path)
    assert loaded & (HEAVY - {"ast"}) == set()
    assert not any(name.startswith(("torchlift.rules", "torchlift.wheels", "pynvml")) for name in loaded)


def test_help_imports_few_modules(tmp_path: Path) -> None:
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys, click; print(len(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(modules_after(["--help"], tmp_path)) <= int(bare.stdout) + 20


@pytest.mark.parametrize(
    ("code", "options"),
    [(_CLEAN, []), (_CLEAN, ["--check"]), (_FINDING, []), (_FINDING, ["--check"]), (_FIXABLE, ["--check"])],
    ids=["clean", "clean check", "only manual findings", "manual check", "fixable check"],
)
def test_a_run_that_edits_nothing_does_not_import_libcst(code: str, options: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(code)
    loaded = modules_after(["migrate", ".", *options], tmp_path)
    assert loaded & {"libcst", "torch", "rich"} == set()


@pytest.mark.parametrize("code", [_CLEAN, "import torch\n\nx = torch.ones(3)\n"], ids=["no torch", "no hit"])
def test_a_run_without_a_hit_imports_nothing_that_checks_and_compiles_few_patterns(code: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(code)
    loaded = modules_after(["migrate", "--check", "."], tmp_path)
    assert (
        loaded & {f"torchlift.migrate.{name}" for name in ("find.check", "examine", "outcomes", "applying", "notes")}
        == set()
    )
    assert not loaded & {"packaging", "difflib", "textwrap", "traceback", "hashlib", "subprocess"}
    assert len([name for name in loaded if name.startswith("torchlift.")]) <= 120
    # `click` and the standard library have the others.
    counting = (
        "import sys\ntry:\n    import re._compiler as c\nexcept ImportError:\n    import sre_compile as c\nmade = []\nwhole = c.compile\n"
        "def compile(p, flags=0):\n"
        "    frame = sys._getframe()\n"
        "    names = []\n"
        "    while frame is not None:\n        names.append(frame.f_globals.get('__name__', ''))\n        frame = frame.f_back\n"
        "    first = next(n for n in names if not n.startswith(('re', 'sre', '__main__')))\n"
        "    made.append(p) if first.startswith('torchlift') else None\n"
        "    return whole(p, flags)\n"
        "c.compile = compile\n"
    )
    run = (
        "from torchlift.cli import torchlift\n"
        "try:\n    torchlift(['migrate', '--check', '--no-cache', '.'])\nexcept SystemExit:\n    pass\n"
        "print('PATTERNS', len(made), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", counting + run], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stderr.split("PATTERNS ")[1]) <= 25


def test_a_run_that_edits_imports_libcst_but_not_its_slow_parts(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_FIXABLE)
    loaded = modules_after(["migrate", ".", "--diff"], tmp_path)
    assert "libcst" in loaded
    assert loaded & {"torch", "libcst.codemod", "libcst.matchers"} == set()


def test_each_changed_file_is_read_by_libcst_in_fragments_only(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_FIXABLE * 5)
    code = (
        "import libcst, sys\n"
        "calls = []\n"
        "whole = libcst.parse_module\n"
        "libcst.parse_module = lambda *a, **k: calls.append(a) or whole(*a, **k)\n"
        "from torchlift.cli import torchlift\n"
        "try:\n    torchlift(['migrate', '.', '--diff'])\nexcept SystemExit:\n    pass\n"
        "assert len(calls) <= 1, len(calls)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "torch.outer" in done.stdout


def test_importing_the_rules_imports_neither_torch_nor_libcst() -> None:
    code = "import sys, torchlift.rules.registry as r; r.all_rules(); assert not {'torch', 'libcst'} & set(sys.modules)"
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_a_check_without_hits_imports_no_rule_and_nothing_that_only_fixes_and_reports_need(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_CLEAN)
    modules_after(["migrate", "a.py", "--check"], tmp_path)  # makes the index of rules where there is none
    loaded = modules_after(["migrate", "a.py", "--check"], tmp_path)
    assert not [name for name in loaded if name.startswith("torchlift.rules.") and ".tl" in name]
    assert loaded & {"concurrent.futures", "libcst", "packaging", "rich", "tomllib"} == set()
    assert len([name for name in loaded if name.startswith("torchlift.")]) < 135
