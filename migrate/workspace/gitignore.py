"""What `.gitignore` files say, read without git: for folders outside a repository and machines without git."""

# Paths are strings here: a Path object for each of thousands of files costs more than all the rest.
# ruff: noqa: PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from torchlift.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class IgnoreFiles:
    """The ignore files at and below `top`, each read when its folder is met. Paths are absolute.

    As in git, the file nearest to a path decides, and in it the last line that matches. The user's global ignore file
    is not read.
    """

    def __init__(self, top: str) -> None:
        self._top = top
        self._specs: dict[str, GitIgnoreSpec] = {}
        self._shared: GitIgnoreSpec | None = _read(os.path.join(top, ".git", "info", "exclude"))

    def read(self, folder: str) -> None:
        """Read the ignore file of `folder`, if it has one."""
        spec = _read(os.path.join(folder, ".gitignore"))
        if spec is not None:
            self._specs[folder] = spec

    def read_down_to(self, folder: str) -> bool:
        """Read the ignore files from the top down to the parent of `folder`; whether they ignore `folder` itself."""
        if folder == self._top:
            return False
        above = os.path.dirname(folder)
        ignored = self.read_down_to(above)
        self.read(above)
        return ignored or self.ignored(folder, is_folder=True)

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether `path` is ignored, provided that no folder above it is."""
        ending = "/" if is_folder else ""
        folder = os.path.dirname(path)
        while True:
            spec = self._specs.get(folder)
            if spec is not None:
                verdict = spec.check_file(_below(path, folder) + ending).include
                if verdict is not None:
                    return verdict
            above = os.path.dirname(folder)
            if folder in {self._top, above}:
                break
            folder = above
        return self._shared is not None and bool(self._shared.check_file(_below(path, self._top) + ending).include)


def _below(path: str, folder: str) -> str:
    return path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")


def _read(path: str) -> GitIgnoreSpec | None:
    try:
        # A named pipe of that name would be waited for.
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return None
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            lines = [line.removesuffix("\r") for line in file.read(_MOST_CHARACTERS).split("\n")]
    except OSError:
        return None
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        spec = GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])
    for pattern in spec.patterns:
        if pattern.regex is not None:
            pattern.regex = re.compile(without_retries(pattern.regex.pattern))
    return spec


# Far beyond any real ignore file.
_MOST_CHARACTERS = 1_000_000
_STAR = r"\[\^/\]\*"
# What pathspec makes of `**/` at the start of a line and of `/**/` within one.
_ANYWHERE = "^(?:.+/)?"
_DEEPER = "(?:/.+)?/"
_FIXED = r"(?:\\.|\[\^/\](?!\*)|\[(?!\^/\]\*)\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}|*+?^$/])+"
_STAR_BEFORE_ANOTHER = lazy_pattern(rf"{_STAR}({_FIXED})(?={_STAR})", re.DOTALL)


def without_retries(expression: str) -> str:
    """The regular expression of an ignore line such that its stars do not try all their combinations.

    Of several stars between two slashes, and of several `**`, each but the last takes the fewest characters it can, for
    good: what stands behind it is found at the earliest place, and the stars behind that can take the rest. `fnmatch` of
    the standard library does the same. An ignore file can come with a folder that nobody has looked at.
    """
    # In git no class reaches over a slash.
    expression = re.sub(r"(\\.)|\[\^(?!/)", lambda found: found[1] or "[^/", expression)
    expression = re.sub(rf"(?:{_STAR}){{2,}}", "[^/]*", expression)
    numbers = iter(range(len(expression)))

    def settled(star: re.Match[str]) -> str:
        name = f"star{next(numbers)}"
        return f"(?=(?P<{name}>[^/]*?{star[1]}))(?P={name})"

    head, *deeper = expression.split(_DEEPER)
    parts = [_STAR_BEFORE_ANOTHER.sub(settled, part) for part in (head, *deeper)]
    for index, part in enumerate(parts[:-1]):
        name = f"folders{index}"
        if index:
            parts[index] = f"(?=(?P<{name}>(?:/.+?)??/{part}(?=/)))(?P={name})"
        elif part.startswith(_ANYWHERE):
            parts[0] = f"^(?=(?P<{name}>(?:.+?/)??{part.removeprefix(_ANYWHERE)}(?=/)))(?P={name})"
    return "".join(parts[:-1]) + (_DEEPER if deeper else "") + parts[-1]


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
