"""Really imports torch, in a process of its own: the only proof that its libraries load, and seconds dear."""

# ruff: noqa: PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torchlift.doctor.facts import Facts, ProbeFailure
from torchlift.doctor.probes.child import Child, ChildResult
from torchlift.doctor.probes.text import printable

TIMEOUT = 180.0
"""Seconds. 10 on two cores with warm files; a cold network file system takes a minute and more."""

_CUDA_LIBRARY = re.compile(
    r"lib(cudart|cublas|cublasLt|cudnn\w*|nccl|nvrtc[\w-]*|cufft\w*|cufile\w*|cusparse\w*|cusolver\w*|curand|cupti|nvJitLink"
    r"|nvshmem\w*|nvToolsExt)[.-]"
)


def start(python: str, environment: Mapping[str, str] | None = None, timeout: float | None = None) -> Child:
    """Start the import under the interpreter `python`; `environment` None inherits."""
    script = Path(__file__).with_name("torch_import_child.py")
    return Child((python, str(script)), None, timeout or TIMEOUT, environment).start()


def read(result: ChildResult, facts: Facts) -> None:
    """Put the answer into `facts.torch`, which has to be there; never raises."""
    torch = facts.torch
    if torch is None:
        return
    value: dict[str, Any] = result.value if isinstance(result.value, dict) else {}
    imported = value.get("imported")
    if imported is None:
        # Nothing was said before the end, so the import itself is what ended it.
        torch.import_outcome = "timeout" if result.outcome == "stuck" else result.outcome
        if torch.import_outcome == "ok":
            torch.import_outcome = "error"
        torch.import_error = result.detail or "It ended without an answer"
        torch.import_seconds = round(result.seconds, 3)
        return
    torch.import_outcome = "ok" if imported else "error"
    torch.import_error = printable(str(value["error"])) if value.get("error") else None
    torch.import_seconds = value.get("seconds")
    available = value.get("cuda_available")
    torch.cuda_available = available if isinstance(available, bool) else None
    torch.foreign_libraries = _foreign(value.get("mapped") or [], facts)
    if result.outcome != "ok":
        failure = ProbeFailure("torch-import", result.outcome, result.detail, result.signal, result.seconds)
        facts.failures.append(failure)


def _foreign(mapped: Iterable[str], facts: Facts) -> list[str]:
    own = [os.path.realpath(folder) + os.sep for folder in (facts.python.prefix, *facts.python.path) if folder]
    if facts.torch is not None:
        own.append(os.path.dirname(os.path.realpath(facts.torch.path)) + os.sep)
    # /usr as the prefix of the system's Python would make every library of the system its own.
    own = [folder for folder in own if folder not in ("/usr/", "/", "/usr/local/")]
    return [
        printable(path)
        for path in sorted(set(mapped))
        if _CUDA_LIBRARY.match(os.path.basename(path)) and not os.path.realpath(path).startswith(tuple(own))
    ]
