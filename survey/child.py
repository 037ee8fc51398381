"""One repository in a process of its own, so that whatever becomes of it costs one row.

`python -m torchlift.survey.child` reads a question as JSON from standard input and writes a record as JSON to standard output.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchlift.json_records.writing import plain
from torchlift.lazy_dataclass import dataclass
from torchlift.survey.record import Surveyed, surveyed

_UNCHANGED = "unchanged"


@dataclass(frozen=True)
class ChildLimits:
    """What one repository may cost.

    Attributes:
        seconds: of time.
        memory: bytes of address space; 0 for any number.
    """

    seconds: float = 600.0
    memory: int = 4_000_000_000


def answer(question: dict[str, Any], limits: ChildLimits) -> Surveyed | None:
    """What is known of a repository; None if nothing has changed since it was last looked at. Never raises for what it holds.

    Args:
        question: the fields of an `examination.SurveyQuestion`.
        limits: when to give up.
    """
    begun = time.perf_counter()
    path = str(question["path"])
    known = Surveyed(path, Path(path).name)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "torchlift.survey.child", str(limits.memory)],
            stdin=subprocess.PIPE, stdout=out, stderr=said, start_new_session=True,
        )  # fmt: skip
        late = False
        try:
            process.communicate(json.dumps(question).encode(), timeout=limits.seconds)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        seconds = time.perf_counter() - begun
        out.seek(0)
        said.seek(0)
        text, last = out.read(), said.read()[-2000:].decode("utf-8", "replace").strip().rpartition("\n")[2]
    if late:
        problem = f"It took longer than {limits.seconds:g} s (`--timeout`)."
        return replace(known, status="too slow", problem=problem, seconds=seconds)
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        return replace(known, status="killed", problem=f"Its process was killed ({name}).", seconds=seconds)
    try:
        sent = json.loads(text)
        if sent == _UNCHANGED:
            return None
        return replace(surveyed(sent), seconds=seconds)
    except (ValueError, KeyError, TypeError):
        told = f": {last}" if last else ""
        problem = f"Its process ended with status {process.returncode} and without a record{told}."
        return replace(known, status="failed", problem=problem, seconds=seconds)


def main() -> None:
    """Answer the question on standard input."""
    import resource

    memory = int(sys.argv[1])
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # What anything prints on the way is no part of the record.
    out = os.dup(1)
    os.dup2(2, 1)
    text = json.dumps(_record(json.load(sys.stdin)))
    with os.fdopen(out, "wb") as stream:
        stream.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.flush()
    os._exit(0)


def _record(asked: dict[str, Any]) -> Any:
    import resource

    from torchlift.survey.examination import SurveyQuestion, examined, state_of

    question = SurveyQuestion(**asked)
    try:
        state = state_of(question)
        if state and state == question.known:
            return _UNCHANGED
        found = examined(question, state)
    except MemoryError:
        problem = "It needs more memory than it was given (`--memory`)."
        found = Surveyed(question.path, Path(question.path).name, "failed", problem)
    except OSError as error:
        problem = f"It cannot be read: {error.strerror or error} ({error.filename or question.path})."
        found = Surveyed(question.path, Path(question.path).name, "refused", problem)
    except Exception as error:
        problem = f"A defect of torchlift: {type(error).__name__}: {error}"
        found = Surveyed(question.path, Path(question.path).name, "failed", problem)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return plain(replace(found, cpu_seconds=used.ru_utime + used.ru_stime, peak_bytes=_peak(used.ru_maxrss)))


def _peak(largest: int) -> int:
    """Bytes of memory at most; what `getrusage` says on Linux is at least what the process had before it became Python."""
    if sys.platform == "darwin":
        return largest
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return largest * 1024


if __name__ == "__main__":
    main()
