"""A function that is watched from inside stays the same function, in every way that its callers can see."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HOOKS = Path(__file__).parents[2] / "record" / "hooks"
OTHER_PYTHONS = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))

_WATCHED = '''
from __future__ import annotations
import functools, sys, warnings

class Base:
    def greet(self, name):
        return "hello " + name

def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

def closure(offset):
    def inner(value, *rest, scale: int = 2, **more):
        """Documented."""
        if value < 0:
            raise ValueError(
                "negative"
            )
        for one in rest:
            if one == value:
                return lambda: one + offset
        return value * scale + offset + len(more)
    return inner

class Derived(Base):
    def greet(self, name):
        def nested():
            return name.upper()
        return super().greet(nested())

    def secret(self):
        return self.__secret

@decorator
def caller_name(depth=1):
    warnings.warn("told", stacklevel=3)
    return sys._getframe(depth + 1).f_code.co_name

def nothing():
    pass
'''

_PROGRAM = """
import inspect, sys, traceback, warnings
hooks = type(sys)("_torchlift_record")
hooks.__path__ = [sys.argv[1]]
sys.modules[hooks.__name__] = hooks
from _torchlift_record.inside import NotWatched, watch
import watched

def seen():
    found = []
    inner = watched.closure(10)
    found += [inner(1, scale=3), inner(1, 2, x=1), inner(4, 4)(), watched.Derived().greet("a"), watched.nothing()]
    try:
        inner(-1)
    except ValueError:
        found.append(traceback.format_exc())
    def me():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            name = watched.caller_name()
        return name, told[0].filename, told[0].lineno
    found.append(me())
    for function in (inner, watched.Derived.greet, watched.caller_name):
        found += [str(inspect.signature(function)), function.__doc__, inspect.getsource(function), function.__name__]
        code = inspect.unwrap(function).__code__
        found += [code.co_firstlineno, code.co_filename, getattr(code, "co_qualname", "")]
    return found

log = []
before = seen()
shared = watched.closure
for function in (watched.Derived.greet, watched.caller_name, watched.nothing):
    watch(function, lambda given: log.append(("in", sorted(given))) or len(log), lambda token, result: log.append(("out", result)),
          lambda token: log.append(("raised", sys.exc_info()[0].__name__)))
def inner_of(offset, make=watched.closure):
    inner = make(offset)
    watch(inner, lambda given: log.append(("in", sorted(given))) or len(log), lambda token, result: log.append(("out", None)),
          lambda token: log.append(("raised", sys.exc_info()[0].__name__)))
    return inner
watched.closure = inner_of
after = seen()
assert before == after, (before, after)
assert ("in", ["more", "rest", "scale", "value"]) in log and ("raised", "ValueError") in log and ("out", None) in log
assert ("in", ["name", "self"]) in log and ("out", "hello A") in log and ("in", ["depth"]) in log
for odd in (len, watched.Derived.secret, lambda: (yield), compile("def f(): pass", "<nowhere>", "exec")):
    try:
        watch(odd, None, None, None)
    except NotWatched:
        pass
    else:
        raise AssertionError(odd)
print("same", len(log))
"""


def check(python: str, folder: Path) -> None:
    (folder / "watched.py").write_text(textwrap.dedent(_WATCHED))
    (folder / "main.py").write_text(_PROGRAM)
    done = subprocess.run(
        [python, "-W", "error", "main.py", str(HOOKS)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("same"), done.stdout


def test_a_watched_function_is_the_same_to_its_callers(tmp_path: Path) -> None:
    check(sys.executable, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.skipif(not OTHER_PYTHONS, reason="there is no other Python here")
@pytest.mark.parametrize("python", OTHER_PYTHONS, ids=lambda path: path.parents[1].name)
def test_it_is_in_every_python_that_is_here(python: Path, tmp_path: Path) -> None:
    version = tuple(int(part) for part in python.parents[1].name.split(".")[:2])
    if version < (3, 9):
        pytest.skip("torch that is watched needs Python 3.9")
    check(str(python), tmp_path)
