"""Whether a file that holds a name means something of its own by it."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.view.walk import walk


def means_its_own(project: Project, path: str, name: str) -> bool:
    """Whether a file binds a module-level name itself, imports nothing under it, and asks no other module for it.

    False for a file that was not read, and for one that imports all names of another.
    """
    view = project.view(path) if project.is_python(path) else None
    if view is None or not view.scopes.module.bindings.get(name) or view.attributes_named(name):
        return False
    for child in walk(view.tree):
        if isinstance(child, ast.alias) and not {name, "*"}.isdisjoint({child.name, child.asname}):
            return False
        if isinstance(child, ast.Constant) and child.value == name:
            return False
    return True
