"""What the words on the command line stand for: repositories, each a folder that is checked out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

_PROJECT = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml")
_BARE = ("HEAD", "objects", "refs")


class NoTargets(Exception):
    """A target stands for nothing; the message is a sentence."""


def repositories(targets: Sequence[Path]) -> tuple[Path, ...]:
    """The repositories that targets stand for, each once, in order.

    A folder with a project in it is one; a folder without stands for the folders in it; a file lists folders, one a line,
    relative to itself, with `#` before remarks.

    Raises:
        NoTargets: one stands for nothing.
    """
    found: dict[Path, None] = {}
    for target in targets:
        if not target.exists():
            raise NoTargets(f"There is no file or folder {target}.")
        for path in _in_file(target) if target.is_file() else _in_folder(target):
            found[path.resolve()] = None
        if not found:
            raise NoTargets(f"{target} holds no folder that could be a repository.")
    return tuple(found)


def is_bare(folder: Path) -> bool:
    """Whether a folder is a git repository without a work tree."""
    return all((folder / name).exists() for name in _BARE) and not (folder / ".git").exists()


def _in_folder(folder: Path) -> Iterator[Path]:
    if is_bare(folder) or any((folder / name).exists() for name in _PROJECT):
        yield folder
        return
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise NoTargets(f"{folder} cannot be read: {error.strerror or error}.") from None
    yield from inside or [folder]


def _in_file(listing: Path) -> Iterator[Path]:
    try:
        lines = listing.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NoTargets(f"{listing} cannot be read as a list of folders: {error}.") from None
    for number, line in enumerate(lines, 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        path = listing.parent / name
        if not path.is_dir():
            raise NoTargets(f"{listing}:{number}: there is no folder {name}.")
        yield path
