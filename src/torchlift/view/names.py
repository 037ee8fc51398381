"""What every name in one file means."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from functools import cached_property

from torchlift.lazy_dataclass import dataclass
from torchlift.source import SourceText
from torchlift.torch_names import TORCH_PACKAGES, public_name
from torchlift.view.flow import ReachingDefinitions
from torchlift.view.parsed_file import ParsedFile
from torchlift.view.scopes import Binding, Chain, Scope
from torchlift.wrappers import Wrapper, Wrappers

NO_WRAPPERS = Wrappers(())
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a dotted name refers to.

    Attributes:
        name: qualified public name.
        certain: whether every binding the name can have here agrees.
        alternatives: other qualified names it may refer to; `None` in it stands for something unknown.
        binding: the binding of the chain's root that led to `name`.
        wrapper: the mirror of a torch module that led to `name`, if any.
    """

    name: str
    certain: bool
    alternatives: tuple[str | None, ...]
    binding: Binding | None
    wrapper: Wrapper | None = None

    @property
    def plain_name(self) -> str:
        """The name as the file means it: that of the wrapper where there is one."""
        if self.wrapper is None:
            return self.name
        return self.wrapper.module + self.name[len(self.wrapper.mirrors) :]


def longest_target(name: str, targets: Iterable[str]) -> str | None:
    """The target that equals `name` or is its longest dotted prefix."""
    known = targets if isinstance(targets, (dict, set, frozenset)) else set(targets)
    while name:
        if name in known:
            return name
        name = name.rpartition(".")[0]
    return None


class NamedFile(ParsedFile):
    """A parsed file, and what its names mean.

    Attributes:
        module: its dotted module name, as far as the project's layout tells.
        is_package: whether it is an `__init__` file.
        is_stub: whether it tells types to checkers, and nothing in it ever runs.
        wrappers: modules that mirror modules of torch.
    """

    def __init__(
        self,
        path: str,
        source: SourceText,
        tree: ast.Module,
        module: str = "",
        wrappers: Wrappers = NO_WRAPPERS,
    ) -> None:
        super().__init__(path, source, tree)
        self.module = module
        self.is_package = path.rpartition("/")[2] in {"__init__.py", "__init__.pyi"}
        self.is_stub = path.endswith(".pyi")
        self.wrappers = wrappers
        self._reaching: dict[tuple[Scope, str], ReachingDefinitions] = {}
        self._names_in: dict[ast.AST, frozenset[str]] = {}
        self._resolving: set[Binding] = set()
        self._places: dict[tuple[Scope, str], dict[Binding, int]] = {}
        self._readers: dict[str, dict[Binding, list[tuple[ast.Name, bool]]]] = {}

    def absolute(self, imported: str) -> str | None:
        """A name from an import statement with its leading dots resolved; None if they leave the project.

        Where they leave the known packages, folders without `__init__.py` are packages, too: Python takes them for some.
        """
        level = len(imported) - len(imported.lstrip("."))
        if not level:
            return imported
        parts = self.module.split(".") if self.module else []
        keep = len(parts) - level + (1 if self.is_package else 0)
        if keep < 0 and parts:
            parts = self.path.split("/")
            keep = len(parts) - level
        if keep < 0 or not parts:
            return None
        return ".".join([*parts[:keep], imported[level:]]).strip(".")

    def reaching(self, scope: Scope, name: str) -> ReachingDefinitions:
        """Reaching definitions of `name` among the reads of `scope`."""
        key = (scope, name)
        if key not in self._reaching:
            self._reaching[key] = ReachingDefinitions(scope, name, self._names_in)
        return self._reaching[key]

    def bindings_of(self, root: ast.Name, scope: Scope) -> tuple[Binding, ...]:
        """Every binding a read can see; empty for builtins and star imports."""
        owner = scope.lookup(root.id)
        if owner is None:
            return ()
        bindings = owner.bindings[root.id]
        if owner.kind == "class" and scope is owner and owner.parent is not None:
            # Until a class body has bound a name, it reads the name of the scope around it.
            seen = self.reaching(owner, root.id).reads.get(root)
            if not seen:
                return self.bindings_of(root, owner.parent)
        if len(bindings) > 1 and (bindings[0].imported is None or len({b.imported for b in bindings}) > 1):
            seen = self.reaching(owner, root.id).reads.get(root)
            if seen is not None:
                # A name may be bound a thousand times, of which a read sees one.
                places = self._places.get((owner, root.id))
                if places is None:
                    places = self._places[owner, root.id] = {binding: place for place, binding in enumerate(bindings)}
                bindings = sorted((binding for binding in seen if binding in places), key=places.__getitem__)
        return tuple(binding for binding in bindings if binding.kind != "delete")

    def definition(self, node: ast.expr) -> Binding | None:
        """The one binding that a read of a plain name can see, if there is exactly one."""
        if not isinstance(node, ast.Name):
            return None
        chain = self._by_root.get(node)
        bindings = self.bindings_of(node, chain.scope) if chain else ()
        return bindings[0] if len(bindings) == 1 else None

    def bound_by(self, node: ast.AST) -> Binding | None:
        """What a store to a plain name, or the definition of a function or class, binds."""
        match node:
            case (
                ast.Name(id=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                owner = self.scope_at(node).lookup(name)
                bindings = owner.bindings[name] if owner is not None else ()
                return next((binding for binding in bindings if binding.node is node), None)
        return None

    def reads_of(self, binding: Binding) -> list[tuple[ast.Name, bool]]:
        """Every read that can see `binding`, in source order, and whether it can see nothing else but a placeholder."""
        readers = self._readers.get(binding.name)
        if readers is None:
            readers = self._readers[binding.name] = {}
            for chain in self.scopes.chains.get(binding.name, ()):
                bindings = self.bindings_of(chain.root, chain.scope)
                rivals = [one for one in bindings if not _is_placeholder(one)]
                for seen in dict.fromkeys(bindings):
                    readers.setdefault(seen, []).append((chain.root, all(one is seen for one in rivals[:2])))
            for found in readers.values():
                found.sort(key=lambda item: (item[0].lineno, item[0].col_offset))
        return [*readers.get(binding, ())]

    def attributes_named(self, name: str) -> list[ast.Attribute]:
        """Every place that reads, writes or deletes the attribute `name` of any value, in source order."""
        tops = [c.top for chains in self.scopes.chains.values() for c in chains if name in c.attributes]
        found = []
        for top in (*tops, *(top for top, _ in self.scopes.rootless)):
            node: ast.expr = top
            while isinstance(node, ast.Attribute):
                if node.attr == name:
                    found.append(node)
                node = node.value
        return sorted(found, key=lambda node: (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))

    def _binding_name(self, binding: Binding) -> str | None:
        if binding.imported is not None:
            return self.absolute(binding.imported)
        if binding.kind in {"def", "class"} and binding.scope.kind == "module" and self.module:
            return f"{self.module}.{binding.name}"
        if binding.kind == "assign" and isinstance(binding.value, (ast.Name, ast.Attribute)):
            if binding in self._resolving:
                return None
            self._resolving.add(binding)
            try:
                resolution = self.resolve(binding.value)
            finally:
                self._resolving.discard(binding)
            return resolution.plain_name if resolution is not None and resolution.certain else None
        return None

    def chain(self, root: ast.Name) -> Chain | None:
        """The dotted name that a read begins."""
        return self._by_root.get(root)

    @cached_property
    def _by_root(self) -> dict[ast.Name, Chain]:
        return {chain.root: chain for chains in self.scopes.chains.values() for chain in chains}

    def resolve(self, node: ast.expr) -> Resolution | None:
        """Qualified name of a `Name` or `Attribute` chain; None where nothing is known about its root."""
        attributes: list[str] = []
        base = node
        while isinstance(base, ast.Attribute):
            attributes.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            return None
        chain = self._by_root.get(base)
        if chain is None:
            return None
        return self.resolve_read(base, chain.scope, tuple(reversed(attributes)))

    def certain_name(self, node: ast.expr) -> str:
        """Qualified name that `node` can only stand for; empty if there is none."""
        resolution = self.resolve(node)
        return resolution.name if resolution is not None and resolution.certain else ""

    def possible_name(self, node: ast.expr) -> str:
        """A qualified name that `node` may stand for; empty if there is none."""
        resolution = self.resolve(node)
        return resolution.name if resolution is not None else ""

    def resolve_read(self, root: ast.Name, scope: Scope, attributes: tuple[str, ...]) -> Resolution | None:
        """Qualified name of `attributes` of what `root` means in `scope`; None where nothing is known about it."""
        bindings = self.bindings_of(root, scope)
        if not bindings:
            return self._from_star(root, scope, attributes)
        named = [(self._binding_name(binding), binding) for binding in bindings]
        # `torch = None` beside `import torch` is how optional imports are written; a use means the import.
        if any(name for name, _ in named):
            named = [(name, binding) for name, binding in named if not _is_placeholder(binding)]
        found: dict[str, tuple[Binding, Wrapper | None]] = {}
        for name, binding in named:
            if name:
                public, wrapper = self.public(".".join((name, *attributes)), binding)
                if public not in found or (wrapper is not None and found[public][1] is None):
                    found[public] = binding, wrapper
        if not found:
            return None
        unknown = any(name is None for name, _ in named)
        # A release of torch decides which one it is, or a flag: rules are about torch's.
        full = sorted(found, key=lambda name: (name.partition(".")[0] not in TORCH_PACKAGES, name))
        alternatives: tuple[str | None, ...] = (*full[1:], *((None,) if unknown else ()))
        return Resolution(full[0], not alternatives, alternatives, *found[full[0]])

    def public(self, name: str, binding: Binding | None = None) -> tuple[str, Wrapper | None]:
        """The public torch name for `name`, and the wrapper it is reached through.

        What a wrapper defines is its own to the wrapper itself.
        """
        own = binding is not None and binding.imported is None and binding.kind in {"def", "class"}
        wrapper = None if own else self.wrappers.of(name)
        return public_name(name if wrapper is None else self.wrappers.mirrored(name)), wrapper

    def _from_star(self, root: ast.Name, scope: Scope, attributes: tuple[str, ...]) -> Resolution | None:
        if scope.lookup(root.id) is not None or root.id in _BUILTINS:
            return None
        modules = [module for module in map(self.absolute, self.scopes.stars) if module]
        if not modules:
            return None
        names = [self.public(".".join((module, root.id, *attributes))) for module in modules]
        others = tuple(name for name, _ in names[1:])
        return Resolution(names[0][0], len(names) == 1, others, None, names[0][1])


def _is_placeholder(binding: Binding) -> bool:
    return binding.kind == "assign" and isinstance(binding.value, ast.Constant) and binding.value.value is None
