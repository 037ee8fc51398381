"""Which functions and classes of a project what scripts compiles, as far as names, calls and types tell.

A function compiles what it mentions. A module compiles `forward`, the methods marked for it, and the modules that it is
built from: whatever its `__init__` and what that calls mention. A method of a value whose class is not known is every
method of that name in the classes that were reached. More may be said to be compiled than is, and not less; where that
cannot be, the root is one whose reach is not known. What is reached by certain steps only is told apart from the rest,
and comes first: calls outside of branches that leave them out, and modules that others keep for certain.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import NamedTuple

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Project
from torchlift.rules.torchscript.compilers.certain_steps import Certainty
from torchlift.rules.torchscript.compilers.code_digest import DEFINITIONS, Digest, Mention, Unit, digest, outline
from torchlift.rules.torchscript.compilers.decorating_names import may_decorate
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
# Nearly all of a large library reaches nearly all of it: behind so many files it is told that it was not followed, and where.
_MOST_FILES = 250
_ENTRIES = frozenset({"forward", "__getitem__", "__len__", "__iter__", "__contains__"})
_BUILDERS = frozenset({"__init__", "__new__", "__post_init__", "__call__", "__getattr__"})


def registered(project: Project, value: Unit, *, all_known: bool = True) -> list[Unit] | None:
    """The definitions that a variable of the module decorates, in any file: `@MODELS.register`; None if they are not known.

    Without `all_known` nobody asks whether they are, and a variable that decorates nothing is not searched for.
    """
    if not value.made_by_call or not (all_known or may_decorate(project, value.name)):
        return []
    return project.once(_registered, value.path, value.name)


def _registered(project: Project, path: str, name: str) -> list[Unit] | None:
    view = project.view(path)
    bindings = view.scopes.module.bindings.get(name, ()) if view is not None else ()
    found = []
    for binding in bindings[:1]:
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
        by: the root, as `path:line`, for every function and class that one reaches, or may.
        beyond: where the last certain step to such a function or class ended; nothing for those that are known to be reached.
        unknown: roots of which it is not known what they are given, with the place that makes it so.
        anything: places that hand a compiler on, to whoever and for whatever.
        offered: those among them that only code outside the project can get one from.
        stopped: roots that were not followed to their end, with the place behind which they were not.
    """

    by: dict[Key, str] = field(default_factory=dict)
    beyond: dict[Key, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    anything: set[str] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)
    stopped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reach:
    """What compiles or runs some code, or may.

    Attributes:
        root: the place that does, as `path:line`.
        beyond: where the last certain step from there to the code ended; empty if all steps are certain.
        lost: a place behind which it is not known what the root is given; empty if the root is known to lead here.
    """

    root: str
    beyond: str = ""
    lost: str = ""

    @property
    def certain(self) -> bool:
        """Whether it is known, and not only possible."""
        return not self.beyond and not self.lost


@dataclass(frozen=True)
class _Task:
    unit: Unit
    concrete: Unit | None
    compiles: bool
    root: str
    beyond: str


class _Guess(NamedTuple):
    """A step that is not certain: whose, from where, and what it does."""

    root: str
    place: str
    take: Callable[[], None]


class Reacher:
    """Follows what roots compile.

    Args:
        project: the project.
        runs: whether they run it, as a trace does, and so look into what a compiler leaves out.

    Attributes:
        roots: those that were named so far, as `path:line`.
    """

    def __init__(self, project: Project, *, runs: bool = False) -> None:
        self.project = project
        self.runs = runs
        self.roots: set[str] = set()
        self._found = Reached()
        self._tasks: deque[_Task] = deque()
        self._guesses: deque[_Guess] = deque()
        self._guessing = False
        self._files: set[str] = set()
        self._seen: set[tuple[Key, Key | None, bool]] = set()
        self._read_before: set[tuple[str, int, bool, bool]] = set()
        self._lineages: dict[tuple[str, int, bool], tuple[Unit, ...]] = {}
        self._modules: dict[Key, bool | None] = {}
        self._values: set[tuple[str, str]] = set()
        self._classes: dict[tuple[Key, bool], None] = {}
        self._asked: dict[tuple[str, bool], None] = {}
        self._methods: dict[str, dict[tuple[Key, Key], tuple[Unit, Unit]]] = {}

    def compile(self, unit: Unit, root: str, beyond: str = "") -> None:
        """A root compiles a function with its overloads, or a class; `beyond` as in `Reached` where that is no certain step."""
        self.roots.add(root)
        lines = digest(self.project, unit.path).names.get(unit.name, ())
        for line in lines if unit.line in lines else (unit.line,):
            self._unit(digest(self.project, unit.path).units[line], root, beyond, compiles=True, called=False)

    def value(self, unit: Unit, root: str) -> None:
        """A root compiles what a piece of code names."""
        self.roots.add(root)
        self._guess(root, unit, lambda: self._read(unit, None, root, root, compiles=True))

    def build(self, unit: Unit, root: str) -> None:
        """A root compiles what a piece of code makes."""
        self.roots.add(root)
        self._guess(root, unit, lambda: self._read(unit, None, root, root, compiles=False))

    def lost(self, root: str, place: str) -> None:
        """What a root compiles is not known behind a place."""
        self.roots.add(root)
        self._found.unknown.setdefault(root, place)

    def handed_on(self, place: str, *, outside: bool = False) -> None:
        """A place gives the compiler away; `outside` where only code outside the project can get it there."""
        self._found.anything.add(place)
        if outside:
            self._found.offered.add(place)

    @property
    def surely_reached(self) -> Reached:
        """What the roots named so far compile for certain, and what is lost on the way there."""
        self._run()
        found = self._found
        return Reached({**found.by}, {**found.beyond}, {**found.unknown}, {*found.anything}, {*found.offered})

    @property
    def reached(self) -> Reached:
        """All that the roots named so far compile; what is certain is followed before what is not."""
        self._run()
        self._guessing = True
        while self._guesses:
            guess = self._guesses.popleft()
            if len(self._files) > _MOST_FILES:
                self._stop(guess.root, guess.place)
            else:
                guess.take()
                self._run()
        return self._found

    def _guess(self, root: str, unit: Unit, take: Callable[[], None]) -> None:
        if self._guessing:
            take()
        else:
            self._guesses.append(_Guess(root, f"{unit.path}:{unit.line}", take))

    def _run(self) -> None:
        while self._tasks:
            task = self._tasks.popleft()
            if self._guessing and len(self._files) > _MOST_FILES:
                self._stop(task.root, f"{task.unit.path}:{task.unit.line}")
                continue
            if task.compiles:
                self._note(task.unit, task.root, task.beyond)
            if self.runs or not (task.compiles and task.unit.left_out):
                self._read(task.unit, task.concrete, task.root, task.beyond, compiles=task.compiles)

    def _stop(self, root: str, place: str) -> None:
        self._found.stopped.setdefault(root, place)
        self.lost(root, place)

    def _note(self, unit: Unit, root: str, beyond: str) -> None:
        key = unit.path, unit.line
        if key not in self._found.by:
            self._found.by[key] = root
            if beyond:
                self._found.beyond[key] = beyond

    def _read(self, unit: Unit, concrete: Unit | None, root: str, beyond: str, *, compiles: bool) -> None:
        if unit.unclear and (self.runs or not compiles):
            self.lost(root, f"{unit.path}:{unit.unclear}")
        here = beyond or f"{unit.path}:{unit.line}"
        # What a method mentions is the same in every subclass.
        again = unit.path, unit.line, compiles, self._guessing
        if unit.owner and again in self._read_before:
            if any(not mention.path for mention in unit.mentions):
                self.lost(root, f"{unit.path}:{unit.line}")
        else:
            self._read_before.add(again)
            self._files.add(unit.path)
            for mention in unit.mentions:
                surely = self._surely(mention.certain, compiles)
                self._mention(mention, unit, root, beyond if surely else here, compiles=compiles)
            for name in sorted(unit.attributes):
                self._attribute(name, root, here, compiles=compiles)
        if concrete is None and unit.owner:
            concrete = digest(self.project, unit.path).units.get(unit.owner)
        for name in sorted(unit.own) if concrete is not None else ():
            assert concrete is not None
            surely = self._surely(unit.calls.get(name, ""), compiles)
            for nearest, method in enumerate(self._named(concrete, name)):
                self._task(method, concrete, root, beyond if surely and not nearest else here, compiles=compiles)
            if surely and self.runs and not beyond:
                self._parts(concrete, root, name)

    def _surely(self, certain: Certainty, compiles: bool) -> bool:
        return compiles and (certain == "run" or (certain == "compiled" and not self.runs))

    def _parts(self, owner: Unit, root: str, name: str = "") -> None:
        """The modules that one keeps for certain, or the one of a name."""
        init = next(self._named(owner, "__init__"), None)
        for kept, parts in init.parts.items() if init is not None else ():
            for part in parts if kept == name or not name else ():
                for found in self._meant(part):
                    if found.is_class and self.is_module((found.path, found.line)) is True:
                        self._class(found, root, "", compiles=True)

    def _task(self, unit: Unit, concrete: Unit | None, root: str, beyond: str, *, compiles: bool) -> None:
        owner = (concrete.path, concrete.line) if concrete is not None else None
        key = ((unit.path, unit.line), owner, compiles)
        if beyond and not self._guessing:
            self._guess(root, unit, lambda: self._task(unit, concrete, root, beyond, compiles=compiles))
        elif key not in self._seen:
            self._seen.add(key)
            self._tasks.append(_Task(unit, concrete, compiles, root, beyond))

    def _mention(self, mention: Mention, unit: Unit, root: str, beyond: str, *, compiles: bool) -> None:
        if not mention.path:
            self.lost(root, f"{unit.path}:{unit.line}")
            return
        meant = list(self._meant(mention))
        here = f"{unit.path}:{unit.line}"
        for found in meant:
            # What is run makes an instance there, of which it need not call anything.
            surely = len(meant) == 1 and not (self.runs and found.is_class)
            self._unit(found, root, beyond or ("" if surely else here), compiles=compiles, called=mention.called)
        value = digest(self.project, mention.path).values.get(mention.name) if mention.name else None
        if value is not None and (mention.path, mention.name) not in self._values:
            self._values.add((mention.path, mention.name))
            self._guess(root, unit, lambda: self._value(mention, value, root, beyond or here))

    def _value(self, mention: Mention, value: Unit, root: str, beyond: str) -> None:
        self._read(value, None, root, beyond, compiles=False)
        decorated = registered(self.project, value, all_known=root not in self._found.unknown)
        if decorated is None:
            self.lost(root, f"{value.path}:{value.line}")
        for found in decorated or ():
            self._unit(found, root, beyond, compiles=False, called=False)

    def _meant(self, mention: Mention, read: Callable[[Project, str], Digest] = digest) -> Iterator[Unit]:
        known = read(self.project, mention.path)
        for line in (mention.line,) if mention.line else known.names.get(mention.name, ()):
            if line in known.units:
                yield known.units[line]

    def _unit(self, unit: Unit, root: str, beyond: str, *, compiles: bool, called: bool) -> None:
        if unit.is_class:
            self._class(unit, root, beyond, compiles=compiles)
            return
        # What is called to make a value may return a lambda that calls what it names.
        if compiles or not called or self.runs:
            doubt = beyond or ("" if compiles and not unit.decorated else f"{unit.path}:{unit.line}")
            self._task(unit, None, root, doubt, compiles=True)
        if not compiles:
            self._task(unit, None, root, beyond or f"{unit.path}:{unit.line}", compiles=False)

    # Classes

    def _class(self, unit: Unit, root: str, beyond: str, *, compiles: bool) -> None:
        if beyond and not self._guessing:
            self._guess(root, unit, lambda: self._class(unit, root, beyond, compiles=compiles))
            return
        kind = self.is_module((unit.path, unit.line))
        key = (unit.path, unit.line), compiles or kind is not False
        if key in self._classes:
            return
        self._classes[key] = None
        line = list(self._lineage(unit))
        builder = kind is False and not compiles
        everything = self._has_foreign_base(line) or kind is False
        here = beyond or f"{unit.path}:{unit.line}"
        certain = not beyond and (kind is True or not unit.bases)
        # Of a ScriptModule, only methods that are decorated one by one.
        entered = certain and not any(isinstance(base, str) and base.startswith("torch.jit.") for base in unit.bases)
        named: set[str] = set()
        for owner in line:
            if not builder:
                self._note(owner, root, beyond)
            for mention in owner.mentions:
                self._mention(mention, owner, root, here, compiles=not (builder or mention.called))
            for name, lines in owner.methods.items():
                surely = entered and name not in named and len(lines) == 1
                named.add(name)
                for number in lines:
                    method = digest(self.project, owner.path).units[number]
                    self._method(method, name, unit, root, "" if surely else here, builder, everything)
        if certain and not self.runs:
            self._parts(unit, root)

    def _method(
        self, method: Unit, name: str, owner: Unit, root: str, beyond: str, builder: bool, everything: bool
    ) -> None:
        keys = (method.path, method.line), (owner.path, owner.line)
        self._methods.setdefault(name, {})[keys] = method, owner
        here = beyond or f"{owner.path}:{owner.line}"
        entry = name in _ENTRIES or method.exported
        if not builder and (everything or entry):
            called = entry if self.runs or owner.bases else True
            self._task(method, owner, root, beyond if called and not method.decorated else here, compiles=True)
        elif (name, True) in self._asked:
            self._task(method, owner, root, here, compiles=True)
        built = builder or everything or method.builds or name in _BUILDERS
        if built or (name, False) in self._asked:
            self._task(method, owner, root, here, compiles=False)

    def _attribute(self, name: str, root: str, beyond: str, *, compiles: bool) -> None:
        if (name, compiles) not in self._asked:
            self._asked[name, compiles] = None
            for method, owner in self._methods.get(name, {}).values():
                self._task(method, owner, root, beyond, compiles=compiles)

    def _named(self, concrete: Unit, name: str) -> Iterator[Unit]:
        """Every method of a class with this name, those of its bases included: `super()` may lead to them."""
        for owner in self._lineage(concrete):
            for line in owner.methods.get(name, ()):
                yield digest(self.project, owner.path).units[line]

    def _lineage(self, unit: Unit, read: Callable[[Project, str], Digest] = digest) -> Iterable[Unit]:
        key = unit.path, unit.line, read is outline
        if key not in self._lineages:
            self._lineages[key] = tuple(self._with_bases(unit, read))
        return self._lineages[key]

    def _with_bases(self, unit: Unit, read: Callable[[Project, str], Digest]) -> Iterable[Unit]:
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
        if key not in self._modules:
            self._modules[key] = self._is_module(key)
        return self._modules[key]

    def _is_module(self, key: Key) -> bool | None:
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
