"""What a rule says about one use of `torch.jit.script` on a function or a class."""

from __future__ import annotations

from torchlift.finding import Fix
from torchlift.lazy_dataclass import dataclass


@dataclass(frozen=True)
class UseAdvice:
    """What to say about one use: the help text, and the fix if there is one."""

    help: str | None
    fix: Fix | None = None
