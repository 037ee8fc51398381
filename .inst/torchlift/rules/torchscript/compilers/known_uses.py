"""Every use of a function or class, also by files that get it from others, and whether those are all."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.view import Binding, ModuleView


def known_uses(view: ModuleView, binding: Binding, project: Project) -> tuple[list[tuple[ModuleView, ast.expr]], bool]:
    """Places that read what `binding` binds in `view`, and whether no others can be.

    Imports, strings and annotations are left out. Who imports a name from a file that imports it is found; a name that is
    passed on under another one may be used by anybody.
    """
    found: list[tuple[ModuleView, ast.expr]] = [(view, read) for read, _ in view.reads_of(binding)]
    if binding.scope.kind != "module":
        return found, True
    elsewhere = project.uses_elsewhere(view, binding.name) if view.module else None
    if elsewhere is None:
        return found, False
    complete = True
    for other, use in elsewhere:
        if isinstance(use.node, ast.alias):
            imported = use.resolution.binding if use.resolution is not None else None
            renamed = imported is not None and imported.name != binding.name
            complete &= not (renamed and imported is not None and project.may_be_imported(other, imported))
        elif use.kind not in {"import", "string", "annotation"}:
            found.append((other, use.node))
    return found, complete
