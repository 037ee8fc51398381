"""What a file reads of other modules, without saying which files these are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from torchlift.lazy_dataclass import dataclass
from torchlift.view import Binding, ModuleView

if TYPE_CHECKING:
    from torchlift.project import Project

STAR = b"import *"
_ITSELF = "."
_QUOTES = frozenset((b'"', b"'"))


@dataclass(frozen=True, slots=True)
class Reads:
    """What one file reads of other modules: kept where many questions are asked, since parsing it again is dear.

    Attributes:
        stars: modules it imports everything from.
        imported: what its imported names stand for.
        attributes: the first attributes read of each imported name; `.` where it is passed on as it is.
    """

    stars: tuple[str, ...]
    imported: Mapping[str, frozenset[str]]
    attributes: Mapping[str, frozenset[str]]

    def member(self, module: str, name: str) -> bool:
        """Whether it may take `name` from a module whose last name is `module`, wherever that module stands."""
        if any(star.rpartition(".")[2] == module for star in self.stars):
            return True
        for root, targets in self.imported.items():
            if any(f".{target}".endswith(f".{module}.{name}") for target in targets):
                return True
            read = self.attributes[root]
            if (name in read or _ITSELF in read) and any(f".{target}".endswith(f".{module}") for target in targets):
                return True
        return False


def starred(data: bytes) -> Iterator[bytes]:
    """Last names of modules of which all names are imported; empty where only dots stand for the module."""
    at = data.find(STAR)
    while at >= 0:
        last = re.search(rb"\w*\Z", data[max(0, at - 200) : at].rstrip(b" \t\f\r\n\\"))
        assert last is not None
        yield last[0]
        at = data.find(STAR, at + 1)


def reads_of(view: ModuleView) -> Reads:
    """What a file reads."""
    imported: dict[str, set[str]] = {}
    for scope in view.scopes.scope_of.values():
        for local, bound in scope.bindings.items():
            targets = {binding.imported for binding in bound if binding.imported}
            if targets:
                imported.setdefault(local, set()).update(targets)
    attributes: dict[str, frozenset[str]] = {}
    for root in imported:
        chains = view.scopes.chains.get(root, ())
        first = {chain.attributes[0] for chain in chains if chain.attributes}
        bare = any(not chain.attributes and not _is_called(view, chain.root) for chain in chains)
        attributes[root] = frozenset(first | {_ITSELF} if bare else first)
    return Reads(tuple(view.scopes.stars), {local: frozenset(names) for local, names in imported.items()}, attributes)


def _is_called(view: ModuleView, node: ast.Name) -> bool:
    """Whether a name is called, which a module cannot be."""
    parent = view.parent(node)
    return isinstance(parent, ast.Call) and parent.func is node


def holds_attribute(word: bytes, data: bytes) -> bool:
    """Whether `.word`, or the string `word`, stands in the bytes of a file."""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        behind = data[end : end + 1]
        if data[at - 1 : at] in _QUOTES and behind in _QUOTES:
            return True
        if not (behind.isalnum() or behind == b"_") and data[max(0, at - 200) : at].rstrip().endswith(b"."):
            return True
        at = data.find(word, end)
    return False


def star_exports(view: ModuleView, name: str) -> bool:
    """Whether `from <the module of view> import *` may bind `name`: by `__all__` where that is written out, else if it is public."""
    listed = view.scopes.module.bindings.get("__all__", ())
    if not listed:
        return not name.startswith("_")
    match [binding.value for binding in listed]:
        case [ast.List(elts=elements) | ast.Tuple(elts=elements)] if not view.reads_of(listed[0]):
            names = [element.value for element in elements if isinstance(element, ast.Constant)]
            return len(names) < len(elements) or name in names
    return True


def has_one_source(project: Project, view: ModuleView, binding: Binding) -> bool:
    """Whether every other file that says an imported name imports it from its source, so that a star hands it to nobody."""
    name, source = binding.name, view.absolute(binding.imported or "")
    if project.files_with_attribute(name, (view.path,)):
        return False
    for path in project.files_holding(name, whole=True):
        other = project.view(path) if path != view.path else view
        bound = other.scopes.module.bindings.get(name, ()) if other is not None else ()
        if other is None or not bound or any(other.absolute(one.imported or "") != source for one in bound):
            return False
    return True
