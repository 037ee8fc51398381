"""Runs under the examined interpreter, as a file: imports torch and says how that went.

Only the standard library besides, down to Python 3.8.
"""

# ruff: noqa: PTH120, PTH123

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

MARK = "torchlift-probe-answer:"
AT = "torchlift-probe-at:"
"""The same as in `child.py`, which the examined interpreter cannot import."""


def mapped_libraries() -> list[str]:
    """The shared libraries in this process's address space (Linux)."""
    paths = set()
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                parts = line.rstrip("\n").split(None, 5)
                if len(parts) == 6 and ".so" in parts[5]:
                    paths.add(parts[5])
    except OSError:
        pass
    return sorted(paths)


def tell(answer: dict[str, Any], next_step: str) -> None:
    """Print the answer so far and what comes next."""
    print("\n" + MARK + json.dumps(answer) + "\n" + AT + next_step, flush=True)


def main() -> None:
    """Import, tell, then ask for CUDA, which may crash or hang in the driver, and tell again."""
    own = os.path.dirname(os.path.realpath(__file__))
    if sys.path and os.path.realpath(sys.path[0]) == own:
        del sys.path[0]
    print(AT + "import torch", flush=True)
    started = time.perf_counter()
    try:
        import torch
    # A SystemExit or KeyboardInterrupt out of an import is as much an answer as an ImportError.
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        tell({"imported": False, "seconds": round(time.perf_counter() - started, 3), "error": text}, "ending")
        return
    answer: dict[str, Any] = {
        "imported": True,
        "seconds": round(time.perf_counter() - started, 3),
        "mapped": mapped_libraries(),
    }
    tell(answer, "torch.cuda.is_available()")
    try:
        answer["cuda_available"] = bool(torch.cuda.is_available())
    except BaseException as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    tell(answer, "ending")


if __name__ == "__main__":
    main()
