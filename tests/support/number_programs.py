"""Programs that put numbers into `k` in ways that are easily misread, and what Python makes of them."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterator
from random import Random
from textwrap import indent
from types import ModuleType
from typing import Any

from number_constructs import CONTROL, VALUES

HEAD = """\
import contextlib
import functools
import torch.distributed as dist
from elsewhere import FLAG, mystery, plus, quiet, seven, Shield

K = 0


def post(x):
    dist.send(x, 1)


def put_global(value):
    global K
    K = value


class Box:
    kind = 3

    def __init__(self, k=0):
        self.k = k
        self.j = 0

    def put(self, value):
        self.k = value


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


class Passing(Swallow):
    def __exit__(self, *error):
        return False


class Some(Swallow):
    def __exit__(self, kind, error, trace):
        return kind is ValueError


@contextlib.contextmanager
def swallowing():
    try:
        yield 4
    except Exception:
        pass


@contextlib.contextmanager
def passing():
    yield 4


@contextlib.contextmanager
def nested_swallowing():
    with contextlib.suppress(Exception):
        yield


def adding(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) + 1
    return inner


def by(amount):
    def decorate(function):
        return lambda *args: function(*args) + amount
    return decorate


class Falsy:
    def __bool__(self):
        return False


class Empty:
    def __len__(self):
        return 0


class Same:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


class Less:
    def __lt__(self, other):
        return True

    def __contains__(self, item):
        return item == 9

    def __getitem__(self, index):
        return 8

    def __add__(self, other):
        return 6

    def __iadd__(self, other):
        self.k = 2
        return self

    def __iter__(self):
        return iter([4, 5])

    def __call__(self, value=1):
        return value + 1


class Guarded:
    def __init__(self):
        self.__dict__["real"] = 0

    @property
    def k(self):
        return self.real + 1

    @k.setter
    def k(self, value):
        self.__dict__["real"] = value * 2


class Odd:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 1)


class Fallback:
    def __getattr__(self, name):
        return 5


class Always:
    k = 1

    def __getattribute__(self, name):
        return 6


def program(flag, items, n):
"""

CARRIERS = {
    "a name": ("k = 0", "k = {}", "k"),
    "an attribute": ("o = Box()", "o.k = {}", "o.k"),
    "an element": ("a = [0]", "a[0] = {}", "a[0]"),
    "a closure": ("k = 0\ndef put(value):\n    nonlocal k\n    k = value", "put({})", "k"),
    "a global": ("put_global(0)", "put_global({})", "K"),
    "the end of a list": ("a = [0]", "a.append({})", "a[-1]"),
    "a method": ("o = Box()", "o.put({})", "o.k"),
    "a walrus": ("k = 0", "(k := {})", "k"),
}
"""How a number is kept: what comes first, how it is set and how it is read."""


def _written(body: str, setter: str, getter: str) -> str:
    """A body with its `SET(number)` and `GET`."""
    body = body.replace("SETINNER", "pass").replace("GET", getter)
    while "SET(" in body:
        start = body.index("SET(")
        depth, end = 1, start + 4
        while depth:
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        body = body[:start] + setter.format(body[start + 4 : end - 1]) + body[end:]
    return body


def _program(before: str, body: str, getter: str) -> str:
    return HEAD + indent(f"{before}\n{body}\nreturn {getter}\n", "    ")


def constructs() -> Iterator[tuple[str, str]]:
    """Names and sources of all constructs: statements with every way to keep a number, and the others."""
    for name, body in CONTROL.items():
        for carrier, (before, setter, getter) in CARRIERS.items():
            yield f"{name}, {carrier}", _program(before, _written(body, setter, getter), getter)
    for name, body in VALUES.items():
        yield name, _program("k = 0", body, "k")


def random_construct(random: Random) -> str:
    """A program of nested statements that keeps a number in one of the ways."""
    before, setter, getter = random.choice(list(CARRIERS.values()))
    body = "\n".join(_block(random, 3, in_loop=False) for _ in range(2))
    return _program(before, _written(body, setter, getter), getter)


_TESTS = ("flag", "n", "flag == 1", "n < 2", "GET == 1", "GET > 2", "not flag", "x", "flag and n", "items")
_NUMBERS = ("1", "2", "3", "GET + 1", "x", "x + 1", "5 if flag else 6", "len(items)")
_MAY_FAIL = ("items[1]", "int(flag)", "mystery(flag)", "assert n", "1 / n", "seven(1)", "fail(n)")


def _block(random: Random, depth: int, *, in_loop: bool) -> str:
    return "\n".join(_statement(random, depth, in_loop=in_loop) for _ in range(random.randint(1, 3)))


def _statement(random: Random, depth: int, *, in_loop: bool) -> str:
    def inner(*, loop: bool = in_loop) -> str:
        return indent(_block(random, depth - 1, in_loop=loop), "    ")

    kinds = ["set", "set", "x", "fail", "raise", "walrus"]
    kinds += ["if", "ifelse", "for", "while", "try", "finally", "with", "function"] * (depth > 0)
    kinds += ["break", "continue"] * in_loop
    test, number = random.choice(_TESTS), random.choice(_NUMBERS)
    match random.choice(kinds):
        case "set":
            return f"SET({number})"
        case "x":
            return f"x = {number}"
        case "fail":
            return f"{random.choice(_MAY_FAIL)}"
        case "raise":
            return f"if {test}: raise ValueError"
        case "walrus":
            return f"{test} {random.choice(['and', 'or'])} (x := {number})"
        case "if":
            return f"if {test}:\n{inner()}"
        case "ifelse":
            return f"if {test}:\n{inner()}\nelse:\n{inner()}"
        case "for":
            tail = f"\nelse:\n{inner()}" if random.random() < 0.5 else ""
            return f"for {random.choice(['i', 'x'])} in {random.choice(['items', 'range(2)', 'range(3)'])}:\n{inner(loop=True)}{tail}"
        case "while":
            name, end = f"left{depth}", random.choice(["n", "2", "3"])
            tail = f"\nelse:\n{inner()}" if random.random() < 0.5 else ""
            return f"{name} = 0\nwhile {name} < {end}:\n    {name} += 1\n{inner(loop=True)}{tail}"
        case "try":
            kind = random.choice(["Exception", "ValueError", "(TypeError, IndexError)"])
            tail = f"\nelse:\n{inner()}" if random.random() < 0.4 else ""
            tail += f"\nfinally:\n{inner(loop=False)}" if random.random() < 0.3 else ""
            return f"try:\n{inner()}\nexcept {kind}:\n{inner()}{tail}"
        case "finally":
            return f"try:\n{inner()}\nfinally:\n{inner(loop=False)}"
        case "with":
            manager = random.choice(
                ["contextlib.suppress(Exception)", "Swallow()", "Some()", "Passing()", "swallowing()", "passing()"]
            )
            return f"with {manager}:\n{inner()}"
        case "function":
            body = inner(loop=False)
            return f"def look(x):\n{body}\n    return {random.choice(['x', '4', 'flag'])}\nx = look({number})"
        case word:
            return f"if {test}: {word}"


class _Shield:
    def __enter__(self) -> _Shield:
        return self

    def __exit__(self, *error: object) -> bool:
        return True

    def __len__(self) -> int:
        return 0


def _mystery(*given: Any, **named: Any) -> int:
    """Code that changes whatever it can reach."""
    for thing in [*given, *named.values(), *_mystery_reaches]:
        if thing is None:
            raise TypeError
        if isinstance(thing, list):
            _mystery(*thing)
            thing.append(4)
            thing[0] = 4
        elif isinstance(thing, dict):
            thing["new"] = 4
        elif callable(thing):
            thing(4)
        elif hasattr(thing, "__dict__"):
            _mystery(*[value for value in vars(thing).values() if value is not None])
            vars(thing).update(dict.fromkeys(vars(thing), 4))
            _mystery_reaches.append(thing)
    return 4


_mystery_reaches: list[Any] = []


def _elsewhere() -> ModuleType:
    module = ModuleType("elsewhere")
    names: dict[str, Any] = {
        "FLAG": 0,
        "mystery": _mystery,
        "plus": lambda function: lambda *given: function(*given) + 1,
        "quiet": lambda function: lambda *given: None,
        "seven": lambda function: lambda *given: 7,
        "Shield": _Shield,
    }
    vars(module).update(names)
    return module


ARGUMENTS = tuple(itertools.product((0, 1, 2, None, "x", 5), ([], [0], [1, 2], [2, 1, 0], [5, 6, 7, 8]), (0, 1, 2, 3)))
"""What `program` is called with: `flag`, `items`, `n`."""


class Raised:
    """Stands for an exception where a number was asked for."""


def outcomes(source: str) -> list[Any]:
    """What `program` of a source returns for each of `ARGUMENTS`, in fresh modules; `Raised` where it fails."""
    code = compile(source, "program.py", "exec")
    found = []
    for flag, items, n in ARGUMENTS:
        _mystery_reaches.clear()
        try:
            found.append(_loaded(code)(flag, list(items), n))
        except Exception:  # whatever the program raises
            found.append(Raised)
    return found


def _loaded(code: Any) -> Callable[..., Any]:
    torch = ModuleType("torch")
    torch.distributed = ModuleType("torch.distributed")  # type: ignore[attr-defined]

    def import_(name: str, *rest: Any) -> ModuleType:
        if name.partition(".")[0] == "torch":
            return torch.distributed if rest[2:3] and rest[2] else torch  # type: ignore[no-any-return]
        if name == "elsewhere":
            return _elsewhere()
        return builtins.__import__(name, *rest)

    names: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": import_}, "__name__": "program"}
    exec(code, names)  # the source is the test's own
    program: Callable[..., Any] = names["program"]
    return program
