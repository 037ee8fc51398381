"""What hooks tell the recorder: a file for each process, one JSON object a line.

Each line is written by opening, appending and closing: a program may close files that it does not know, fork at any moment,
or be killed; whatever was seen until then is on disk.
"""

from __future__ import annotations

import json
import os
from typing import Any

_PROBLEMS = 50


class Spool:
    """The file of this process, and what the recorder asked for.

    Attributes:
        folder: where the recorder collects.
        root: the project.
        options: `prover` (folder of the prover), `limits` (of the prover), `keep_inputs` (folder).
    """

    def __init__(self) -> None:
        self.folder = os.environ.get("TORCHLIFT_SPOOL", "")
        self.root = os.path.realpath(os.environ.get("TORCHLIFT_ROOT") or os.getcwd())
        self.options = json.loads(os.environ.get("TORCHLIFT_RECORD") or "{}")
        self._problems: dict[Any, int] = {}
        self._started = 0
        self.numbers = 0

    def write(self, event: dict[str, Any]) -> None:
        """Append one event. Raises OSError where that is not possible."""
        pid = os.getpid()
        line = json.dumps(event, separators=(",", ":")) + "\n"
        if self._started != pid:
            self._started = pid
            line = json.dumps({"e": "process", "pid": pid}) + "\n" + line
        path = os.path.join(self.folder, f"{pid}.jsonl")
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            os.write(handle, line.encode("ascii"))
        finally:
            os.close(handle)

    def number(self) -> Any:
        """An identifier that no other object of the run has."""
        self.numbers += 1
        return f"{os.getpid()}-{self.numbers}"

    def problem(self, what: str, error: BaseException | None = None, site: Any = None) -> None:
        """Tell once what could not be seen; never raises."""
        kind = "" if error is None else type(error).__name__
        key = (what, kind, site)
        seen = self._problems.get(key, 0)
        self._problems[key] = seen + 1
        if seen or len(self._problems) > _PROBLEMS:
            return
        try:
            text = "" if error is None else f"{kind}: {error}".splitlines()[0][:200]
            self.write({"e": "problem", "what": what, "error": text, "site": site})
        except Exception:  # noqa: S110, BLE001, RUF100  (a full disk: the file of this process ends here, which the recorder sees)
            pass


SPOOL = Spool()
