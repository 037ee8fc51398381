"""Asking git, with the same answer whatever the environment and the user's configuration say."""

# Paths are strings here: a Path object for each of thousands of files costs more than all the rest.
# ruff: noqa: PTH113, PTH120

from __future__ import annotations

import os
from collections.abc import Sequence

# A git hook runs with these set for its own repository; others would change what paths on the command line mean.
_NOT_PASSED_ON = (
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)

# Characters of paths in one command; Windows allows 32767 in all.
MOST_CHARACTERS = 24_000


class GitFailed(Exception):
    """git is not installed, or it refused; the message is what it said."""


def git(arguments: Sequence[str], cwd: str, *, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> tuple[bytes, str]:
    """Run git and return its standard output and its complaints, in English.

    Nothing in the repository is written or locked. No program that its configuration names as a file watcher is
    started, and objects that it lacks are fetched from nowhere: where from, and by which program, it says itself.

    Raises:
        GitFailed: it cannot be run, or its exit status is not one of `accept`.
    """
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    environment |= {"LC_ALL": "C", "LANGUAGE": "C", "GIT_OPTIONAL_LOCKS": "0"}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, check=False, env=environment)
    except OSError as error:
        raise GitFailed(str(error)) from None
    complaints = os.fsdecode(done.stderr)
    if done.returncode not in accept:
        raise GitFailed(complaints.strip() or f"git ended with status {done.returncode}")
    return done.stdout, complaints


def work_tree_of(folder: str) -> str | None:
    """The git work tree around an absolute path without symbolic links, or None; git itself is not asked.

    Submodules and linked work trees, which have a `.git` file, are work trees of their own.
    """
    while True:
        mark = f"{folder.rstrip(os.sep)}{os.sep}.git"
        # An empty `.git` folder is no repository; git ignores it, too.
        if os.path.isfile(mark) or os.path.isfile(f"{mark}{os.sep}HEAD"):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
