"""What can be known of a module before it is captured."""

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
class CapturedModule:
    """The module instance that is traced.

    Attributes:
        expression: a description for messages.
        evaluated: whether `.eval()` surely ran on it before the capture, and `.train()` not since.
        moved: whether it (or its parameters) may be on another device than the CPU.
        stateful: whether it has layers whose behaviour depends on train and eval mode.
        parameters: number of positional parameters of `forward`, without `self`; None if unknown.
        required: how many of them have no default; None if unknown.
        doubts: everything that speaks against a safe rewrite.
    """

    expression: str
    evaluated: bool = False
    moved: bool = False
    stateful: bool = True
    parameters: int | None = None
    required: int | None = None
    doubts: list[CaptureDoubt] = field(default_factory=list)


@dataclass
class ClassFacts:
    """What is known of a module made by a call.

    Attributes:
        stateful, parameters, required, doubts: as in `CapturedModule`.
        fresh: whether its result is always a new tensor.
        changes_input: whether it changes the tensor it is called with in place.
    """

    stateful: bool = False
    parameters: int | None = None
    required: int | None = None
    doubts: list[CaptureDoubt] = field(default_factory=list)
    fresh: bool = False
    changes_input: bool = False
