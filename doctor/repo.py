"""`doctor --repo`: whether this machine can run what a project asks for (see below)."""
from __future__ import annotations
from dataclasses import dataclass
from torchlift.doctor.check import Result

@dataclass(frozen=True)
class ProjectReport:
    """."""
    root: str
    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
