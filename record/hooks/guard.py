"""A hook that fails goes silent: the program never sees an exception that is not its own.

While a hook runs, other hooks of the same thread are off: what a hook itself asks of torch is not what the program did.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .spool import SPOOL

_Body = TypeVar("_Body", bound=Callable[..., Any])


class _State(threading.local):
    busy = False


STATE = _State()


def guarded(what: str) -> Callable[[_Body], _Body]:
    """Decorator for the body of a hook: returns None where it fails, or where another hook of this thread is running.

    Args:
        what: names the hook, for the evidence file.
    """

    def decorate(body: _Body) -> _Body:
        @functools.wraps(body)
        def hook(*args: Any, **kwargs: Any) -> Any:
            if STATE.busy:
                return None
            STATE.busy = True
            try:
                return body(*args, **kwargs)
            except Exception as error:
                if _is_of_the_program(error):
                    raise
                SPOOL.problem(what, error)
                return None
            finally:
                STATE.busy = False

        return cast("_Body", hook)

    return decorate


def _is_of_the_program(error: BaseException) -> bool:
    """Whether a signal handler of the program raised it while the hook happened to run."""
    handlers = set()
    for number in signal.valid_signals():
        handlers.add(getattr(signal.getsignal(number), "__code__", None))
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code in handlers:
            return True
        entry = entry.tb_next
    return False
