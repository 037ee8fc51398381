"""`import torch` works, where it was tried."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.doctor.check import Check, Evidence, Remedy, Result, ok, problem, warning
from torchlift.doctor.facts import Facts
from torchlift.doctor.remedies.package_commands import install, pinned

CHECK = Check(
    id="torch-import-fails",
    group="torch",
    title="import torch works",
    why=(
        "Nothing else matters while `import torch` fails. Usual texts are `undefined symbol: ncclCommResume` (a file of one "
        "NVIDIA package overwritten by another) and `libcudnn.so.9: cannot open shared object file` (a missing package)."
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/186591",
        "https://github.com/pytorch/pytorch/issues/176829",
    ),
)

_CAUSES = (
    (r"undefined symbol: \w*nccl", "two-nvidia-families"),
    (r"cannot open shared object file|DLL load failed|WinError 126", "missing-libraries"),
    (r"GLIBC(XX)?_[\d.]+' not found", "glibc-too-old"),
    (r"undefined symbol", "torch-version-files"),
    (r"No module named 'torch", "torch-missing"),
)
"""What the error text of a failed import points to."""


def look(facts: Facts) -> Iterator[Result]:
    torch = facts.torch
    if torch is None or torch.import_outcome in ("not-run", ""):
        return
    if torch.import_outcome == "ok":
        yield ok(f"import torch works ({torch.version})")
        return
    said = (torch.import_error or "").strip().splitlines()
    last = said[-1].strip().rstrip(".") if said else ""
    evidence = Evidence("import torch", last or torch.import_outcome, needed="no error", source=facts.python.executable)
    cause = next((check for pattern, check in _CAUSES if re.search(pattern, torch.import_error or "")), None)
    if torch.import_outcome == "timeout":
        yield warning("import torch did not end in time", evidence=(evidence,))
        return
    verb = "crashed" if torch.import_outcome == "crashed" else "fails"
    yield problem(
        f"import torch {verb}" + (f": {last}" if last else ""),
        evidence=(evidence,),
        remedy=Remedy(
            "Install it again with its requirements",
            install(facts, pinned("torch", torch.metadata_version or torch.version), reinstall=True),
        ),
        cause=cause,
    )
