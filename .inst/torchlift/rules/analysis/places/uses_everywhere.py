"""Every use that a project makes of a function or class of its own, and what keeps that from being all."""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.view import Binding, ModuleView


def uses_everywhere(
    view: ModuleView, binding: Binding, project: Project
) -> tuple[list[tuple[ModuleView, ast.expr]], list[str]]:
    """Places that read what `binding` binds in `view`, and clauses about places that cannot be known.

    Imports, strings and annotations are left out; an import that hands the name on to further files is a clause.
    """
    found: list[tuple[ModuleView, ast.expr]] = [(view, read) for read, _ in view.reads_of(binding)]
    name = binding.name
    if binding.scope.kind != "module":
        return found, []
    if not view.module:
        return found, [f"the uses of `{name}` in other files were not looked for"]
    elsewhere = project.uses_elsewhere(view, name)
    if elsewhere is None:
        return found, [f"the uses of `{name}` in other files cannot all be told (a star import, or too many files)"]
    unknown = []
    for other, use in elsewhere:
        if isinstance(use.node, ast.alias) or use.kind in {"import", "string", "annotation"}:
            imported = use.resolution.binding if use.resolution is not None else None
            if imported is not None and imported.scope.kind == "module" and project.may_be_imported(other, imported):
                unknown.append(f"{other.path} offers `{name}` to further files, which were not looked at")
        else:
            found.append((other, use.node))
    return found, unknown
