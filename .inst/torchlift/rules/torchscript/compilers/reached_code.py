"""Which functions and classes of a project what scripts compiles, as far as names, calls and types tell.

A function compiles what it mentions. A module compiles `forward`, the methods marked for it, and the modules that it is
built from: whatever its `__init__` and what that calls mention. A method of a value whose class is not known is every
method of that name in the classes that were reached. More may be said to be compiled than is, and not less; where that
cannot be, the root is one whose reach is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS, Digest, Mention, Unit, digest, outline
from torchlift.rules.torchscript.compilers.known_uses import known_uses

Key = tuple[str, int]
"""File and line of a function or class."""

_MODULES = ("torch.nn.", "torch.jit.", "pytorch_lightning.", "lightning.")
_PLAIN_BASES = frozenset(f"torch.nn.{name}" for name in ("Module", "Sequential", "ModuleList", "ModuleDict"))
_KNOWN_BASES = tuple(
    f"{name}."
    for name in """abc typing typing_extensions enum unittest collections torch.utils.data torch.autograd torch.optim
    torch.distributions""".split()
)
_ENTRIES = frozenset({"forward", "__getitem__", "__len__", "__iter__", "__contains__"})
_BUILDERS = frozenset({"__init__", "__new__", "__post_init__", "__call__", "__getattr__"})


def registered(project: Project, path: str, name: str) -> list[Unit] | None:
    """The definitions that a variable of the module decorates, in any file: `@MODELS.register`; None if they are not known."""
    view = project.view(path)
    bindings = view.scopes.module.bindings.get(name, ()) if view is not None else ()
    found = []
    for binding in bindings[:1] if any(isinstance(one.value, ast.Call) for one in bindings) else ():
        assert view is not None
        uses, complete = known_uses(view, binding, project)
        if not complete:
            return None
        for home, node in uses:
            top: ast.AST = node
            while isinstance(parent := home.parent(top), (ast.Attribute, ast.Call)):
                top = parent
            if isinstance(parent, DEFINITIONS) and top in parent.decorator_list:
                found.append(digest(project, home.path).units[parent.lineno])
    return found


@dataclass
class Reached:
    """What is compiled.

    Attributes:
        by: the root, as `path:line`, for every function and class that one is known to reach.
        unknown: roots of which it is not known what they are given, with the place that makes it so.
        anything: places that hand a compiler on, to whoever and for whatever.
    """

    by: dict[Key, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    anything: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Task:
    unit: Unit
    concrete: Unit | None
    compiles: bool
    root: str


class Reacher:
    """Follows what roots compile.

    Args:
        project: the project.
        runs: whether they run it, as a trace does, and so look into what a compiler leaves out.
    """

    def __init__(self, project: Project, *, runs: bool = False) -> None:
        self.project = project
        self.runs = runs
        self.reached = Reached()
        self._tasks: list[_Task] = []
        self._seen: set[tuple[Key, Key | None, bool]] = set()
        self._values: set[tuple[str, str]] = set()
        self._classes: dict[tuple[Key, bool], None] = {}
        self._asked: dict[tuple[str, bool], str] = {}
        self._methods: dict[str, dict[tuple[Key, Key], tuple[Unit, Unit]]] = {}

    def compile(self, unit: Unit, root: str) -> None:
        """A root compiles a function with its overloads, or a class."""
        lines = digest(self.project, unit.path).names.get(unit.name, ())
        for line in lines if unit.line in lines else (unit.line,):
            self._unit(digest(self.project, unit.path).units[line], root, compiles=True, called=False)
        self._run()

    def value(self, unit: Unit, root: str) -> None:
        """A root compiles what a piece of code names."""
        self._read(unit, None, root, compiles=True)
        self._run()

    def build(self, unit: Unit, root: str) -> None:
        """A root compiles what a piece of code makes."""
        self._read(unit, None, root, compiles=False)
        self._run()

    def _run(self) -> None:
        while self._tasks:
            task = self._tasks.pop()
            if task.compiles:
                self.reached.by.setdefault((task.unit.path, task.unit.line), task.root)
            if self.runs or not (task.compiles and task.unit.left_out):
                self._read(task.unit, task.concrete, task.root, compiles=task.compiles)

    def _read(self, unit: Unit, concrete: Unit | None, root: str, *, compiles: bool) -> None:
        if unit.unclear and (self.runs or not compiles):
            self._not_known(root, f"{unit.path}:{unit.unclear}")
        for mention in unit.mentions:
            self._mention(mention, unit, root, compiles=compiles)
        for name in unit.attributes:
            self._attribute(name, root, compiles=compiles)
        if concrete is None and unit.owner:
            concrete = digest(self.project, unit.path).units.get(unit.owner)
        for name in unit.own if concrete is not None else ():
            assert concrete is not None
            for method in self._found(concrete, name):
                self._task(method, concrete, root, compiles=compiles)

    def _task(self, unit: Unit, concrete: Unit | None, root: str, *, compiles: bool) -> None:
        owner = (concrete.path, concrete.line) if concrete is not None else None
        key = ((unit.path, unit.line), owner, compiles)
        if key not in self._seen:
            self._seen.add(key)
            self._tasks.append(_Task(unit, concrete, compiles, root))

    def _not_known(self, root: str, place: str) -> None:
        self.reached.unknown.setdefault(root, place)

    def _mention(self, mention: Mention, unit: Unit, root: str, *, compiles: bool) -> None:
        if not mention.path:
            self._not_known(root, f"{unit.path}:{unit.line}")
            return
        for found in self._meant(mention):
            self._unit(found, root, compiles=compiles, called=mention.called)
        value = digest(self.project, mention.path).values.get(mention.name) if mention.name else None
        if value is not None and (mention.path, mention.name) not in self._values:
            self._values.add((mention.path, mention.name))
            self._read(value, None, root, compiles=False)
            decorated = registered(self.project, mention.path, mention.name)
            if decorated is None:
                self._not_known(root, f"{value.path}:{value.line}")
            for found in decorated or ():
                self._unit(found, root, compiles=False, called=False)

    def _meant(self, mention: Mention, read: Callable[[Project, str], Digest] = digest) -> Iterator[Unit]:
        known = read(self.project, mention.path)
        for line in (mention.line,) if mention.line else known.names.get(mention.name, ()):
            if line in known.units:
                yield known.units[line]

    def _unit(self, unit: Unit, root: str, *, compiles: bool, called: bool) -> None:
        if unit.is_class:
            self._class(unit, root, compiles=compiles)
            return
        # What is called to make a value may return a lambda that calls what it names.
        if compiles or not called or self.runs:
            self._task(unit, None, root, compiles=True)
        if not compiles:
            self._task(unit, None, root, compiles=False)

    # Classes

    def _class(self, unit: Unit, root: str, *, compiles: bool) -> None:
        kind = self.is_module((unit.path, unit.line))
        key = (unit.path, unit.line), compiles or kind is not False
        if key in self._classes:
            return
        self._classes[key] = None
        line = list(self._lineage(unit))
        builder = kind is False and not compiles
        everything = self._has_foreign_base(line) or kind is False
        for owner in line:
            if not builder:
                self.reached.by.setdefault((owner.path, owner.line), root)
            for mention in owner.mentions:
                self._mention(mention, owner, root, compiles=not (builder or mention.called))
            for name, lines in owner.methods.items():
                for number in lines:
                    self._method(digest(self.project, owner.path).units[number], name, unit, root, builder, everything)

    def _method(self, method: Unit, name: str, owner: Unit, root: str, builder: bool, everything: bool) -> None:
        keys = (method.path, method.line), (owner.path, owner.line)
        self._methods.setdefault(name, {})[keys] = method, owner
        compiled = not builder and (everything or name in _ENTRIES or method.exported)
        if compiled or (name, True) in self._asked:
            self._task(method, owner, root, compiles=True)
        built = builder or everything or method.builds or name in _BUILDERS
        if built or (name, False) in self._asked:
            self._task(method, owner, root, compiles=False)

    def _attribute(self, name: str, root: str, *, compiles: bool) -> None:
        if (name, compiles) not in self._asked:
            self._asked[name, compiles] = root
            for method, owner in self._methods.get(name, {}).values():
                self._task(method, owner, root, compiles=compiles)

    def _found(self, concrete: Unit, name: str) -> Iterator[Unit]:
        """Every method of a class with this name, those of its bases included: `super()` may lead to them."""
        for owner in self._lineage(concrete):
            for line in owner.methods.get(name, ()):
                yield digest(self.project, owner.path).units[line]

    def _lineage(self, unit: Unit, read: Callable[[Project, str], Digest] = digest) -> Iterable[Unit]:
        found: dict[Key, Unit] = {}
        pending = [unit]
        while pending:
            one = pending.pop(0)
            if (one.path, one.line) not in found:
                found[one.path, one.line] = one
                bases = [mention for base in one.bases if not isinstance(base, str) for mention in base if mention.path]
                pending += [base for mention in bases for base in self._meant(mention, read) if base.is_class]
        return found.values()

    def _has_foreign_base(self, line: Iterable[Unit]) -> bool:
        """Whether code outside the project may call the methods of a class."""
        plain = _PLAIN_BASES | {"object", "torch.jit.ScriptModule"}
        bases = [base for unit in line for base in unit.bases]
        return any(
            base not in plain and not base.startswith(_KNOWN_BASES)
            if isinstance(base, str)
            else not self._is_known(base)
            for base in bases
        )

    def _is_known(self, base: list[Mention]) -> bool:
        return any(found.is_class for mention in base if mention.path for found in self._meant(mention, outline))

    def is_module(self, key: Key) -> bool | None:
        """Whether a class is a module; None if it cannot be told."""
        unit = outline(self.project, key[0]).units.get(key[1])
        answer: bool | None = False
        for one in self._lineage(unit, outline) if unit is not None else ():
            for base in one.bases:
                if isinstance(base, str):
                    if base.startswith(_MODULES):
                        return True
                    if base != "object" and not base.startswith(_KNOWN_BASES):
                        answer = None
                elif not self._is_known(base):
                    answer = None
        return answer
