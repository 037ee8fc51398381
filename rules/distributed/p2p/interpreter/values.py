"""What an expression can be worth while a function is read for one rank: a Python value, or one of the kinds below.

Numbers, strings, None, lists, tuples, dicts, sets and ranges stand for themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum, IntEnum
from typing import Any, Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.view import ModuleView
from torchlift.view.scopes import Scope

Value = Any
"""A Python value, or an instance of a class of this file."""

_LONGEST_KEY = 160
_PLAIN = (int, str, float, bool, type(None), tuple, range)


class Level(IntEnum):
    """How a value that nobody can work out relates to the rank; the higher one wins where values are combined."""

    UNIFORM = 0
    """The same on every rank: a setting, a command line argument."""
    GIVEN = 1
    """It comes from outside the file; it may be the same on every rank or not."""
    RANK = 2
    """Computed from the rank, or received from another rank."""


class Layout(Enum):
    """What the rank behind the last one is, and the one before the first; `is_first` and the like are the same in all."""

    LINE = "rank + 1 and rank - 1"
    ENDS = "rank + 1 and rank - 1, or None at the ends"
    RING = "(rank + 1) % world and (rank - 1) % world"
    PAIR = "the last rank and rank 0"
    STAR = "rank 0 and rank 0"


@dataclass(eq=False, slots=True)
class Unknown:
    """A value that cannot be worked out.

    Attributes:
        own_level: how it relates to the rank by itself; `level` also looks at its source.
        key: equal for values that are surely equal, on every rank.
        why: what it is, as a clause: "`dst` is a parameter of `f`".
        never_none: whether it is an object for sure, such as a tensor.
        handles: whether it may hold the handle of an operation.
        choice: the condition it depends on, where it is known apart from that.
        formula: how the truth of it follows from other unknown values.
        source: what it was read from; data received into one has been received into the other.
        candidates: functions, classes, objects, lists, dicts and sets that it may be or hold.
        attributes: what was stored as its attributes.
        unset: whether the name that holds it may have no value, so that reading it fails.
    """

    own_level: Level
    key: str
    why: str
    never_none: bool = False
    handles: bool = False
    choice: Unknown | None = None
    formula: tuple[Literal["not", "and", "or"], tuple[Unknown, ...]] | None = None
    source: Unknown | None = None
    candidates: tuple[Value, ...] = ()
    attributes: dict[str, Value] = field(default_factory=dict)
    unset: bool = False

    def __post_init__(self) -> None:
        if len(self.key) > _LONGEST_KEY:
            self.key = f"#{hash(self.key)}"

    @property
    def level(self) -> Level:
        """How the value relates to the rank, as far as is known by now."""
        level, node = self.own_level, self.source
        while node is not None:
            level = max(level, node.own_level)
            node = node.source
        return level

    def receive(self) -> None:
        """From now on the value holds what another rank has sent."""
        node: Unknown | None = self
        while node is not None:
            node.own_level = Level.RANK
            node = node.source


@dataclass(frozen=True)
class External:
    """Something defined outside the file, by its qualified name; `builtins.len` for what Python brings along."""

    name: str


@dataclass(frozen=True, eq=False)
class ProcessGroup:
    """A process group.

    Attributes:
        key: key in `Exchange.groups`.
        members: global ranks in the order of their ranks in the group.
        text: how the code calls it.
        elsewhere: whether its messages are no concern of the engine behind `"nccl"`, because it has another backend.
    """

    key: str
    members: tuple[int, ...]
    text: str = ""
    elsewhere: bool = False


@dataclass(eq=False)
class Handle:
    """What the caller of an asynchronous operation holds.

    Attributes:
        number: the handle of the post.
        line: where it was posted.
        waited: whether the rank has waited for it.
    """

    number: int
    line: int
    waited: bool = False


@dataclass(frozen=True, eq=False)
class Transfer:
    """A `P2POp`: an operation that a batch will post."""

    kind: Literal["send", "recv"]
    peer: int
    group: ProcessGroup
    line: int
    call: ast.Call | None


@dataclass(eq=False)
class Coalescing:
    """An open coalescing manager with what was posted in it so far."""

    handle: Handle
    blocking: bool


@dataclass(eq=False, slots=True)
class Frame:
    """The names of a function, class body, comprehension or module that is being run.

    Attributes:
        view: the file.
        scope: the names that belong here.
        outer: the frame around it, for names that do not.
        function: the function that is run, if it is one or in one.
        running: False for the module while only a function of it is run: its names are looked up in the source then.
        values: what the names are bound to.
        result: what a `return` gave back.
        returned: values that an undecided `return` may have given back.
        doubts: conditions on which an undecided `return` depends.
        loops: for every loop being run, the undecided `break` and `continue` of this round and the rounds before.
    """

    view: ModuleView
    scope: Scope
    outer: Frame | None
    function: Function | None = None
    running: bool = True
    values: dict[str, Value] = field(default_factory=dict)
    result: Value = None
    returned: list[Value] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    loops: list[list[Jump]] = field(default_factory=list)

    def owner(self, name: str) -> Frame | None:
        """The frame that a name belongs to; None for builtins and star imports."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.scope.bindings and (frame.scope.kind != "class" or frame is self):
                return frame
            frame = frame.outer
        return None

    @property
    def module(self) -> Frame:
        """The outermost frame."""
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the project, or a lambda, with the frame it was defined in.

    Attributes:
        owner: the class it is a method of.
        defaults: what its parameters are worth when nothing is given; None where its definition has not been run.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Frame
    owner: Class | None = None
    defaults: Mapping[str, Value] | None = None

    @property
    def name(self) -> str:
        """Its name, for messages."""
        return "lambda" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the project."""

    node: ast.ClassDef
    frame: Frame


@dataclass(eq=False)
class Instance:
    """An object of a class of the project.

    Attributes:
        of: its class; None for the context object of an autograd function.
        complete: whether `attributes` has everything its constructor sets.
        escaped: whether code that is not known may change it at any time.
    """

    of: Class | None
    attributes: dict[str, Value] = field(default_factory=dict)
    complete: bool = True
    escaped: bool = False


@dataclass(frozen=True, eq=False)
class BoundMethod:
    """A function or a method of a value, bound to that value."""

    function: Function | str
    receiver: Value


@dataclass(frozen=True)
class Doubt:
    """A condition nobody knows, on which it depends whether the code that runs now is run at all.

    Attributes:
        is_error: whether the condition is that something before has raised an exception which the code handles. What is
            posted then is read as if it had not, which is said.
    """

    condition: Unknown
    line: int
    is_error: bool = False


@dataclass(frozen=True, eq=False)
class Jump:
    """A `break` or a `continue` of which nobody knows whether it is run, with the names as it leaves them."""

    doubt: Doubt
    leaves: bool
    values: dict[str, Value]


class Open(Exception):
    """What a rank does cannot be said; the argument is the reason."""


class CommonChoice(Exception):
    """What a rank does depends on a condition that is the same on every rank."""

    def __init__(self, condition: Unknown, line: int) -> None:
        super().__init__(condition.key)
        self.condition = condition
        self.line = line


class CodeRaises(Exception):
    """The code raises an exception; the argument says where."""


class Ended(Exception):
    """The code ends the process."""


def parts(value: Value) -> Iterable[Value]:
    """`value` and everything in the containers and objects it consists of."""
    stack, seen = [value], set()
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple, set, frozenset, dict, Instance, BoundMethod)):
            if id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, dict):
                stack.extend(item.values())
            elif isinstance(item, Instance):
                stack.extend(item.attributes.values())
            elif isinstance(item, BoundMethod):
                stack.append(item.receiver)
            else:
                stack.extend(item)
        yield item


def holds_handle(value: Value) -> bool:
    """Whether a value is, holds or may hold a handle that has not been waited for, or an operation of a batch."""
    return any(
        (isinstance(part, Handle) and not part.waited)
        or isinstance(part, Transfer)
        or (isinstance(part, Unknown) and part.handles)
        for part in parts(value)
    )


def candidates_in(*values: Value) -> tuple[Value, ...]:
    """Everything in `values` that can be called or changed."""
    found: dict[int, Value] = {}
    for value in values:
        for part in () if isinstance(value, (int, str, float)) else parts(value):
            if isinstance(part, (External, Function, Class, BoundMethod, Instance, list, dict, set)):
                found[id(part)] = part
            elif isinstance(part, Unknown):
                found.update((id(inner), inner) for inner in part.candidates)
    return tuple(found.values())


def is_plain(value: Value) -> bool:
    """Whether a value is a number, a text or None, or a tuple or range of such."""
    return isinstance(value, _PLAIN) and unknown_in(value) is None


def unknown_in(value: Value) -> Unknown | None:
    """The first unknown value in `value`."""
    if isinstance(value, (int, str, float)) or value is None:
        return None
    return next((part for part in parts(value) if isinstance(part, Unknown)), None)


def level_of(values: Iterable[Value], constant: bool = True) -> Level:
    """The level of what is computed from `values`.

    Args:
        values: the operands.
        constant: whether known operands are written as constants; others may have been computed from the rank.
    """
    level = Level.UNIFORM if constant else Level.RANK
    for value in values:
        for part in parts(value):
            if isinstance(part, Unknown):
                level = max(level, part.level)
    return level


class Missing:
    """Stands for a name or attribute that has no value."""


MISSING = Missing()


def join(left: Value, right: Value, condition: Unknown) -> Value:
    """What a name is worth that is worth `left` or `right`, depending on `condition`."""
    if left is right:
        return left
    if type(left) is type(right) and is_plain(left) and is_plain(right) and left == right:
        return left
    if isinstance(left, External) and left == right:
        return left
    return Unknown(
        max(Level.GIVEN, condition.level),
        f"({condition.key}?)",
        condition.why,
        handles=holds_handle((left, right)),
        choice=condition,
        candidates=candidates_in(left, right),
        never_none=left is not None
        and right is not None
        and not isinstance(left, Unknown)
        and not isinstance(right, Unknown),
        unset=any(value is MISSING or (isinstance(value, Unknown) and value.unset) for value in (left, right)),
    )
