"""Patterns of files that are left out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torchlift.migrate.workspace.paths import is_within, relative_name
from torchlift.search.globs import PathPatterns

# The names ruff leaves out, and what holds installed packages or caches besides. A plain `env` is not among them:
# reinforcement learning code keeps its environments there. Virtual environments are known by what they contain.
DEFAULT_EXCLUDES = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".jj", ".mypy_cache", ".nox",
    ".pants.d", ".pixi", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
    "*.egg-info",
)  # fmt: skip


class Excludes:
    """Exclude patterns over paths relative to `top`; answers for folders are remembered."""

    def __init__(self, top: str, exclude: Sequence[str] | None, extend: Sequence[str], base: Path | None) -> None:
        self._patterns = PathPatterns([*(DEFAULT_EXCLUDES if exclude is None else exclude), *extend])
        start = os.path.realpath(base) if base is not None else top
        self._prefix = relative_name(top, start) + "/" if start != top and is_within(top, start) else ""
        self._folders: dict[tuple[str, str], bool] = {}

    def matches(self, path: str) -> bool:
        """Whether a pattern leaves out `path` itself."""
        return self._patterns.matches(self._prefix + path)

    def below(self, named: str, path: str) -> bool:
        """Whether a pattern leaves out `path` or a folder between it and the folder `named`."""
        return path != named and (self.matches(path) or self._folder_below(named, path.rpartition("/")[0]))

    def _folder_below(self, named: str, folder: str) -> bool:
        if folder in {named, ""}:
            return False
        key = (named, folder)
        known = self._folders.get(key)
        if known is None:
            known = self._folders[key] = self.below(named, folder)
        return known
