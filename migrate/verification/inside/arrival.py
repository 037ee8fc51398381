"""What happens at the start of each Python process of a tried command, and at its end."""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import IO, Any


class Telling:
    """Lines of JSON in a file of this process, for whoever started the command."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.process = 0
        self.file: IO[str] | None = None

    def tell(self, kind: str, **about: Any) -> None:
        """Write one line; a forked child has a file of its own."""
        if self.file is None or self.process != os.getpid():
            self.process = os.getpid()
            path = os.path.join(self.folder, "%d.jsonl" % self.process)
            self.file = open(path, "a", encoding="utf-8", errors="surrogateescape", buffering=1)  # noqa: SIM115
        self.file.write(json.dumps([kind, about]) + "\n")


def arrive() -> None:
    """Set up what the file `task.json` asks for, in the folder that the environment names.

    Its keys: `tree` (the user's), `copy` (of it), `tests` (ids of those to run, null for all), `returns` (whether what
    functions return is noted).
    """
    folder = os.environ["TORCHLIFT_VERIFY"]
    with open(os.path.join(folder, "task.json"), encoding="utf-8") as file:
        task = json.load(file)
    from .redirect import redirect

    redirect(task["tree"], task["copy"])
    spool = Telling(folder)
    endings = []
    if task["returns"]:
        from .returns import note_returns

        endings.append(note_returns(spool, task["copy"]))

    def leave() -> None:
        files = [[name, getattr(module, "__file__", None)] for name, module in list(sys.modules.items())]
        places = (task["tree"] + os.sep, task["copy"] + os.sep)
        spool.tell("modules", files=[pair for pair in files if isinstance(pair[1], str) and pair[1].startswith(places)])
        for end in endings:
            end()

    atexit.register(leave)
    if "PYTEST_CURRENT_TEST" not in os.environ:
        from .outcomes import wait_for_pytest

        wait_for_pytest(spool, task["tests"], leave)
