"""Lets imports that an editable installation leads to the user's tree end in its copy."""

from __future__ import annotations

import os
import sys


def redirect(tree: str, copy: str) -> None:
    """Change `sys.path` and the finders of editable installations; environments inside the tree stay what they are."""

    def moved(path: str) -> str:
        other = copy + path[len(tree) :]
        return other if not _is_installed(path, tree) and os.path.isdir(other) else path

    sys.path[:] = [moved(os.path.abspath(entry)) if entry and _is_below(entry, tree) else entry for entry in sys.path]
    for finder in list(sys.meta_path):
        module = sys.modules.get(getattr(finder, "__module__", ""))
        for name in ("MAPPING", "NAMESPACES"):
            known = getattr(module, name, None)
            if not isinstance(known, dict) or not getattr(module, "__name__", "").startswith("__editable__"):
                continue
            for key, value in list(known.items()):
                known[key] = (
                    [_moved_file(one, tree, copy) for one in value]
                    if isinstance(value, list)
                    else _moved_file(value, tree, copy)
                )


def _is_below(entry: str, tree: str) -> bool:
    path = os.path.abspath(entry)
    return path == tree or path.startswith(tree + os.sep)


def _moved_file(path: str, tree: str, copy: str) -> str:
    other = copy + path[len(tree) :] if _is_below(path, tree) else path
    return other if any(os.path.exists(other + end) for end in ("", ".py")) else path


def _is_installed(path: str, tree: str) -> bool:
    """Whether it is part of an environment that lies in the tree."""
    while len(path) > len(tree):
        if os.path.exists(os.path.join(path, "pyvenv.cfg")) or os.path.basename(path) == "site-packages":
            return True
        path = os.path.dirname(path)
    return False
