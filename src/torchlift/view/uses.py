"""Where a file uses the names that a rule cares about."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText
from torchlift.torch_names import public_name
from torchlift.view.names import NO_WRAPPERS, NamedFile, Resolution, longest_target
from torchlift.view.scopes import Binding, Chain, Scope
from torchlift.wrappers import Wrapper, Wrappers

ProjectNames = Callable[[str, str], "str | None"]
"""Turns a qualified name, as a file (a path) would find it, into what the project binds it to; None if it is not the
project's."""

UseKind = Literal[
    "call", "decorator", "base", "annotation", "isinstance", "reference", "store", "delete", "import", "string"
]


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One place where a file uses a name that a rule cares about.

    Attributes:
        target: the rule's target that matched; `*.name` stands for the attribute `name` of any value.
        name: the full qualified name used; starts with `target`.
        kind: how it is used.
        node: the expression for `target`, the `ast.alias` of an import, or the string constant.
        resolution: how the name was resolved; None for strings and for attributes of any value.
        scope: the scope it is used in.
        call: for `call` the call expression.
        wrapper: the mirror of a torch module that it is reached through, if any.
    """

    target: str
    name: str
    kind: UseKind
    node: ast.expr | ast.alias
    resolution: Resolution | None
    scope: Scope
    call: ast.Call | None = None
    wrapper: Wrapper | None = None

    @property
    def certain(self) -> bool:
        """Whether the name can mean nothing else here."""
        return self.resolution is not None and self.resolution.certain


class _Meant(NamedTuple):
    """What a chain stands for, as the fields of the same name of `Use`."""

    target: str
    name: str
    resolution: Resolution
    wrapper: Wrapper | None


_NAMES = lazy_pattern(r"[A-Za-z_][\w.]*")


@lru_cache(maxsize=64)
def last_words(targets: frozenset[str]) -> frozenset[str]:
    """The words of which one stands in every name that is one of some targets, or below one."""
    return frozenset(target.rpartition(".")[2] for target in targets)


@lru_cache(maxsize=64)
def _attributes(targets: frozenset[str]) -> Mapping[str, str]:
    """The targets that mean an attribute of any value, by the name of that."""
    return {target[2:]: target for target in targets if target.startswith("*.")}


class SearchedFile(NamedFile):
    """A parsed file, what its names mean, and where it uses some of them."""

    def __init__(
        self, path: str, source: SourceText, tree: ast.Module, module: str = "", wrappers: Wrappers = NO_WRAPPERS
    ) -> None:
        super().__init__(path, source, tree, module, wrappers)
        self._project_name: ProjectNames | None = None
        self._uses: dict[tuple[frozenset[str], bool], list[Use]] = {}

    def uses(self, targets: frozenset[str], project_name: ProjectNames | None = None) -> list[Use]:
        """Every use of a target, in source order.

        `project_name` turns names that belong to other modules of the project into what those modules bind.
        """
        key = (targets, project_name is not None)
        if project_name is not None and project_name != self._project_name:
            # In another state of the project the names of other modules may mean something else.
            self._uses.clear()
            self._project_name = project_name
        if key not in self._uses:
            self._uses[key] = self._find_uses(targets, project_name or _unchanged)
        return self._uses[key]

    def _find_uses(self, targets: frozenset[str], project_name: ProjectNames) -> list[Use]:
        found: list[Use] = []
        words = last_words(targets)

        def translate(name: str, importer: str) -> str | None:
            # Looking into other modules is dear; without a last word of a target the name cannot become one.
            return project_name(name, importer) if not words.isdisjoint(name.split(".")) else None

        known: dict[tuple[Scope, str, tuple[str, ...]], _Meant | None] = {}
        for chain in self._candidates(words):
            owner = self._importing_scope(chain)
            key = (owner, chain.root.id, chain.attributes) if owner is not None else None
            if key is None or key not in known:
                meant = self._meant(chain, targets, translate)
                if key is not None:
                    known[key] = meant
            else:
                meant = known[key]
            if meant is not None:
                found.append(self._chain_use(chain, meant))
        found.extend(self._import_uses(targets, translate))
        found.extend(self._attribute_uses(targets))
        found.extend(self._quoted_uses(targets, words))
        for constant in self.scopes.strings:
            text = str(constant.value)
            target = longest_target(public_name(text), targets)
            if target is not None:
                found.append(Use(target, text, "string", constant, None, self.scopes.module))
        return sorted(found, key=lambda use: (self.span(use.node), use.target))

    @cached_property
    def _imports(self) -> list[Binding]:
        """Every binding of every import in the file."""
        return [
            binding
            for scope in self.scopes.scope_of.values()
            for bound in scope.bindings.values()
            for binding in bound
            if binding.imported is not None
        ]

    @cached_property
    def _attribute_names(self) -> set[str]:
        """Every name that is read from some value."""
        names: set[str] = set()
        for chains in self.scopes.chains.values():
            for chain in chains:
                if chain.attributes:
                    names.update(chain.attributes)
        for top, _ in self.scopes.rootless:
            node: ast.expr = top
            while isinstance(node, ast.Attribute):
                names.add(node.attr)
                node = node.value
        return names

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """Names assigned from a dotted name, by the root of that name."""
        aliases: dict[str, list[str]] = {}
        for scope in self.scopes.scope_of.values():
            for name, bound in scope.bindings.items():
                for binding in bound:
                    if binding.kind == "assign" and isinstance(binding.value, (ast.Name, ast.Attribute)):
                        base: ast.expr = binding.value
                        while isinstance(base, ast.Attribute):
                            base = base.value
                        if isinstance(base, ast.Name):
                            aliases.setdefault(base.id, []).append(name)
        return aliases

    def _candidates(self, words: frozenset[str]) -> Iterator[Chain]:
        """Chains that can lead to a target: a target's last word stands in the chain or in what its root is bound to."""
        roots: dict[str, bool] = {}
        for binding in self._imports:
            assert binding.imported is not None
            named = not words.isdisjoint(binding.imported.split("."))
            roots[binding.name] = roots.get(binding.name, False) or named
        pending = list(roots)
        while pending:
            for name in self._aliases.get(pending.pop(), ()):
                if not roots.get(name, False):
                    roots[name] = True  # what an alias stands for is found out when it is resolved
                    pending.append(name)
        everything = bool(self.scopes.stars)
        for name, chains in self.scopes.chains.items():
            named_root = roots.get(name)
            if named_root is None and not everything:
                continue
            if named_root or name in words:
                yield from chains
            else:
                yield from (chain for chain in chains if not words.isdisjoint(chain.attributes))

    def _importing_scope(self, chain: Chain) -> Scope | None:
        """The scope in which nothing but one import binds the root of `chain`, whatever is read where."""
        owner = chain.scope.lookup(chain.root.id)
        if owner is None or owner.kind == "class":
            return None
        bindings = owner.bindings[chain.root.id]
        imported = bindings[0].imported
        return owner if imported is not None and all(b.imported == imported for b in bindings) else None

    def _meant(self, chain: Chain, targets: frozenset[str], translate: ProjectNames) -> _Meant | None:
        """The target that a chain means, if it does."""
        resolution = self.resolve_read(chain.root, chain.scope, chain.attributes)
        if resolution is None:
            return None
        plain = resolution.plain_name
        name, wrapper = self.public(translate(plain, self.path) or plain, resolution.binding)
        target = longest_target(name, targets)
        return _Meant(target, name, resolution, wrapper) if target is not None else None

    def _chain_use(self, chain: Chain, meant: _Meant) -> Use:
        node: ast.expr = chain.top
        for _ in range(min(meant.name.count(".") - meant.target.count("."), len(chain.attributes))):
            assert isinstance(node, ast.Attribute)
            node = node.value
        kind, call = self._kind(node)
        return Use(meant.target, meant.name, kind, node, meant.resolution, chain.scope, call, meant.wrapper)

    def _import_uses(self, targets: frozenset[str], translate: ProjectNames) -> Iterator[Use]:
        for binding in self._imports:
            absolute = self.absolute(binding.imported) if binding.imported is not None else None
            if absolute is None or not isinstance(binding.node, ast.alias):
                continue
            name, wrapper = self.public(translate(absolute, self.path) or absolute)
            target = longest_target(name, targets)
            if target is not None:
                resolution = Resolution(name, True, (), binding, wrapper)
                yield Use(target, name, "import", binding.node, resolution, binding.scope, None, wrapper)

    def _quoted_uses(self, targets: frozenset[str], words: frozenset[str]) -> Iterator[Use]:
        """Names in annotations that are written in quotes."""
        roots = {
            binding.name
            for binding in self._imports
            if binding.imported is not None and not words.isdisjoint(binding.imported.split("."))
        } | {binding.name for binding in self._imports if (binding.imported or "").partition(".")[0] == "torch"}
        for constant, scope in self.scopes.quoted if roots else ():
            for name in _NAMES.findall(str(constant.value)):
                root, _, rest = name.partition(".")
                if root not in roots or (rest and words.isdisjoint(rest.split("."))):
                    continue
                owner = scope.lookup(root)
                binding = owner.bindings[root][0] if owner is not None else None
                imported = self.absolute(binding.imported) if binding is not None and binding.imported else None
                if not imported:
                    continue
                qualified, wrapper = self.public(f"{imported}.{rest}" if rest else imported)
                target = longest_target(qualified, targets)
                if target is not None and self._in_annotation(constant):
                    resolution = Resolution(qualified, True, (), binding, wrapper)
                    yield Use(target, qualified, "annotation", constant, resolution, scope, None, wrapper)

    def _attribute_uses(self, targets: frozenset[str]) -> Iterator[Use]:
        """Reads of the attribute of a `*.name` target on any value: methods of values whose class nobody knows."""
        wanted = _attributes(targets)
        names = {name: wanted[name] for name in wanted.keys() & self._attribute_names} if wanted else {}
        if not names:
            return
        read = [
            (chain.top, chain.scope) for chains in self.scopes.chains.values() for chain in chains if chain.attributes
        ]
        for top, scope in (*read, *self.scopes.rootless):
            node: ast.expr = top
            while isinstance(node, ast.Attribute):
                if node.attr in names:
                    kind, call = self._kind(node)
                    yield Use(names[node.attr], names[node.attr], kind, node, None, scope, call)
                node = node.value

    def _kind(self, node: ast.expr) -> tuple[UseKind, ast.Call | None]:
        context = getattr(node, "ctx", None)
        if isinstance(context, ast.Store):
            return "store", None
        if isinstance(context, ast.Del):
            return "delete", None
        call = self.scopes.calls.get(node)
        if call is not None:
            return "call", call
        parent = self.parents[node]
        if isinstance(parent, ast.Call):
            function = parent.func
            if isinstance(function, ast.Name) and function.id in {"isinstance", "issubclass"}:
                return "isinstance", None
            return "reference", None
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if any(node is decorator for decorator in parent.decorator_list):
                return "decorator", None
            if isinstance(parent, ast.ClassDef):
                return "base", None
        if self._in_annotation(node):
            return "annotation", None
        return "reference", None

    def _in_annotation(self, node: ast.expr) -> bool:
        for child, ancestor in self.upwards(node):
            if isinstance(ancestor, (ast.AnnAssign, ast.arg)):
                return ancestor.annotation is child
            if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return ancestor.returns is child
            if isinstance(ancestor, ast.stmt):
                return False
        return False


def _unchanged(name: str, importer: str) -> str | None:
    return None
