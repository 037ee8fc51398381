"""Three descriptions of the same thing, and which of them is the odd one out."""

from __future__ import annotations

from enum import Enum

from torchlift.testing.difference import Mismatch


class Verdict(Enum):
    """What a comparison found, from best to worst."""

    SAME = "same"
    TORCHSCRIPT_WRONG = "TorchScript was the odd one out: migrated agrees with eager"
    RAISES = "migrated raises where the old code worked"
    DIFFERS = "migrated differs"
    FAILED = "could not be compared"

    @property
    def severity(self) -> int:
        """0 for `SAME`; higher is worse."""
        return list(Verdict).index(self)


def judge(from_old: list[Mismatch], from_eager: list[Mismatch] | None) -> list[tuple[Verdict, Mismatch]]:
    """What each difference between the old and the migrated code means.

    Args:
        from_old: differences of the migrated code (`right`) from TorchScript (`left`).
        from_eager: differences of the migrated code from eager; None if eager did not run.
    """
    judged = []
    for mismatch in from_old:
        if from_eager is not None and not any(mismatch.overlaps(other) for other in from_eager):
            verdict = Verdict.TORCHSCRIPT_WRONG
        elif mismatch.aspect == "error" and mismatch.right.startswith("raised"):
            verdict = Verdict.RAISES
        else:
            verdict = Verdict.DIFFERS
        judged.append((verdict, mismatch))
    return judged


def worst(verdicts: list[Verdict]) -> Verdict:
    """The most severe one; `SAME` if there is none."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=Verdict.SAME)
