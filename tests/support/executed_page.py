"""Pages of the documentation as a reader follows them: files are written, commands run, lines come out in that order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [text for found, text in FENCE.findall(page) if found == language]


def commands(page: str) -> list[tuple[str, list[str]]]:
    """Each command of the page with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(page, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shell(folder: Path, command: str) -> tuple[str, str]:
    """Standard output and standard error; `python` and `torchlift` are those of this interpreter."""
    words = shlex.split(command)
    git = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **git, "OMP_NUM_THREADS": "1", "PATH": path}
    program = [sys.executable, "-m", *words] if words[0] == "torchlift" else words
    done = subprocess.run(program, cwd=folder, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout, done.stderr


def follow(page: str, files: list[str], folder: Path) -> None:
    """Write `files`, each with its name in its first line, commit them, and run the commands of the page."""
    for text in files:
        first, _, rest = text.partition("\n")
        (folder / first.removeprefix("# ")).write_text(rest)
    for command in ("git init -q .", "git add -A", "git commit -qm start"):
        shell(folder, command)
    for command, expected in commands(page):
        said, place = "".join(shell(folder, command)), 0
        for line in expected:
            assert line in said[place:], (command, line, said)
            place = said.index(line, place) + len(line)
