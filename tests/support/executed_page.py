"""Pages of the documentation as a reader follows them: files are written, commands run, lines come out in that order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_STEP = "- - done with "
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


def in_order(page: str) -> Iterator[tuple[str, list[str]]]:
    """What a reader does from top to bottom: commands with the lines below them; a file that is shown is one that writes it."""
    for language, text in FENCE.findall(page):
        if language == "console":
            yield from commands(f"```console\n{text}```")
        elif named := re.match(r"# ([\w.-]+(?:/[\w.-]+)*)\n", text):
            yield f"cat > {named[1]} <<'END OF FILE'\n{text[named.end() :]}END OF FILE", []


def walk(page: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Do all that in one shell that starts in `folder`; the lines that the page shows come out in their order."""
    steps = list(in_order(page))
    script = "".join(f"{command}\necho '{_STEP}'$?\n" for command, _ in steps)
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc"], input=script, cwd=folder, env={**environment, "PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    answers = re.split(rf"{_STEP}(\d+)\n", done.stdout)
    assert len(answers) == 2 * len(steps) + 1, done.stdout
    wrong = []
    for (command, expected), said, status in zip(steps, answers[::2], answers[1::2], strict=False):
        place = 0
        for line in expected:
            if line not in said[place:]:
                wrong.append(f"$ {command}\n  does not print: {line}\n  but:\n{said}")
                break
            place = said.index(line, place) + len(line)
        if status not in {"0", "1"}:
            wrong.append(f"$ {command}\n  ended with {status}:\n{said}")
    assert not wrong, "\n".join(wrong)
