"""Small manners of the command: Tab completes it, and it says what it runs on."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from torchlift import __version__
from torchlift.cli import torchlift


@pytest.mark.skipif(shutil.which("bash") is None, reason="without bash nothing completes in it")
def test_bash_completes_commands_choices_and_rules_with_what_was_installed(tmp_path: Path) -> None:
    environment = {**os.environ, "BASH_COMPLETION_USER_DIR": str(tmp_path)}
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "torchlift").write_text(f'#!/bin/sh\nexec {sys.executable} -m torchlift "$@"\n')
    (programs / "torchlift").chmod(0o755)
    lines = (("mig", 1), ("migrate --output-format gitl", 3), ("rule TL511", 2))
    asked = "\n".join(
        f"COMPREPLY=() COMP_WORDS=(torchlift {words}) COMP_CWORD={at}; _torchlift_completion torchlift; echo ${{COMPREPLY[*]}}"
        for words, at in lines
    )
    script = f"torchlift completion bash --install >/dev/null && source {tmp_path}/completions/torchlift\n{asked}"
    done = subprocess.run(
        ["bash", "-c", script],
        env={**environment, "PATH": f"{programs}:{environment['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["migrate", "gitlab", "TL511"], done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="without fish nothing completes in it")
def test_fish_completes_with_what_was_installed(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/torchlift").write_text(f'#!/bin/sh\nexec {sys.executable} -m torchlift "$@"\n')
    (tmp_path / "bin/torchlift").chmod(0o755)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    lines = ("mig", "migrate --output-format gitl", "rule TL511")
    script = "torchlift completion fish --install >/dev/null; " + "; ".join(
        f"complete -C 'torchlift {line}'" for line in lines
    )
    done = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["migrate", "gitlab", "TL511"], done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="without zsh nothing completes in it")
def test_zsh_completes_at_its_prompt_with_what_was_installed_and_the_line_that_was_named(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/torchlift").write_text(f'#!/bin/sh\nexec {sys.executable} -m torchlift "$@"\n')
    (tmp_path / "bin/torchlift").chmod(0o755)
    said = CliRunner().invoke(torchlift, ["completion", "zsh", "--install"], env={"ZDOTDIR": str(tmp_path)}).output
    line = said.partition("before compinit: ")[2].strip()
    # Folders of tests may be writable for others: -u leaves the question out.
    (tmp_path / ".zshrc").write_text(f"{line} -u -D\nPROMPT='ready> '\nLISTMAX=1000\n")
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    environment = {**os.environ, "ZDOTDIR": str(tmp_path), "PATH": path, "TERM": "dumb"}
    ours, theirs = os.openpty()
    with subprocess.Popen(
        ["zsh", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    ) as zsh:
        os.close(theirs)
        try:
            assert "ready> " in _read(ours, "ready> ")
            for typed, expected in (
                ("mig", "migrate "),
                ("migrate --output-format gitl", "gitlab "),
                ("rule TL51", "TL511"),
            ):
                os.write(ours, f"torchlift {typed}\t".encode())
                assert expected in _read(ours, expected)
                os.write(ours, b"\x15")  # takes the line away
        finally:
            zsh.kill()
            os.close(ours)


def _read(terminal: int, until: str, seconds: float = 60) -> str:
    """What a terminal shows up to some text, or until nothing has come for so long."""
    shown, end = "", time.monotonic() + seconds
    while until not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_completions_that_cannot_be_written_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "fish").write_text("no folder")
    done = CliRunner().invoke(torchlift, ["completion", "fish", "--install"], env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert done.exit_code == 2
    assert "cannot be written to" in done.output
    assert (tmp_path / "fish").read_text() == "no folder"


def test_the_version_for_a_report_names_what_torchlift_runs_on_without_importing_torch() -> None:
    said = CliRunner().invoke(torchlift, ["--version", "--verbose"])
    lines = dict(line.split(maxsplit=1) for line in said.output.splitlines())
    assert lines["torchlift"].startswith(__version__)
    assert lines["python"].startswith("CPython " + sys.version.split()[0])
    assert lines["libcst"][0].isdigit()
    assert lines["torch"].endswith("(not imported)")
    assert CliRunner().invoke(torchlift, ["--verbose"]).exit_code == 2
