"""What a rule says about one use of `torch.jit.script` on a function or a class."""

from __future__ import annotations

from torchlift.finding import Fix
from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class UseAdvice:
    """What to say about one use: the help text, the fix if there is one, and what it rests on."""

    help: str | None
    fix: Fix | None = None
    notes: tuple[str, ...] = ()
