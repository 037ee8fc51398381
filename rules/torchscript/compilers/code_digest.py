"""What the functions and classes of one file mention: enough to follow what compiles what, without keeping the file."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import field, replace

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.torchscript.compilers.certain_steps import Certainty, EarlyEnds, certainty, early_ends, made_by
from torchlift.view import Binding, ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.scopes import Chain, Scope
from torchlift.view.walk import statements, walk

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_LEFT_OUT = frozenset(f"torch.jit.{name}" for name in ("ignore", "unused", "_drop"))
_EXPORTED = "torch.jit.export"
# Calls by which code finds classes that it does not name.
_DYNAMIC = frozenset(
    "instantiate build_from_cfg import_module __import__ eval exec locate get_class import_class load_class globals".split()
)
_REGISTERING = frozenset("register append add update setdefault insert extend".split())


@dataclass(frozen=True)
class Mention:
    """A name that a piece of code reads.

    Attributes:
        path: the file that binds it.
        name: what it is called there, on the level of the module; empty for a definition inside another one.
        line: of that definition.
        called: whether it is called there, and not handed on.
        certain: when that call is made for certain, if it is one.
    """

    path: str
    name: str
    line: int = 0
    called: bool = False
    certain: Certainty = ""


@dataclass
class Unit:
    """A function or class.

    Attributes:
        path, line, name: which one.
        is_class: whether it is a class.
        owner: line of the class that it is a method of; 0 for none.
        left_out: whether the compiler does not look into it.
        decorated: whether a decorator may have put something else in its place.
        exported: whether it is marked to be compiled.
        mentions: names in it; for a class those outside of its methods.
        own: attributes that it reads from its first parameter.
        calls: methods and parts of its first parameter that it calls, and when it does for certain.
        parts: what `__init__` keeps in an attribute whenever it runs, by the attribute's name.
        attributes: attributes that it reads from anything else.
        methods: lines of the methods of a class, by name.
        bases: names of base classes, as mentions or qualified names.
        builds: whether a method puts something on `self`.
        made_by_call: whether a variable is bound to what a call gives, which may be a registry.
        unclear: line at which it finds code by other means than its name; 0 if it does not.
    """

    path: str
    line: int
    name: str
    is_class: bool
    owner: int = 0
    left_out: bool = False
    decorated: bool = False
    exported: bool = False
    mentions: list[Mention] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    calls: dict[str, Certainty] = field(default_factory=dict)
    parts: dict[str, list[Mention]] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    methods: dict[str, list[int]] = field(default_factory=dict)
    bases: list[list[Mention] | str] = field(default_factory=list)
    builds: bool = False
    made_by_call: bool = False
    unclear: int = 0


@dataclass
class Digest:
    """One file.

    Attributes:
        units: its functions and classes, by line.
        names: lines of the definitions that a name of the module is bound to.
        values: what a variable of the module is made of, by name.
    """

    units: dict[int, Unit] = field(default_factory=dict)
    names: dict[str, list[int]] = field(default_factory=dict)
    values: dict[str, Unit] = field(default_factory=dict)


def digest(project: Project, path: str) -> Digest:
    """What stands in the file `path`; nothing if it cannot be read."""
    return project.once(_digest, path)


def _digest(project: Project, path: str) -> Digest:
    view = project.view(path)
    return _Reader(project, view).read() if view is not None else Digest()


def outline(project: Project, path: str) -> Digest:
    """The same without mentions and attributes, and much sooner."""
    return project.once(_outline, path)


def _outline(project: Project, path: str) -> Digest:
    view = project.view(path)
    return _Reader(project, view, whole=False).read() if view is not None else Digest()


def is_left_out(view: ModuleView, node: ast.AST) -> bool:
    """Whether the compiler does not look into a function."""
    return not _LEFT_OUT.isdisjoint(_decorators(view, node))


def _decorators(view: ModuleView, node: ast.AST) -> set[str]:
    decorators = getattr(node, "decorator_list", ())
    return {view.possible_name(one.func if isinstance(one, ast.Call) else one) for one in decorators}


def digest_of(project: Project, view: ModuleView, node: ast.AST) -> Unit:
    """What one piece of code mentions."""
    unit = Unit(view.path, getattr(node, "lineno", 0), "", is_class=False)
    _Reader(project, view).fill(unit, [node], None)
    return unit


class _Reader:
    def __init__(self, project: Project, view: ModuleView, *, whole: bool = True) -> None:
        self.project = project
        self.view = view
        self.whole = whole
        scopes = (scope for scope in view.scopes.scope_of.values() if scope.kind == "comprehension")
        self._comprehended = frozenset(name for scope in scopes for name in scope.bindings)
        self._local_values: dict[tuple[Scope, str], bool] = {}

    def read(self) -> Digest:
        found = Digest()
        for node in statements(self.view.tree):
            if isinstance(node, DEFINITIONS):
                found.units[node.lineno] = self.unit(node)
        for name, bindings in self.view.scopes.module.bindings.items():
            for binding in bindings:
                if isinstance(binding.node, DEFINITIONS):
                    found.names.setdefault(name, []).append(binding.node.lineno)
                elif binding.imported is None and isinstance(binding.statement, ast.stmt):
                    made_by_call = any(isinstance(one.value, ast.Call) for one in bindings)
                    value = found.values.setdefault(
                        name,
                        Unit(self.view.path, binding.statement.lineno, name, is_class=False, made_by_call=made_by_call),
                    )
                    if isinstance(binding.statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                        self.fill(value, [binding.statement], None)
        for value in found.values.values() if self.whole else ():
            self.registered(value)
        return found

    def registered(self, value: Unit) -> None:
        """What is put into a variable of the module behind its definition."""
        for chain in self.view.scopes.chains.get(value.name, ()):
            if chain.scope.lookup(value.name) is not self.view.scopes.module:
                continue
            parent = self.view.parent(chain.top)
            stores = (
                isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store) and parent.value is chain.top
            )
            if not stores and (not chain.attributes or chain.attributes[-1] not in _REGISTERING):
                continue
            if self.view.function_of(chain.root) is None:
                self.fill(value, [self.view.statement(chain.root)], None)
            elif stores or (isinstance(parent, ast.Call) and parent.func is chain.top):
                value.unclear = value.unclear or chain.root.lineno

    def unit(self, node: Definition) -> Unit:
        parent = self.view.parent(node)
        owner = parent.lineno if isinstance(parent, ast.ClassDef) else 0
        unit = Unit(self.view.path, node.lineno, node.name, isinstance(node, ast.ClassDef), owner)
        unit.left_out = is_left_out(self.view, node)
        decorators = _decorators(self.view, node)
        unit.exported = _EXPORTED in decorators
        unit.decorated = any(not name.startswith("torch.jit.") for name in decorators)
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    unit.methods.setdefault(item.name, []).append(item.lineno)
            unit.bases = [self.base(base) for base in node.bases]
            rest = [item for item in node.body if not isinstance(item, DEFINITIONS)]
            self.fill(unit, [*node.decorator_list, *rest, *(keyword.value for keyword in node.keywords)], None)
            return unit
        positional = [*node.args.posonlyargs, *node.args.args]
        self.fill(unit, [node], positional[0].arg if owner and positional else None)
        return unit

    def base(self, node: ast.expr) -> list[Mention] | str:
        inner = node.value if isinstance(node, ast.Subscript) else node
        mentions = list(self.mentions(inner))
        name = self.view.certain_name(inner)
        if mentions:
            return mentions
        return name or ("object" if isinstance(inner, ast.Name) and inner.id == "object" else "?")

    def fill(self, unit: Unit, nodes: list[ast.AST], me: str | None) -> None:
        for root in nodes if self.whole else ():
            ends = early_ends(self.view, root)
            for node in walk(root):
                if isinstance(node, ast.Attribute):
                    self._attribute(unit, node, me)
                    if isinstance(node.value, ast.Name) and node.value.id == me:
                        self._of_self(unit, node, root, ends)
                elif isinstance(node, ast.Call):
                    self._dynamic(unit, node)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    found = list(self.mentions(node))
                    if any(mention.certain for mention in found):
                        chain = self.view.chain(node)
                        one = chain if len(found) == 1 else None
                        when = certainty(self.view, one.top, root, ends) if one is not None else ""
                        found = [replace(mention, certain=when) for mention in found]
                    unit.mentions += found

    def _of_self(self, unit: Unit, node: ast.Attribute, function: ast.AST, ends: EarlyEnds) -> None:
        """A method or part of the instance is called, or a part is made."""
        parent = self.view.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            when = certainty(self.view, node, function, ends)
            if when and unit.calls.get(node.attr) != "run":
                unit.calls[node.attr] = when
        elif isinstance(node.ctx, ast.Store) and unit.name == "__init__":
            once = node.attr not in unit.parts and certainty(self.view, node, function, ends) == "run"
            made = made_by(self.view, parent.value) if once and isinstance(parent, ast.Assign) else []
            unit.parts[node.attr] = [mention for one in made for mention in self._one(one)]

    def _one(self, node: ast.expr) -> list[Mention]:
        """What an expression that is called names, where that is one thing."""
        found = list(self.mentions(node))
        return found if len(found) == 1 and found[0].certain else []

    def _attribute(self, unit: Unit, node: ast.Attribute, me: str | None) -> None:
        on_self = isinstance(node.value, ast.Name) and node.value.id == me
        if not isinstance(node.ctx, ast.Load):
            unit.builds |= on_self
        elif on_self:
            unit.own.add(node.attr)
        else:
            unit.attributes.add(node.attr)
        unit.builds |= node.attr in {"add_module", "register_module", "append", "extend", "insert", "setattr"}

    def _dynamic(self, unit: Unit, call: ast.Call) -> None:
        function = call.func
        name = last_name(function)
        if name == "setattr":
            unit.builds = True
        if name == "getattr" and isinstance(function, ast.Name) and len(call.args) > 1:
            if isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, str):
                unit.attributes.add(call.args[1].value)
                unit.own.add(call.args[1].value)
            elif self._is_own_module(call.args[0]):
                unit.unclear = call.lineno
        elif name in _DYNAMIC and not self.view.possible_name(function).startswith("torch."):
            unit.unclear = call.lineno

    def _is_own_module(self, node: ast.expr) -> bool:
        """Whether a value may be a module of the project: what is taken from it by a computed name is anybody."""
        name = self.view.possible_name(node)
        head = name.partition(".")[0]
        return bool(name) and head != "torch" and self.project.may_own(head, self.view.path)

    def mentions(self, root: ast.expr) -> Iterator[Mention]:
        """What a name may mean, with the attributes that are read from it, as far as the project binds it."""
        while isinstance(root, ast.Attribute):
            root = root.value
        chain = self.view.chain(root) if isinstance(root, ast.Name) else None
        if chain is None or not isinstance(root, ast.Name) or self._is_local_value(chain):
            return
        called = chain.top in self.view.scopes.calls
        bindings = self.view.bindings_of(root, self.view.scope_at(root))
        for binding in bindings:
            yield from self._bound(binding, called, chain.top is root)
        if any(binding.imported is not None for binding in bindings) or (
            not bindings and not hasattr(builtins, root.id)
        ):
            resolution = self.view.resolve(chain.top)
            for name in (resolution.name, *resolution.alternatives) if resolution is not None else ():
                if name is not None:
                    yield from self._elsewhere(name, called)

    def _is_local_value(self, chain: Chain) -> bool:
        """Whether a name is a variable of a function, whichever of its values a read may see: most names are."""
        key = chain.scope, chain.root.id
        known = self._local_values.get(key)
        if known is None:
            known = self._local_values[key] = self._is_local(*key)
        return known

    def _is_local(self, scope: Scope, name: str) -> bool:
        owner = scope.lookup(name)
        return (
            owner is not None
            and owner.kind not in {"module", "class"}
            and name not in self._comprehended
            and not any(one.imported is not None or isinstance(one.node, DEFINITIONS) for one in owner.bindings[name])
        )

    def _bound(self, binding: Binding, called: bool, exact: bool) -> Iterator[Mention]:
        certain: Certainty = "run" if called and exact else ""
        if binding.scope.kind == "module":
            if binding.imported is None:
                yield Mention(self.view.path, binding.name, called=called, certain=certain)
        elif isinstance(binding.node, DEFINITIONS):
            yield Mention(self.view.path, "", binding.node.lineno, called, certain)

    def _elsewhere(self, name: str, called: bool) -> Iterator[Mention]:
        if not self.project.may_own(name.partition(".")[0], self.view.path):
            return
        name = self.project.translate(name, self.view.path) or name
        found = self.project.split_name(name, self.view.path)
        if found is None:
            if not name.startswith("torch."):
                yield Mention("", name, called=called)
        elif found[1]:
            certain: Certainty = "run" if called and len(found[1]) == 1 else ""
            yield Mention(found[0], found[1][0], called=called, certain=certain)
