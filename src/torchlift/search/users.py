"""Which files of a project use a module-level name of one of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchlift.search.glance import Glance
from torchlift.search.parties import Party, Wanted
from torchlift.search.reads import star_exports
from torchlift.view import ModuleView

if TYPE_CHECKING:
    from torchlift.project import Project

_MOST_USERS = 60


def users_of(project: Project, view: ModuleView, name: str) -> tuple[str, ...] | None:
    """The files that use a name of `view`, in order; None if they cannot all be known."""
    target = project.wrappers.mirrored(f"{view.module}.{name}")
    glance = Glance({name: Party({name: Wanted((target,))})}, project.wrappers)
    seen = {view.path}
    found: list[str] = []
    holders = [view]
    starred: set[str | None] = set()
    for holder in holders:
        candidates = project.importers(holder, name)
        shared = star_exports(holder, name)
        if len(candidates) > _MOST_USERS or (shared and holder.module in starred):
            return None
        for path in candidates:
            if path in seen:
                continue
            may_be_it = partial(_may_become, project, target, path)
            served = glance.served(project.data(path), {name.encode()}, {name: {name}}, may_be_it)
            other = project.view(path) if served else None
            if other is None:
                continue
            starred.update(map(other.absolute, other.scopes.stars))
            if shared and holder.module in starred:
                return None  # whoever imports the name from there cannot be told
            seen.add(path)
            uses = other.uses(frozenset((target,)), project.translate)
            found += [path] if uses else []
            kept = {binding.node for binding in other.scopes.module.bindings.get(name, ())}
            if any(use.kind == "import" and use.node in kept for use in uses):
                holders.append(other)
    return tuple(sorted(found))


def _may_become(project: Project, target: str, importer: str, name: str) -> bool:
    """Whether a name in `importer` may be bound to a name of the project, or an attribute of that."""
    meaning = project.translate(name, importer) if project.may_own(name.partition(".")[0], importer) else None
    return meaning is not None and f"{meaning}.".startswith(f"{target}.")
