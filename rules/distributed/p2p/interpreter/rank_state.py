"""What one run of a function by one rank knows while it goes on: doubts about conditions, choices, limits."""

from __future__ import annotations

import ast
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

from torchlift.project import Project
from torchlift.rules.distributed.p2p.interpreter.code import Code, FunctionNode
from torchlift.rules.distributed.p2p.interpreter.communication import Communication
from torchlift.rules.distributed.p2p.interpreter.ends import End, Flow, Landing, landed
from torchlift.rules.distributed.p2p.interpreter.keys import node_text
from torchlift.rules.distributed.p2p.interpreter.operators import truth
from torchlift.rules.distributed.p2p.interpreter.values import (
    MISSING,
    Class,
    CodeRaises,
    CommonChoice,
    Doubt,
    Frame,
    Function,
    Handle,
    Layout,
    Level,
    Open,
    ProcessGroup,
    Unknown,
    Value,
    holds_handle,
)
from torchlift.view import Binding, ModuleView

_MOST_STEPS = 40_000
MOST_STEPS_OF_FILE = 300_000
"""Statements and expressions that are run for one file, by all ranks of all worlds together: about 1.5 seconds. The most
that was seen in fourteen projects that send and receive is 32,000."""
MOST_STEPS_OF_PROJECT = 3_000_000
"""The same for all files that may send or receive; each has an equal share, whoever is read first and in which process."""

_AT_THEIR_WORD = 3
"""What part of it is left for a second reading, with names at their word."""


def _steps_of_file(project: Project) -> int:
    files = len(project.files_holding("isend", "irecv"))
    return min(MOST_STEPS_OF_FILE, max(_MOST_STEPS, MOST_STEPS_OF_PROJECT // max(files, 1)))


class RankState(ABC):
    """The part of a rank run that all its other parts use; `RankRun` puts them together.

    Args:
        code: the file.
        project: its project.
        rank, size: the rank and the number of ranks.
        choices: what conditions that are the same on every rank are taken to be, by key.
        layout: takes names at their word, and what comes from outside for the same on every rank; None for a strict reading.

    Attributes:
        communication: what the rank did.
        calls: calls of the file that sent or received, in the order of their first use.
        outlives: what is still there when the function has ended, beside what it returns.
        assumed: what was taken for granted, as clauses.
        taken: what names were taken for, as clauses.
        layout_matters: whether another layout would have given other numbers.
    """

    statement_handlers: ClassVar[Mapping[type[ast.stmt], Callable[[Any, Any, Frame], Flow]]]
    expression_handlers: ClassVar[Mapping[type[ast.expr], Callable[[Any, Any, Frame], Value]]]

    def __init__(
        self,
        code: Code,
        project: Project,
        rank: int,
        size: int,
        choices: Mapping[str, bool],
        layout: Layout | None = None,
    ) -> None:
        self.code = code
        self.project = project
        self.rank = rank
        self.size = size
        self.choices = choices
        self.layout = layout
        self.taken: dict[str, None] = {}
        self.layout_matters = False
        self.communication = Communication(rank, size, trusting=layout is not None)
        self.calls: dict[ast.Call, None] = {}
        self.assumed: dict[str, None] = {}
        self._modules: dict[str, Frame] = {}
        self._stack: list[Frame] = []
        self._doubts: list[Doubt] = []
        self._landings: list[Landing] = []
        self._stored = 0
        self._changes = 0
        self._open_names: set[tuple[int, str]] = set()
        self._frames: list[Frame] = []  # those of `_open_names`, so that no other frame gets their ids
        self._open_classes: set[ast.ClassDef] = set()
        self._poisoned: dict[int, tuple[Value, Unknown]] = {}
        self._steps = 0
        self._allowed = project.once(_steps_of_file) // (_AT_THEIR_WORD if layout is not None else 1)
        self._looking_up: set[Binding] = set()
        self._site: ast.Call | None = None
        self.outlives: list[Value] = []

    @contextmanager
    def _doubting(self, doubt: Doubt) -> Iterator[None]:
        self._doubts.append(doubt)
        depth = len(self._stack)
        try:
            yield
        finally:
            self._doubts.remove(doubt)
            del self._stack[depth:]

    @contextmanager
    def _perhaps(self, condition: Unknown, line: int, frame: Frame) -> Iterator[None]:
        """What runs inside may not run, or not to its end: what it binds is bound to one thing or the other."""
        frames = [frame]
        while frames[-1].scope.kind == "comprehension" and frames[-1].outer is not None:
            frames.append(frames[-1].outer)
        before = [dict(one.values) for one in frames]
        with self._doubting(Doubt(condition, line)):
            try:
                yield
            except CodeRaises:
                self._may_fail()
        for one, values in zip(frames, before, strict=True):
            one.values = self._joined(one.values, values, condition)

    @contextmanager
    def _landing(self, frame: Frame) -> Iterator[Landing]:
        """What runs inside may fail and be caught: see `Landing`."""
        landing = Landing(frame)
        self._landings.append(landing)
        depth = len(self._stack)
        try:
            yield landing
        finally:
            self._landings.remove(landing)
            del self._stack[depth:]

    def _may_fail(self, level: Level = Level.GIVEN) -> None:
        """What runs now may raise an exception."""
        for landing in self._landings:
            landing.level = max(landing.level, level)
            if landing.seen != self._stored or landing.values is None:
                landing.seen = self._stored
                now = landing.frame.values
                unsure = Unknown(level, "an error", "an error may be handled")
                landing.values = dict(now) if landing.values is None else landed(landing.values, now, unsure)

    def _overwrites(self, holder: Value, name: str | None = None) -> None:
        """A name of another frame, an attribute or an element is about to change, which an error before it prevents."""
        for landing in self._landings:
            if landing.values is not None:
                old = (
                    MISSING
                    if name is None
                    else (holder.values if isinstance(holder, Frame) else holder.attributes).get(name, MISSING)
                )
                landing.overwritten.append((holder, name, old))

    def _active_doubts(self) -> Iterator[Doubt]:
        yield from self._doubts
        for frame in self._stack:
            yield from frame.doubts
            for jumps in frame.loops:
                yield from (jump.doubt for jump in jumps)

    def _certain(self, line: int, *, fails: bool = False) -> None:
        """Insist that the code which runs now is surely run.

        Args:
            line: its line.
            fails: whether it raises an exception, which does not happen where another one has been handled before.

        Raises:
            CommonChoice, Open: it is not known whether it is.
        """
        for doubt in self._active_doubts():
            self._choose(doubt.condition, doubt.line)
            if doubt.is_error and not fails:
                self.assumed[f"nothing fails in the block in line {doubt.line}"] = None
                continue
            raise Open(f"whether line {line} is run depends on line {doubt.line}: {doubt.condition.why}")

    def _open(self, line: int, why: str) -> NoReturn:
        """End reading at code that is surely run, or say first that it is not known whether it is; see `_certain`."""
        self._certain(line)
        raise Open(why)

    def _choose(self, condition: Unknown, line: int) -> None:
        """Raise `CommonChoice` if a condition is the same on every rank and nothing has been said about it yet."""
        atom = self._open_atom(condition)
        if atom is not None:
            raise CommonChoice(atom, line)

    def _settle(self, value: Value, line: int) -> None:
        """Raise `CommonChoice` if a choice that is still to be made decides what `value` is."""
        if isinstance(value, Unknown) and value.choice is not None:
            self._choose(value.choice, line)

    def _open_atom(self, condition: Unknown) -> Unknown | None:
        if condition.formula is not None:
            atoms = [self._open_atom(part) for part in condition.formula[1] if self._truth(part) is None]
            return next((atom for atom in atoms if atom is not None), None)
        if condition.choice is not None:
            return self._open_atom(condition.choice)
        return condition if self._is_common(condition) and condition.key not in self.choices else None

    def _is_common(self, value: Unknown) -> bool:
        """Whether a condition is, or is taken to be, the same on every rank."""
        return value.level is Level.UNIFORM or (self.layout is not None and value.level is Level.GIVEN)

    def _truth(self, value: Value) -> bool | None:
        known = truth(value)
        if known is not None or not isinstance(value, Unknown):
            return known
        if value.formula is None:
            return self.choices.get(value.key) if self._is_common(value) else None
        kind, values = value.formula
        answers = [self._truth(part) for part in values]
        if kind == "not":
            return None if answers[0] is None else not answers[0]
        if kind == "and":
            return False if False in answers else None if None in answers else True
        return True if True in answers else None if None in answers else False

    def _poison(self, container: Value) -> None:
        """From now on nothing is known about what is in `container`."""
        if isinstance(container, (list, dict, set)):
            self._changes += id(container) not in self._poisoned
            condition = next(self._active_doubts(), None)
            unknown = Unknown(
                Level.GIVEN,
                f"changed:{len(self._poisoned)}",
                condition.condition.why if condition is not None else "a list or dict that other code may have changed",
                never_none=True,
                handles=holds_handle(container),
                choice=condition.condition if condition is not None else None,
            )
            self._poisoned[id(container)] = container, unknown

    def _change(self, container: Value, new: Sequence[Value] = ()) -> bool:
        """Whether `container` may be changed; in doubt it is poisoned instead."""
        self._overwrites(container)
        if next(self._active_doubts(), None) is None:
            return True
        self._poison(container)
        if any(holds_handle(value) for value in new):
            self._poisoned[id(container)][1].handles = True
        return False

    def _tick(self) -> None:
        self._steps += 1
        self.code.steps += 1
        if self._steps > _MOST_STEPS:
            raise Open("it is too long to be followed")
        if self.code.steps > self._allowed:
            raise Open("the file has too much of this kind to be followed")

    def _line(self, node: ast.Call) -> int:
        """Line of a call in the file that is read: of the call that led to it, if it stands in another file."""
        return self._site.lineno if self._site is not None else node.lineno

    def _note(self, node: ast.Call) -> None:
        self.calls[self._site or node] = None

    # What one part asks of another, which says what it is.

    @abstractmethod
    def _module(self, view: ModuleView, *, running: bool = False) -> Frame: ...
    @abstractmethod
    def _invoke(self, function: Function, values: dict[str, Value], at: ast.AST) -> Value: ...
    @abstractmethod
    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> Flow: ...
    @abstractmethod
    def _store(self, target: ast.expr, value: Value, frame: Frame) -> None: ...
    @abstractmethod
    def _store_name(self, name: str, value: Value, frame: Frame) -> None: ...
    @abstractmethod
    def _element(self, value: Value, index: int | str) -> Unknown: ...
    @abstractmethod
    def _tested(self, node: ast.expr, frame: Frame) -> Value: ...
    @abstractmethod
    def _as_test(self, value: Value, node: ast.expr) -> Value: ...
    @abstractmethod
    def _meant(self, node: ast.expr, value: Value, frame: Frame) -> Value: ...
    @abstractmethod
    def _as_rank(self, value: Value) -> Value: ...
    @abstractmethod
    def _strong(self, name: str, text: str) -> Value: ...
    @abstractmethod
    def _own_binary(
        self, op: ast.operator, left: Value, right: Value, node: ast.AST, *, in_place: bool = False
    ) -> Value: ...
    @abstractmethod
    def _own_comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value: ...
    @abstractmethod
    def _own(self, value: Value, name: str, arguments: Sequence[Value], node: ast.AST) -> Value: ...
    @abstractmethod
    def _store_attribute(self, base: Value, name: str, value: Value) -> None: ...
    @abstractmethod
    def _delete_attribute(self, base: Value, name: str) -> None: ...
    @abstractmethod
    def _decorated(self, function: Function, frame: Frame) -> Value: ...
    @abstractmethod
    def _is_transparent(self, decorator: ast.expr, frame: Frame) -> bool: ...
    @abstractmethod
    def _defaults(self, arguments: ast.arguments, frame: Frame) -> dict[str, Value]: ...
    @abstractmethod
    def _may_equal(self, *values: Value) -> bool: ...
    @abstractmethod
    def _escape_all(self) -> None: ...
    @abstractmethod
    def _escape(self, value: Value) -> None: ...
    @abstractmethod
    def _forget_names(self, node: ast.AST, frame: Frame, why: Unknown) -> None: ...
    @abstractmethod
    def _merge(self, ends: Sequence[End], frame: Frame) -> Flow: ...
    @abstractmethod
    def _either(self, doubt: Doubt, branches: Sequence[Sequence[ast.stmt]], frame: Frame) -> Flow: ...
    @abstractmethod
    def _joined(self, left: dict[str, Value], right: dict[str, Value], condition: Unknown) -> dict[str, Value]: ...
    @abstractmethod
    def _matters(self, nodes: Sequence[ast.AST], frame: Frame) -> bool: ...
    @abstractmethod
    def _name(self, node: ast.Name, frame: Frame, origin: ast.Name | None = None) -> Value: ...
    @abstractmethod
    def _imported(self, binding: Binding, view: ModuleView) -> Value: ...
    @abstractmethod
    def _eval(self, node: ast.expr, frame: Frame) -> Value: ...
    @abstractmethod
    def _computed(self, values: Sequence[Value], nodes: Sequence[ast.expr], node: ast.AST) -> Unknown: ...
    @abstractmethod
    def _attribute_of(self, base: Value, name: str, node: ast.Attribute) -> Value: ...
    @abstractmethod
    def _find_method(self, owner: Class, name: str) -> Function | None: ...
    @abstractmethod
    def _apply(
        self,
        function: Value,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame,
        *,
        complete: bool,
    ) -> Value: ...
    @abstractmethod
    def _call_function(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value: ...
    @abstractmethod
    def _check_decorators(self, function: Function) -> None: ...
    @abstractmethod
    def _handle_method(self, handle: Handle, name: str, node: ast.Call) -> Value: ...
    @abstractmethod
    def _group_method(
        self, group: ProcessGroup, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value: ...
    @abstractmethod
    def _call_unknown_method(
        self,
        function: Unknown,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame | None,
    ) -> Value: ...
    @abstractmethod
    def _communicates(self, value: Value) -> bool: ...
    @abstractmethod
    def _opaque(self, function: Value, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value: ...
    @abstractmethod
    def _call_external(
        self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call, *, complete: bool
    ) -> Value: ...
    @abstractmethod
    def _environment(self, key: Value, default: Value, node: ast.expr) -> Value: ...
    @abstractmethod
    def _call_distributed(
        self, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.Call, *, complete: bool
    ) -> Value: ...


_PRESENT = frozenset({"torch", *sys.stdlib_module_names})


def alias_is_there(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    """Whether a module is there for sure, because it comes with Python or is torch."""
    return ((node.module or "") if isinstance(node, ast.ImportFrom) else alias.name).partition(".")[0] in _PRESENT


def has_decorator(node: FunctionNode, *names: str) -> bool:
    """Whether a function has a decorator whose last name is one of `names`."""
    return any(node_text(decorator).rpartition(".")[2] in names for decorator in node.decorator_list)


def is_static(node: FunctionNode) -> bool:
    """Whether a method is a static one."""
    return has_decorator(node, "staticmethod")


def is_class_method(node: FunctionNode) -> bool:
    """Whether a method is one of the class."""
    return has_decorator(node, "classmethod")
