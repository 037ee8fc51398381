"""Fresh copies of a project as git repositories, so that a tool meets what it meets at a user's."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path


def as_repository(source: Path, target: Path) -> Path:
    """Copy `source` to `target` and commit every file of it.

    Raises:
        RuntimeError: git failed.
    """
    shutil.copytree(source, target, symlinks=True)
    git(target, "init", "--quiet")
    commit(target, "as fetched")
    return target


def commit(repository: Path, message: str) -> None:
    """Commit everything, whatever the project's own .gitignore says.

    Raises:
        RuntimeError: git failed.
    """
    git(repository, "add", "--all", "--force")
    git(repository, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)


def git(repository: Path, *arguments: str) -> bytes:
    """Run git away from the user's and the machine's configuration, and return what it printed.

    Raises:
        RuntimeError: git failed.
    """
    settings = {
        "user.name": "bench",
        "user.email": "bench@example.invalid",
        "core.autocrlf": "false",
        "core.safecrlf": "false",
        "gc.auto": "0",
    }
    command = ["git", "-C", str(repository)]
    for key, value in settings.items():
        command += ["-c", f"{key}={value}"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]} failed in {repository}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def snapshot(repository: Path) -> dict[str, tuple[str, int]]:
    """SHA-256 and permissions of every file outside `.git`, by path."""
    return {
        path.relative_to(repository).as_posix(): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
        for path in sorted(repository.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(repository).parts
    }


def changed(before: dict[str, tuple[str, int]], after: dict[str, tuple[str, int]]) -> list[str]:
    """Paths that were added, removed, or differ."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
