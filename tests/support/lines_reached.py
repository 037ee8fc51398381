"""Which lines of a module's functions run, recorded while they run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any


def lines_of(module: ModuleType) -> set[int]:
    """Every line of the functions that the module defines."""
    functions = [value for value in vars(module).values() if isinstance(value, FunctionType)]
    own = [function.__code__ for function in functions if function.__module__ == module.__name__]
    return {line for code in own for line in _lines_inside(code)}


def _lines_inside(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_inside(constant)


@contextmanager
def recorded_lines(module: ModuleType) -> Iterator[set[int]]:
    """The lines of the module that run meanwhile; complete when it is left."""
    reached: set[int] = set()

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        return inside if frame.f_code.co_filename == module.__file__ else None

    def inside(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            reached.add(frame.f_lineno)
        return inside

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield reached
    finally:
        sys.settrace(before)
