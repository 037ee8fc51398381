"""How to write a name at some place of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import AddImport
from torchlift.lazy_dataclass import dataclass
from torchlift.torch_names import unloaded_module
from torchlift.view.names import NamedFile
from torchlift.view.scopes import Binding, Scope
from torchlift.view.uses import ProjectNames, Use


@dataclass(frozen=True, slots=True)
class Spelling:
    """How to write a qualified name at some place, and the import this needs."""

    text: str
    imports: tuple[AddImport, ...] = ()


def spell(
    file: NamedFile, name: str, at: ast.AST, like: Use | None, project_name: ProjectNames | None
) -> Spelling | None:
    """As for `ModuleView.spell`; `project_name` as for `SearchedFile.uses`."""
    unloaded = unloaded_module(name)
    spelled = _spell_like(file, name, at, like, project_name) if like is not None and unloaded is None else None
    if spelled is not None:
        return Spelling(spelled)
    best = _through_import(file, name, at, unloaded)
    if best is not None:
        return Spelling(best)
    anchor = like.resolution.binding if like is not None and like.resolution is not None else None
    if anchor is None or anchor.statement is None or anchor.imported is None:
        return None
    if name.partition(".")[0] == "torch" and unloaded is None:
        bound, statement, text = "torch", "import torch", name
    else:
        module, _, last = name.rpartition(".")
        bound, statement, text = last, f"from {module} import {last}", last
    if file.scope_at(at).lookup(bound) is not None or anchor.scope.lookup(bound) is not None:
        return None
    if file.scopes.stars and bound != "torch":
        return None  # a star import may bring the name with another meaning
    return Spelling(text, (AddImport(statement, file.span(anchor.statement)),))


def _through_import(file: NamedFile, name: str, at: ast.AST, unloaded: str | None) -> str | None:
    """The shortest way to write `name` with what an import that is visible at `at` binds."""
    scope = file.scope_at(at)
    parts = name.split(".")
    best: str | None = None
    for local, owner in _visible_imports(scope):
        for binding in owner.bindings[local]:
            imported = file.absolute(binding.imported) if binding.imported else None
            if imported is None or not (name == imported or name.startswith(imported + ".")):
                continue
            if unloaded is not None and not imported.startswith(unloaded):
                continue
            if not _available(file, local, owner, at, imported):
                continue
            text = ".".join([local, *parts[imported.count(".") + 1 :]])
            if best is None or (text.count("."), text) < (best.count("."), best):
                best = text
    return best


def _spell_like(file: NamedFile, name: str, at: ast.AST, like: Use, project_name: ProjectNames | None) -> str | None:
    """`name` through the same root that `like` is written with."""
    if not isinstance(like.node, ast.expr) or like.resolution is None or not like.resolution.certain:
        return None
    old, new = like.target.split("."), name.split(".")
    common = 0
    while common < min(len(old), len(new)) - 1 and old[common] == new[common]:
        common += 1
    base: ast.expr = like.node
    for _ in range(len(old) - common):
        if not isinstance(base, ast.Attribute):
            return None
        base = base.value
    root: ast.expr = base
    while isinstance(root, ast.Attribute):
        root = root.value
    if not common or not isinstance(root, ast.Name):
        return None
    meaning = file.resolve(base)
    if meaning is None or not meaning.certain:
        return None
    # `compat.ger` may be torch.ger although `compat` is not torch.
    translated = project_name(meaning.plain_name, file.path) if project_name is not None else None
    if file.public(translated or meaning.plain_name)[0] != ".".join(old[:common]):
        return None
    if at is not like.node and at is not like.call:
        owner = like.scope.lookup(root.id)
        if owner is None or file.scope_at(at).lookup(root.id) is not owner:
            return None
        if any(binding.imported is None for binding in owner.bindings[root.id]):
            return None
    return ".".join([ast.unparse(base), *new[common:]])


def _visible_imports(scope: Scope) -> Iterator[tuple[str, Scope]]:
    current: Scope | None = scope
    while current is not None:
        if current.kind != "class" or current is scope:
            for name, bound in current.bindings.items():
                if any(binding.imported for binding in bound) and scope.lookup(name) is current:
                    yield name, current
        current = current.parent


def _available(file: NamedFile, local: str, owner: Scope, at: ast.AST, imported: str) -> bool:
    """Whether `local` surely means `imported` at `at`: one meaning only, bound before and not under a condition."""
    bindings = owner.bindings[local]
    if any(binding.imported is None or file.absolute(binding.imported) != imported for binding in bindings):
        return False
    if file.scope_at(at) is not owner and file.scope_at(at).frame is not owner:
        # Bound by the time the function runs, unless the import itself is conditional.
        return any(_unconditional(file, binding, owner) for binding in bindings)
    line = getattr(file.statement(at), "lineno", 0)
    return any(
        _unconditional(file, binding, owner) and binding.statement is not None and binding.statement.lineno < line
        for binding in bindings
    ) or any(_same_block_before(file, binding, at) for binding in bindings)


def _unconditional(file: NamedFile, binding: Binding, owner: Scope) -> bool:
    return binding.statement is not None and file.parents.get(binding.statement) is owner.node


def _same_block_before(file: NamedFile, binding: Binding, at: ast.AST) -> bool:
    if binding.statement is None:
        return False
    block = file.block(binding.statement)
    inside = [at, *file.ancestors(at)]
    after = block[block.index(binding.statement) + 1 :]
    return any(statement is node for statement in after for node in inside)


def fresh_name(file: NamedFile, base: str) -> str:
    """A name starting with `base` that nothing in this file uses."""
    taken = {name for scope in file.scopes.scope_of.values() for name in scope.bindings} | set(file.scopes.chains)
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}_{number}", number + 1
    return candidate
