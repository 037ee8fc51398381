"""What is said of requirements that torch's next release is left out by."""

from __future__ import annotations

import re

from torchlift.dependencies.assignments import excluded_lines
from torchlift.dependencies.pin import Pin
from torchlift.finding import Finding, Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.dependencies.moves.holding import is_named_after
from torchlift.rules.dependencies.wheels.builds import Line, spelled
from torchlift.rules.dependencies.wheels.companions import torch_for
from torchlift.view.text import TextView

LAST_OF_TORCHTEXT = (2, 3)
"""Release of torch that the last torchtext was made for."""
IS_LOWEST = lazy_pattern(r"(?:^|[-_./])(?:min|minimum|minimal|lowest|oldest|legacy)(?=[-_./]|\Z)")
"""The name of a file that holds the lowest releases."""
_BESIDE = lazy_pattern(r"(?:^|/)(?:docs?|examples?|tests?|benchmarks?)/")


def is_excluded(view: TextView, offset: int) -> bool:
    """Whether a matrix of YAML excludes what stands at `offset`."""
    return max((line.start for line in view.lines if line.start <= offset), default=-1) in excluded_lines(view)


def ended(view: TextView, pin: Pin, target: Line) -> Finding:
    """The finding for a requirement of torchtext, which no release comes after."""
    message = (
        f"{_asked(pin)}: torchtext ended with 0.18, for torch 2.3, and its compiled library need not load under "
        f"torch {spelled(target)}."
    )
    severity = Severity.WARNING if _decides(view, pin) else Severity.INFO
    help = "Take what is used of it into the project, or do without: `torchlift migrate` tells where the code imports it (TL402)."
    return Finding("TL309", view.path, pin.span, message, severity, help)


def told(view: TextView, pin: Pin, target: Line) -> tuple[Severity, str]:
    """What a requirement that leaves the target out keeps from whom, and how much that matters."""
    asked = _asked(pin)
    belongs = torch_for(pin.name, pin.exact.public) if pin.exact and not pin.is_torch else None
    whose = f", which belongs to torch {belongs}," if belongs else ""
    moves = f"torch {spelled(target)}, which this project moves to"
    if _decides(view, pin):
        # What a companion's own metadata asks of torch is in no table for old ones.
        return Severity.WARNING, f"{asked}{whose} {'keeps out' if pin.is_torch else 'does not go with'} {moves}."
    if not pin.is_torch and not belongs:
        return Severity.INFO, f"{asked} here does not go with {moves}."
    state = f"belongs to torch {belongs} and not to" if belongs else "here is older than"
    return Severity.INFO, f"{asked} {state} {moves}."


def _asked(pin: Pin) -> str:
    asked = " ".join(pin.text.partition(";")[0].split())
    asked = asked if pin.name in asked.lower() else f"{pin.name} {asked}"
    return f"torch {pin.file}" if pin.file else f"`{asked}`"


def _decides(view: TextView, pin: Pin) -> bool:
    """Whether a requirement says what users get, and not only what a job, a test or a page has."""
    job = view.kind in {"yaml", "makefile"} or view.path.endswith("tox.ini")
    shown = view.kind == "markdown" or (view.path.endswith(".py") and view.kind == "shell")
    if shown or (job and not pin.group):
        return False
    return not (_BESIDE.search(view.path) or IS_LOWEST.search(view.path) or _is_for_tests(pin) or is_named_after(pin))


def _is_for_tests(pin: Pin) -> bool:
    return re.search(r"\b(?:testenv|tests?|docs?|dev|lint)\b", pin.group) is not None
