"""What a rule sees of one file: its text, its tree, and what every name in it means."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from torchlift.finding import AddImport
from torchlift.lazy_dataclass import dataclass
from torchlift.source import SourceText, Span
from torchlift.torch_names import public_name, unloaded_module
from torchlift.view.flow import ReachingDefinitions
from torchlift.view.parents import Parents
from torchlift.view.scopes import Binding, Chain, Scope, ScopeTree
from torchlift.wrappers import Wrapper, Wrappers

ProjectNames = Callable[[str, str], "str | None"]
"""Turns a qualified name, as a file (a path) would find it, into what the project binds it to; None if it is not the
project's."""

UseKind = Literal[
    "call", "decorator", "base", "annotation", "isinstance", "reference", "store", "delete", "import", "string"
]


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


@dataclass(frozen=True, slots=True)
class Spelling:
    """How to write a qualified name at some place, and the import this needs."""

    text: str
    imports: tuple[AddImport, ...] = ()


_NO_WRAPPERS = Wrappers(())
_NAMES = re.compile(r"[A-Za-z_][\w.]*")


def longest_target(name: str, targets: Iterable[str]) -> str | None:
    """The target that equals `name` or is its longest dotted prefix."""
    known = targets if isinstance(targets, (dict, set, frozenset)) else set(targets)
    while name:
        if name in known:
            return name
        name = name.rpartition(".")[0]
    return None


@lru_cache(maxsize=64)
def _last_words(targets: frozenset[str]) -> frozenset[str]:
    return frozenset(target.rpartition(".")[2] for target in targets)


@lru_cache(maxsize=64)
def _attributes(targets: frozenset[str]) -> Mapping[str, str]:
    """The targets that mean an attribute of any value, by the name of that."""
    return {target[2:]: target for target in targets if target.startswith("*.")}


class ModuleView:
    """One parsed file.

    Attributes:
        path: relative to the project root, forward slashes.
        source: its text.
        tree: its syntax tree.
        module: its dotted module name, as far as the project's layout tells.
        is_package: whether it is an `__init__` file.
        wrappers: modules that mirror modules of torch.
    """

    def __init__(
        self,
        path: str,
        source: SourceText,
        tree: ast.Module,
        module: str = "",
        wrappers: Wrappers = _NO_WRAPPERS,
    ) -> None:
        self.path = path
        self.source = source
        self.tree = tree
        self.module = module
        self.is_package = path.rpartition("/")[2] in {"__init__.py", "__init__.pyi"}
        self.wrappers = wrappers
        self.scopes = ScopeTree(tree)
        self._reaching: dict[tuple[Scope, str], ReachingDefinitions] = {}
        self._resolving: set[Binding] = set()
        self._project_name: ProjectNames | None = None
        self._uses: dict[tuple[frozenset[str], bool], list[Use]] = {}

    # Positions and structure

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> Span:
        """Characters that `node` covers."""
        return self.source.span(node)

    def text(self, node: ast.expr | ast.stmt | ast.alias) -> str:
        """Source text of `node`."""
        return self.source.slice(self.span(node))

    @cached_property
    def parents(self) -> Parents:
        """The parent of every node but the module; iterating gives all nodes."""
        return Parents(self.tree)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around `node`."""
        return self.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, from the inside out."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node`."""
        current: ast.AST = node
        while not isinstance(current, ast.stmt):
            current = self.parents[current]
        return current

    def simple_statement_span(self, node: ast.AST) -> Span:
        """Span of the statement that holds `node`; for a compound statement, of its header only."""
        statement = self.statement(node)
        span = self.span(statement)
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            decorators = getattr(statement, "decorator_list", [])
            start = min([span.start, *(self.span(decorator).start for decorator in decorators)])
            head = self.source.text[start : self.span(body[0]).start]
            return Span(start, start + len(head.rstrip()))
        return span

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that `statement` stands in."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and any(item is statement for item in block):
                return block
        raise LookupError("statement without a block")

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope in which `node` is evaluated, for nodes inside bodies."""
        previous: ast.AST = node
        for ancestor in self.ancestors(node):
            scope = self.scopes.scope_of.get(ancestor)
            if scope is not None and not self._outside_body(ancestor, previous):
                return scope
            previous = ancestor
        return self.scopes.module

    @staticmethod
    def _outside_body(definition: ast.AST, child: ast.AST) -> bool:
        body = getattr(definition, "body", None)
        if isinstance(definition, ast.Lambda):
            return child is not definition.body
        return isinstance(body, list) and not any(item is child for item in body)

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function whose body holds `node`."""
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return ancestor
        return None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around `node`."""
        return next((ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, ast.ClassDef)), None)

    # Names

    def absolute(self, imported: str) -> str | None:
        """A name from an import statement with its leading dots resolved; None if they leave the known package."""
        level = len(imported) - len(imported.lstrip("."))
        if not level:
            return imported
        parts = self.module.split(".") if self.module else []
        keep = len(parts) - level + (1 if self.is_package else 0)
        if keep < 0 or (keep == 0 and not parts):
            return None
        return ".".join([*parts[:keep], imported[level:]]).strip(".")

    def reaching(self, scope: Scope, name: str) -> ReachingDefinitions:
        """Reaching definitions of `name` among the reads of `scope`."""
        key = (scope, name)
        if key not in self._reaching:
            self._reaching[key] = ReachingDefinitions(scope, name)
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
                bindings = [binding for binding in bindings if binding in seen]
        return tuple(binding for binding in bindings if binding.kind != "delete")

    def definition(self, node: ast.expr) -> Binding | None:
        """The one binding that a read of a plain name can see, if there is exactly one."""
        if not isinstance(node, ast.Name):
            return None
        chain = self._by_root.get(node)
        bindings = self.bindings_of(node, chain.scope) if chain else ()
        return bindings[0] if len(bindings) == 1 else None

    def bound_by(self, node: ast.expr) -> Binding | None:
        """What a store to a plain name binds."""
        owner = self.scope_at(node).lookup(node.id) if isinstance(node, ast.Name) else None
        bindings = owner.bindings[node.id] if owner is not None and isinstance(node, ast.Name) else ()
        return next((binding for binding in bindings if binding.node is node), None)

    def reads_of(self, binding: Binding) -> list[tuple[ast.Name, bool]]:
        """Every read that can see `binding`, in source order, and whether it can see nothing else but a placeholder."""
        found = []
        for chain in self.scopes.chains.get(binding.name, ()):
            bindings = self.bindings_of(chain.root, chain.scope)
            if binding in bindings:
                found.append((chain.root, all(other is binding or _is_placeholder(other) for other in bindings)))
        return sorted(found, key=lambda item: (item[0].lineno, item[0].col_offset))

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
        return self._resolve(base, chain.scope, tuple(reversed(attributes)))

    def certain_name(self, node: ast.expr) -> str:
        """Qualified name that `node` can only stand for; empty if there is none."""
        resolution = self.resolve(node)
        return resolution.name if resolution is not None and resolution.certain else ""

    def possible_name(self, node: ast.expr) -> str:
        """A qualified name that `node` may stand for; empty if there is none."""
        resolution = self.resolve(node)
        return resolution.name if resolution is not None else ""

    def _resolve(self, root: ast.Name, scope: Scope, attributes: tuple[str, ...]) -> Resolution | None:
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
                public, wrapper = self._public(".".join((name, *attributes)), binding)
                if public not in found or (wrapper is not None and found[public][1] is None):
                    found[public] = binding, wrapper
        if not found:
            return None
        unknown = any(name is None for name, _ in named)
        full = sorted(found)
        alternatives: tuple[str | None, ...] = (*full[1:], *((None,) if unknown else ()))
        return Resolution(full[0], not alternatives, alternatives, *found[full[0]])

    def _public(self, name: str, binding: Binding | None = None) -> tuple[str, Wrapper | None]:
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
        names = [self._public(".".join((module, root.id, *attributes))) for module in modules]
        others = tuple(name for name, _ in names[1:])
        return Resolution(names[0][0], len(names) == 1, others, None, names[0][1])

    def uses(self, targets: frozenset[str], project_name: ProjectNames | None = None) -> list[Use]:
        """Every use of a target, in source order.

        `project_name` turns names that belong to other modules of the project into what those modules bind.
        """
        key = (targets, project_name is not None)
        self._project_name = project_name or self._project_name
        if key not in self._uses:
            self._uses[key] = self._find_uses(targets, project_name or _unchanged)
        return self._uses[key]

    def _find_uses(self, targets: frozenset[str], project_name: ProjectNames) -> list[Use]:
        found: list[Use] = []
        words = _last_words(targets)

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
        resolution = self._resolve(chain.root, chain.scope, chain.attributes)
        if resolution is None:
            return None
        plain = resolution.plain_name
        name, wrapper = self._public(translate(plain, self.path) or plain, resolution.binding)
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
            name, wrapper = self._public(translate(absolute, self.path) or absolute)
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
                qualified, wrapper = self._public(f"{imported}.{rest}" if rest else imported)
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
        child: ast.AST = node
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, (ast.AnnAssign, ast.arg)):
                return ancestor.annotation is child
            if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return ancestor.returns is child
            if isinstance(ancestor, ast.stmt):
                return False
            child = ancestor
        return False

    # Writing

    def spell(self, name: str, at: ast.AST, like: Use | None = None) -> Spelling | None:
        """How to write the qualified `name` at `at`.

        First choice is the way the file already spells `like` (`th.jit.trace` shows how to write `th.export.export`),
        then any other import visible at `at`, then a new import. A new import goes right behind the import that `like`
        came through, so that it is available exactly where the old name was. None if nothing of this is possible.
        """
        unloaded = unloaded_module(name)
        spelled = self._spell_like(name, at, like) if like is not None and unloaded is None else None
        if spelled is not None:
            return Spelling(spelled)
        scope = self.scope_at(at)
        parts = name.split(".")
        best: str | None = None
        for local, owner in self._visible_imports(scope):
            for binding in owner.bindings[local]:
                imported = self.absolute(binding.imported) if binding.imported else None
                if imported is None or not (name == imported or name.startswith(imported + ".")):
                    continue
                if unloaded is not None and not imported.startswith(unloaded):
                    continue
                if not self._available(local, owner, at, imported):
                    continue
                text = ".".join([local, *parts[imported.count(".") + 1 :]])
                if best is None or (text.count("."), text) < (best.count("."), best):
                    best = text
        if best is not None:
            return Spelling(best)
        anchor = like.resolution.binding if like is not None and like.resolution is not None else None
        if anchor is None or anchor.statement is None or anchor.imported is None:
            return None
        if parts[0] == "torch" and unloaded is None:
            bound, statement, text = "torch", "import torch", name
        else:
            module, _, last = name.rpartition(".")
            bound, statement, text = last, f"from {module} import {last}", last
        if scope.lookup(bound) is not None or anchor.scope.lookup(bound) is not None:
            return None
        if self.scopes.stars and bound != "torch":
            return None  # a star import may bring the name with another meaning
        return Spelling(text, (AddImport(statement, self.span(anchor.statement)),))

    def _spell_like(self, name: str, at: ast.AST, like: Use) -> str | None:
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
        meaning = self.resolve(base)
        if meaning is None or not meaning.certain:
            return None
        # `compat.ger` may be torch.ger although `compat` is not torch.
        translated = self._project_name(meaning.plain_name, self.path) if self._project_name is not None else None
        if self._public(translated or meaning.plain_name)[0] != ".".join(old[:common]):
            return None
        if at is not like.node and at is not like.call:
            owner = like.scope.lookup(root.id)
            if owner is None or self.scope_at(at).lookup(root.id) is not owner:
                return None
            if any(binding.imported is None for binding in owner.bindings[root.id]):
                return None
        return ".".join([ast.unparse(base), *new[common:]])

    def _visible_imports(self, scope: Scope) -> Iterator[tuple[str, Scope]]:
        current: Scope | None = scope
        while current is not None:
            if current.kind != "class" or current is scope:
                for name, bound in current.bindings.items():
                    if any(binding.imported for binding in bound) and scope.lookup(name) is current:
                        yield name, current
            current = current.parent

    def _available(self, local: str, owner: Scope, at: ast.AST, imported: str) -> bool:
        """Whether `local` surely means `imported` at `at`: one meaning only, bound before and not under a condition."""
        bindings = owner.bindings[local]
        if any(binding.imported is None or self.absolute(binding.imported) != imported for binding in bindings):
            return False
        if self.scope_at(at) is not owner and self.scope_at(at).frame is not owner:
            # Bound by the time the function runs, unless the import itself is conditional.
            return any(self._unconditional(binding, owner) for binding in bindings)
        line = getattr(self.statement(at), "lineno", 0)
        return any(
            self._unconditional(binding, owner) and binding.statement is not None and binding.statement.lineno < line
            for binding in bindings
        ) or any(self._same_block_before(binding, at) for binding in bindings)

    def _unconditional(self, binding: Binding, owner: Scope) -> bool:
        return binding.statement is not None and self.parents.get(binding.statement) is owner.node

    def _same_block_before(self, binding: Binding, at: ast.AST) -> bool:
        if binding.statement is None:
            return False
        block = self.block(binding.statement)
        inside = [at, *self.ancestors(at)]
        for statement in block[block.index(binding.statement) + 1 :]:
            if any(statement is node for node in inside):
                return True
        return False

    def fresh_name(self, base: str, at: ast.AST) -> str:
        """A name starting with `base` that nothing in this file uses."""
        taken = {name for scope in self.scopes.scope_of.values() for name in scope.bindings} | set(self.scopes.chains)
        candidate, number = base, 2
        while candidate in taken:
            candidate, number = f"{base}_{number}", number + 1
        return candidate


def _unchanged(name: str, importer: str) -> str | None:
    return None


_BUILTINS = frozenset(dir(builtins))


def _is_placeholder(binding: Binding) -> bool:
    return binding.kind == "assign" and isinstance(binding.value, ast.Constant) and binding.value.value is None
