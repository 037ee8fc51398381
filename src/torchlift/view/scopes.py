"""One walk over a syntax tree: every scope, every binding, every dotted name that is read or written.

Nothing is resolved here. The walk is iterative, so depth of nesting costs memory and never a stack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Literal
from weakref import ref

from torchlift.lazy_pattern import lazy_pattern

ScopeKind = Literal["module", "class", "function", "lambda", "comprehension"]
BindingKind = Literal[
    "import", "from", "assign", "augmented", "target", "param", "def", "class", "except", "walrus", "delete", "match"
]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Binding:
    """One place where a name is bound.

    Attributes:
        name: the bound name.
        kind: `assign` is `name = value` (annotated or not); `target` any other store: unpacking, `for`, `with`.
        node: `ast.alias` for imports, `ast.Name` for stores, `ast.arg`, the definition, or the handler.
        scope: the scope that owns the name.
        value: the assigned expression for `assign` and `walrus`.
        imported: for imports the absolute dotted name bound; relative imports keep their leading dots here.
        statement: the statement that binds, where there is one.
    """

    __slots__ = ("_scope", "imported", "kind", "name", "node", "statement", "value")

    def __init__(
        self,
        name: str,
        kind: BindingKind,
        node: ast.AST,
        scope: Scope,
        value: ast.expr | None = None,
        imported: str | None = None,
        statement: ast.stmt | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.node = node
        # Weak, so that a module's trees are freed the moment they are dropped and not when cycles are looked for.
        self._scope = ref(scope)
        self.value = value
        self.imported = imported
        self.statement = statement

    @property
    def scope(self) -> Scope:
        """The scope that owns the name; it lives as long as the module's view does."""
        scope = self._scope()
        assert scope is not None, "a binding outlived its module"
        return scope

    @scope.setter
    def scope(self, scope: Scope) -> None:
        self._scope = ref(scope)


class Scope:
    """A region with names of its own, as Python's scoping rules define them."""

    __slots__ = ("__weakref__", "bindings", "globals", "kind", "node", "nonlocals", "parent")

    def __init__(self, kind: ScopeKind, node: ast.AST, parent: Scope | None) -> None:
        self.kind = kind
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.globals: set[str] | None = None
        self.nonlocals: set[str] | None = None

    def bind(self, binding: Binding) -> None:
        """Record `binding` under its name."""
        self.bindings.setdefault(binding.name, []).append(binding)

    def lookup(self, name: str) -> Scope | None:
        """The scope whose binding a read of `name` in this scope refers to; None for builtins and star imports."""
        scope: Scope | None = self
        while scope is not None:
            if scope.kind != "class" or scope is self:
                if scope.globals and name in scope.globals:
                    module = scope.module
                    return module if name in module.bindings else None
                if name in scope.bindings:
                    return scope
            scope = scope.parent
        return None

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def frame(self) -> Scope:
        """The nearest scope that is not a comprehension: where assignment expressions bind."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope


class Chain:
    """A name with the attributes read from it: `torch.jit.trace` is `root=torch`, `attributes=(jit, trace)`.

    Attributes:
        root: the `ast.Name` at the left.
        top: the outermost node of the chain.
        attributes: attribute names from left to right.
        scope: the scope the name is read in.
    """

    __slots__ = ("attributes", "root", "scope", "top")

    def __init__(self, root: ast.Name, top: ast.expr, attributes: tuple[str, ...], scope: Scope) -> None:
        self.root = root
        self.top = top
        self.attributes = attributes
        self.scope = scope


_SKIPPED_FIELDS = frozenset(
    [
        "ctx",
        "id",
        "attr",
        "arg",
        "op",
        "ops",
        "kind",
        "type_comment",
        "name",
        "names",
        "module",
        "level",
        "conversion",
        "asname",
        "rest",
        "simple",
        "is_async",
    ]
)
# What an annotation in quotes looks like: names, dots, brackets; one capital letter keeps most other strings out.
_ANNOTATION = lazy_pattern(r"(?=.*[A-Z])[A-Za-z_][\w.]*(?:\s*[\[\],|]\s*[\w.]*)*")
_child_fields: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    fields = tuple(field for field in kind._fields if field not in _SKIPPED_FIELDS)  # type: ignore[attr-defined]
    _child_fields[kind] = fields
    return fields


def _imported_by(value: ast.expr) -> str | None:
    """The module that `pytest.importorskip("torch")` gives."""
    match value:
        case ast.Call(func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value=str(name)), *_]):
            return name
    return None


class ScopeTree:
    """All scopes, bindings and dotted names of one module.

    Attributes:
        module: the outermost scope.
        chains: dotted names by their root name.
        calls: the call of each attribute or name that is called.
        rootless: attributes of values that are no names, the outermost node of each, with the scope they are read in.
        strings: string constants that mention `torch.` or `PYTORCH_`, for patch targets, environment keys and the like.
        quoted: string constants that may be annotations in quotes, with the scope they stand in.
        stars: modules named in `from m import *`, as written.
        scope_of: scope opened by a module, class, function, lambda or comprehension node.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope("module", tree, None)
        self.chains: dict[str, list[Chain]] = {}
        self.calls: dict[ast.expr, ast.Call] = {}
        self.rootless: list[tuple[ast.Attribute, Scope]] = []
        self.strings: list[ast.Constant] = []
        self.quoted: list[tuple[ast.Constant, Scope]] = []
        self.stars: list[str] = []
        self.scope_of: dict[ast.AST, Scope] = {tree: self.module}
        self._stack: list[tuple[ast.AST, Scope]] = [(statement, self.module) for statement in reversed(tree.body)]
        self._walk()
        self._settle_globals()

    def _walk(self) -> None:
        stack = self._stack
        push, pop = stack.append, stack.pop
        handlers = _HANDLERS
        child_fields = _child_fields
        name_kind, load_kind, constant_kind, attribute_kind = ast.Name, ast.Load, ast.Constant, ast.Attribute
        call_kind, expression_kind, subscript_kind = ast.Call, ast.Expr, ast.Subscript
        chains, calls = self.chains, self.calls
        node: Any
        while stack:
            node, scope = pop()
            kind = node.__class__
            # Most nodes are of a few kinds; a call or a look at the fields for each of them would double the walk.
            if kind is name_kind and node.ctx.__class__ is load_kind:
                chain = Chain(node, node, (), scope)
                found = chains.get(node.id)
                if found is None:
                    chains[node.id] = [chain]
                else:
                    found.append(chain)
                continue
            if kind is attribute_kind:
                attributes = [node.attr]
                base = node.value
                while base.__class__ is attribute_kind:
                    attributes.append(base.attr)
                    base = base.value
                if base.__class__ is name_kind:
                    attributes.reverse()
                    chain = Chain(base, node, tuple(attributes), scope)
                    found = chains.get(base.id)
                    if found is None:
                        chains[base.id] = [chain]
                    else:
                        found.append(chain)
                else:
                    self.rootless.append((node, scope))
                    push((base, scope))
                continue
            if kind is call_kind:
                calls[node.func] = node
                push((node.func, scope))
                for argument in node.args:
                    push((argument, scope))
                for keyword in node.keywords:
                    push((keyword.value, scope))
                continue
            if kind is constant_kind and node.value.__class__ is not str:
                continue
            if kind is expression_kind:
                push((node.value, scope))
                continue
            if kind is subscript_kind:
                push((node.value, scope))
                push((node.slice, scope))
                continue
            handler = handlers.get(kind)
            if handler is not None:
                handler(self, node, scope)
                continue
            fields = child_fields.get(kind)
            for field in _fields(kind) if fields is None else fields:
                value = getattr(node, field, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            push((item, scope))
                elif isinstance(value, ast.AST):
                    push((value, scope))

    def _settle_globals(self) -> None:
        for scope in list(self.scope_of.values()):
            for names, outer in ((scope.globals, scope.module), (scope.nonlocals, None)):
                for name in names or ():
                    moved = scope.bindings.pop(name, [])
                    owner = outer or (scope.parent.lookup(name) if scope.parent else None)
                    for binding in moved if owner else ():
                        assert owner is not None
                        binding.scope = owner
                        owner.bind(binding)

    def _push(self, nodes: list[Any], scope: Scope) -> None:
        self._stack.extend((node, scope) for node in nodes if node is not None)

    def _open(self, kind: ScopeKind, node: ast.AST, parent: Scope) -> Scope:
        scope = Scope(kind, node, parent)
        self.scope_of[node] = scope
        return scope

    def _name(self, node: ast.Name, scope: Scope) -> None:
        if node.ctx.__class__ is ast.Load:
            self.chains.setdefault(node.id, []).append(Chain(node, node, (), scope))
        else:
            kind: BindingKind = "target" if node.ctx.__class__ is ast.Store else "delete"
            scope.bind(Binding(node.id, kind, node, scope))

    def _constant(self, node: ast.Constant, scope: Scope) -> None:
        value = node.value
        if value.__class__ is not str:
            return
        if ("torch." in value or "PYTORCH_" in value) and len(value) < 200:
            self.strings.append(node)
        if 2 < len(value) < 120 and _ANNOTATION.fullmatch(value):
            self.quoted.append((node, scope))

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            if target.__class__ is ast.Name:
                name: ast.Name = target
                scope.bind(Binding(name.id, "assign", name, scope, node.value, _imported_by(node.value), node))
            else:
                self._stack.append((target, scope))
        self._stack.append((node.value, scope))

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Name):
            if node.value is not None:
                scope.bind(Binding(node.target.id, "assign", node.target, scope, node.value, statement=node))
        else:
            self._stack.append((node.target, scope))
        self._push([node.annotation, node.value], scope)

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Name):
            scope.bind(Binding(node.target.id, "augmented", node.target, scope, statement=node))
        else:
            self._stack.append((node.target, scope))
        self._stack.append((node.value, scope))

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        frame = scope.frame
        frame.bind(Binding(node.target.id, "walrus", node.target, frame, node.value))
        self._stack.append((node.value, scope))

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            imported = alias.name if alias.asname else bound
            scope.bind(Binding(bound, "import", alias, scope, imported=imported, statement=node))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        separator = "" if module.endswith(".") else "."
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
                continue
            imported = f"{module}{separator}{alias.name}"
            scope.bind(Binding(alias.asname or alias.name, "from", alias, scope, None, imported, node))

    def _parameters(self, arguments: ast.arguments, outer: Scope, inner: Scope) -> None:
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
        for parameter in every:
            inner.bind(Binding(parameter.arg, "param", parameter, inner))
            if parameter.annotation is not None:
                self._stack.append((parameter.annotation, outer))
        self._push([*arguments.defaults, *arguments.kw_defaults], outer)

    def _function(self, node: FunctionNode, scope: Scope) -> None:
        scope.bind(Binding(node.name, "def", node, scope, statement=node))
        inner = self._open("function", node, scope)
        self._type_parameters(node, inner)
        self._push(node.body, inner)
        self._parameters(node.args, scope, inner)
        self._push([*node.decorator_list, node.returns], scope)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        scope.bind(Binding(node.name, "class", node, scope, statement=node))
        inner = self._open("class", node, scope)
        self._type_parameters(node, inner)
        self._push(node.body, inner)
        self._push([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)], scope)

    def _type_parameters(self, node: ast.AST, inner: Scope) -> None:
        for parameter in getattr(node, "type_params", ()):
            inner.bind(Binding(parameter.name, "param", parameter, inner))
            self._push([getattr(parameter, "bound", None), getattr(parameter, "default_value", None)], inner)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> None:
        inner = self._open("lambda", node, scope)
        self._parameters(node.args, scope, inner)
        self._stack.append((node.body, inner))

    def _comprehension(self, node: Any, scope: Scope) -> None:
        inner = self._open("comprehension", node, scope)
        first: ast.comprehension = node.generators[0]
        self._stack.append((first.iter, scope))
        for generator in node.generators:
            self._push([generator.target, *generator.ifs], inner)
            if generator is not first:
                self._stack.append((generator.iter, inner))
        self._push([node.key, node.value] if node.__class__ is ast.DictComp else [node.elt], inner)

    def _handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            scope.bind(Binding(node.name, "except", node, scope))
        self._push([node.type, *node.body], scope)

    def _global(self, node: ast.Global, scope: Scope) -> None:
        scope.globals = (scope.globals or set()) | set(node.names)

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.nonlocals = (scope.nonlocals or set()) | set(node.names)

    def _capture(self, node: Any, scope: Scope) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            scope.bind(Binding(name, "match", node, scope))
        self._push([getattr(node, "pattern", None), *getattr(node, "keys", ()), *getattr(node, "patterns", ())], scope)

    def _type_alias(self, node: Any, scope: Scope) -> None:
        scope.bind(Binding(node.name.id, "target", node.name, scope, statement=node))
        inner = self._open("function", node, scope)
        self._type_parameters(node, inner)
        self._stack.append((node.value, inner))


_HANDLERS: dict[type, Callable[[ScopeTree, Any, Scope], None]] = {
    ast.Name: ScopeTree._name,
    ast.Constant: ScopeTree._constant,
    ast.Assign: ScopeTree._assign,
    ast.AnnAssign: ScopeTree._annotated,
    ast.AugAssign: ScopeTree._augmented,
    ast.NamedExpr: ScopeTree._walrus,
    ast.Import: ScopeTree._import,
    ast.ImportFrom: ScopeTree._import_from,
    ast.FunctionDef: ScopeTree._function,
    ast.AsyncFunctionDef: ScopeTree._function,
    ast.ClassDef: ScopeTree._class,
    ast.Lambda: ScopeTree._lambda,
    ast.ListComp: ScopeTree._comprehension,
    ast.SetComp: ScopeTree._comprehension,
    ast.GeneratorExp: ScopeTree._comprehension,
    ast.DictComp: ScopeTree._comprehension,
    ast.ExceptHandler: ScopeTree._handler,
    ast.Global: ScopeTree._global,
    ast.Nonlocal: ScopeTree._nonlocal,
    ast.MatchAs: ScopeTree._capture,
    ast.MatchStar: ScopeTree._capture,
    ast.MatchMapping: ScopeTree._capture,
}
if hasattr(ast, "TypeAlias"):
    _HANDLERS[ast.TypeAlias] = ScopeTree._type_alias
