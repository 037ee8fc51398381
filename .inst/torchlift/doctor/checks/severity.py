"""How bad it is when CUDA cannot be used."""

from __future__ import annotations

from torchlift.doctor.check import Status
from torchlift.doctor.facts import Facts


def breaks_torch(facts: Facts) -> Status:
    """How bad it is when CUDA cannot be used: a warning where the installed torch would not use it anyway, and no more
    than worth knowing where that torch is built for another vendor's GPUs."""
    if facts.torch is None or facts.torch.cuda is not None:
        return "problem"
    return "warning" if facts.torch.hip is None and facts.torch.xpu is None else "note"
