"""Where in the project a call stands: file, line and columns of the instruction that the program is at."""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any

from .spool import SPOOL

_HERE = os.path.dirname(os.path.abspath(__file__))
_STARTED_IN = os.getcwd()
_FILES: dict[Any, Any] = {}
_POSITIONS: dict[Any, Any] = {}
_DYNAMO: dict[Any, Any] = {}
_INSTALLED = ("site-packages", "dist-packages")


def _torch_folder() -> Any:
    return os.path.dirname(os.path.abspath(str(sys.modules["torch"].__file__))) + os.sep


class Caller:
    """Who called a watched function.

    Attributes:
        direct: whether it was the program itself, and not torch.
        place: what `place_of` says of the first frame outside torch; None if that is not in the project.
    """

    __slots__ = ("direct", "place")

    def __init__(self, direct: Any, place: Any) -> None:
        self.direct = direct
        self.place = place


def caller(skip: int) -> Any:
    """The caller of the function whose hook is running.

    Args:
        skip: how many frames outside of the hooks stand between; 1 for a function that is watched from inside.
    """
    frame = _calling(skip)
    direct = frame is not None and not _is_torch(frame)
    while frame is not None and (_is_torch(frame) or frame.f_code.co_filename.startswith(_HERE)):
        frame = frame.f_back
    return Caller(direct, None if frame is None else place_of(frame))


def _calling(skip: Any) -> Any:
    """The frame that called what is watched, `skip` frames behind the hooks, and behind what dynamo put around it; None without one."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    for _ in range(skip):
        frame = frame.f_back if frame is not None else None
    # The first torch.compile or strict export of a process puts `torch._dynamo.disable` around `torch.jit.trace` and its like.
    while frame is not None and _is_dynamo(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_dynamo(name: str) -> Any:
    found = _DYNAMO.get(name)
    if found is None:
        found = _DYNAMO[name] = os.path.abspath(name).startswith(os.path.join(_torch_folder(), "_dynamo", ""))
    return found


def _is_torch(frame: Any) -> Any:
    return _file(frame.f_code.co_filename) is True


def _file(name: str) -> Any:
    """True for torch's own files, the path from the root for a file of the project, None for any other."""
    found = _FILES.get(name, _FILES)
    if found is _FILES:
        path = os.path.realpath(os.path.join(_STARTED_IN, name))
        if os.path.abspath(name).startswith(_torch_folder()) or name.startswith("<torch"):
            found = True
        elif not path.startswith(os.path.join(SPOOL.root, "")) or not os.path.isfile(path):
            found = None
        else:
            inside = path[len(os.path.join(SPOOL.root, "")) :].split(os.sep)
            found = None if any(part in _INSTALLED for part in inside) else "/".join(inside)
        _FILES[name] = found
    return found


def place_of(frame: Any) -> Any:
    """`(file, line, column, end_line, end_column)` of what a frame is doing; columns from zero in UTF-8, None before Python 3.11.

    None if that is not in a file of the project.
    """
    code = frame.f_code
    file = _file(code.co_filename)
    if file is None or file is True:
        return None
    key = (code.co_filename, code.co_firstlineno, code.co_name, frame.f_lasti)
    found = _POSITIONS.get(key)
    if found is None:
        line, column, end_line, end_column = frame.f_lineno, None, None, None
        if hasattr(code, "co_positions"):
            where = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None), None)
            if where is not None and where[0] is not None:
                line, end_line, column, end_column = where
        found = _POSITIONS[key] = (file, line, column, end_line, end_column)
    return found


def inside_installed(skip: int) -> Any:
    """Name of the installed package, or of the file, that the caller of a watched function is part of."""
    frame = _calling(skip)
    return "" if frame is None else str(frame.f_globals.get("__name__", "")).partition(".")[0]


def current_test() -> Any:
    """The test that pytest runs now, as it names it, or None."""
    name = os.environ.get("PYTEST_CURRENT_TEST")
    return None if name is None else name.rpartition(" (")[0]
