"""Watches what is no Python function of its own: methods of C++ classes, and methods that a class only inherits.

A Python frame stands around the call. It takes itself out of the traceback of what the call raises (Python 3.11 and newer;
before, the traceback has one line more).
"""

from __future__ import annotations

import functools
from typing import Any

_MISSING: Any = object()


def wrap(owner: Any, name: str, entered: Any, left: Any, raised: Any) -> None:
    """Set an attribute of a class to a method that calls the one that is there now.

    Args:
        owner: the class.
        name: of the method.
        entered: called with the object, the positional and the keyword arguments; returns a token or None.
        left: called with the token and the result, unless the token is None.
        raised: called with the token while the exception is being handled, unless the token is None.
    """
    original = getattr(owner, name, _MISSING)
    if original is _MISSING:
        return

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        token = entered(self, args, kwargs)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            if token is not None:
                raised(token)
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        if token is not None:
            left(token, result)
        return result

    for attribute in functools.WRAPPER_ASSIGNMENTS:
        value = getattr(original, attribute, _MISSING)
        if value is not _MISSING:
            try:
                setattr(method, attribute, value)
            except (AttributeError, TypeError):
                pass
    setattr(owner, name, method)
