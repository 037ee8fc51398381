"""git for the repositories that tests make: without the user's configuration, and with a name to commit under."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SETTINGS = ("user.name=n", "user.email=n@example.org", "protocol.file.allow=always", "commit.gpgsign=false")
_OURS_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints; raises CalledProcessError."""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    command = ["git", *settings, *arguments]
    environment = {**os.environ, **_OURS_ALONE}
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def commit(folder: Path, message: str = "all", *more: str) -> str:
    """Commit everything, in a new repository if there is none (`more` is for `git init`), and return the revision."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", *more)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")
