"""How many files a process may open."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, note, ok, warning
from torchlift.doctor.derived.nvidia_driver import driver_answers
from torchlift.doctor.facts import Facts

CHECK = Check(
    id="open-files-limit",
    group="machine",
    title="A process may open enough files",
    why=(
        "Each tensor that a DataLoader worker hands over is an open file under torch's default sharing strategy. With a low "
        "limit: `RuntimeError: Too many open files. Communication with the workers is no longer possible`."
    ),
    sources=("https://docs.pytorch.org/docs/stable/multiprocessing.html#file-descriptor-file-descriptor",),
)

_USUAL = 1024


def look(facts: Facts) -> Iterator[Result]:
    limit = facts.system.open_files_limit
    # On macOS torch shares tensors through the file system, not through open files.
    if facts.system.os != "linux" or limit is None or limit == 0:
        return
    seen = Evidence("open files", str(limit), needed="65536", source="RLIMIT_NOFILE")
    if 0 < limit < _USUAL:
        yield warning(
            f"A process may open only {limit} files, fewer than torch's data loaders often need",
            evidence=(seen,),
            remedy=_remedy(facts),
        )
    elif limit == _USUAL and driver_answers(facts) and len(facts.gpus) > 1:
        yield note(
            f"A process may open {limit} files, which is little for data loaders of many workers",
            evidence=(seen,),
            remedy=_remedy(facts),
        )
    else:
        yield ok("A process may open enough files")


def _remedy(facts: Facts) -> Remedy:
    if facts.system.container:
        return Remedy("Start the container anew with --ulimit nofile=65536", "docker run --ulimit nofile=65536 IMAGE")
    return Remedy("Raise it in this shell, and for good in /etc/security/limits.conf", "ulimit -n 65536")
