"""What reading a class tells of its modules."""

from __future__ import annotations

from dataclasses import field

from torchlift.finding import Safety
from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class CaptureDoubt:
    """A reason why capture by export might differ from the trace.

    Attributes:
        reason: a clause: "`forward` branches on its input (line 12)".
        safety: `UNSAFE` if it may be fine, `MANUAL` if export surely fails or differs.
    """

    reason: str
    safety: Safety = Safety.UNSAFE


@dataclass
class ClassFacts:
    """What is known of a module made by a call.

    Attributes:
        stateful, parameters, required, doubts: as in `captured_module.CapturedModule`.
        fresh: whether its result is always a new tensor.
        changes_input: whether it changes the tensor it is called with in place.
    """

    stateful: bool = False
    parameters: int | None = None
    required: int | None = None
    doubts: list[CaptureDoubt] = field(default_factory=list)
    fresh: bool = False
    changes_input: bool = False
