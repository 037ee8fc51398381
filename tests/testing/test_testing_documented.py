"""The page about torchlift.testing, executed, and the command line it describes."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from exhaustive import is_exhaustive

from torchlift.testing import compare_captures
from torchlift.testing.__main__ import main

PAGE = (Path(__file__).parents[2] / "docs/testing.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d{4,}")  # rounded differently from machine to machine
MODELS = Path(__file__).parents[1] / "support/capture_models.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_ADDOPTS": "-p no:cacheprovider"}


def command_line(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def output_of(words: list[str], folder: Path) -> str:
    """What a command prints. Only pytest gets a Python of its own: every one of them prepares torch for itself, in seconds."""
    if "pytest" in words or is_exhaustive():
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT, cwd=folder)
        return done.stdout + done.stderr
    _, *arguments = words
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.suppress(SystemExit),
    ):
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setattr(sys, "argv", arguments)
        if arguments[0] == "-m":
            patch.setattr(sys, "argv", arguments[1:])
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(folder / arguments[0]), run_name="__main__")
    return printed.getvalue()


@pytest.mark.filterwarnings("ignore:'torchlift.testing.__main__' found in sys.modules:RuntimeWarning")
@pytest.mark.usefixtures("processes")
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    ran = 0
    for kind, text in BLOCK.findall(PAGE):
        if kind == "python":
            name = text.partition("\n")[0].removeprefix("# ")
            (tmp_path / name).write_text(text)
        elif kind == "console":
            command, _, expected = text.removeprefix("$ ").partition("\n")
            words = [sys.executable if word == "python" else word for word in command.split()]
            printed = output_of(words, tmp_path)
            ran += 1
            for line in expected.splitlines():
                assert NUMBER.sub("N", line) in NUMBER.sub("N", printed), printed
    assert ran == 4


def test_the_page_names_every_verdict_and_every_option() -> None:
    for name in set(inspect.signature(compare_captures).parameters) - {
        "eager",
        "torchscript",
        "migrated",
        "inputs",
        "processes",
    }:
        assert f"`{name}=" in PAGE, name
    help_text = command_line("--help").stdout
    for option in re.findall(r"`(--[a-z-]+)", PAGE):
        assert option in help_text, option
    for option in re.findall(r"^  (--[a-z-]+)", help_text, re.MULTILINE):
        assert f"{option}" in PAGE or f"{option.replace('--', '--no-', 1)}" in PAGE, option


@pytest.mark.parametrize(
    ("name", "more", "status", "words"),
    [
        ("Good", (), 0, "same"),
        ("PinnedBatch", (), 1, "migrated raises"),
        ("PinnedBatch", ("--batch-sizes", ""), 0, "same"),
        ("BakedFloat", (), 1, "TorchScript was the odd one out"),
        ("BakedFloat", ("--accept-eager",), 0, "TorchScript was the odd one out"),
        ("Missing", (), 2, "could not be compared"),
    ],
)
def test_the_exit_status_says_what_was_found(name: str, more: tuple[str, ...], status: int, words: str) -> None:
    roles = ("eager", "torchscript", "migrated", "inputs")
    functions = [word for role in roles for word in (f"--{role}", f"{MODELS}:{name}.{role}")]
    done = command_line(*functions, "--no-save", *more)
    assert done.exit_code == status and done.stdout.startswith(words), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--migrated", "a:b", "--inputs", "a:b"), "give `eager`, `torchscript` or both"),
        (("--eager", "a", "--migrated", "a:b", "--inputs", "a:b"), "'a' is not of the form"),
        (("--eager", "a:b", "--migrated", "a:b", "--inputs", "a:b", "--seeds", "x"), "is not a list of whole numbers"),
        (("--eager", "a:b"), "Missing option '--migrated'"),
    ],
)
def test_a_wrong_command_is_explained(arguments: tuple[str, ...], words: str) -> None:
    done = command_line(*arguments)
    assert done.exit_code == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_neither_the_command_nor_the_harness_imports_what_is_slow() -> None:
    code = "import sys, torchlift.cli; assert not [m for m in sys.modules if m.startswith('torchlift.testing')]"
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)
    code = "import sys, torchlift.testing; assert not {'torch', 'numpy', 'libcst', 'click'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)
