"""docs/evidence.md does what it says: its files are written, its commands run, its lines come out in that order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/evidence.md").read_text(encoding="utf-8")
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for found, text in FENCE.findall(PAGE) if found == language]


def commands() -> list[tuple[str, list[str]]]:
    """Each command of the page with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shell(folder: Path, command: str) -> str:
    words = shlex.split(command)
    program = [sys.executable, *(["-m", "torchlift"] if words[0] == "torchlift" else []), *words[1:]]
    git = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **git, "OMP_NUM_THREADS": "1"}
    if words[0] == "git":
        program = words
    if words[0] == "torchlift" and "--" in words:
        program = [sys.executable if word == "python" else word for word in program]
    done = subprocess.run(
        program, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    assert done.returncode in {0, 1}, done.stdout
    return done.stdout


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="proofs are made in forks")
def test_the_page_is_what_happens(tmp_path: Path) -> None:
    *files, after = [*blocks("toml"), *blocks("python")]
    for text in files:
        first, _, rest = text.partition("\n")
        (tmp_path / first.removeprefix("# ")).write_text(rest)
    for command in ("git init -q .", "git add -A", "git commit -qm start"):
        shell(tmp_path, command)
    for command, expected in commands():
        said = shell(tmp_path, command)
        place = 0
        for line in expected:
            assert line in said[place:], (command, line, said)
            place = said.index(line, place) + len(line)
    assert after in (tmp_path / "scorer.py").read_text() + "\n"
