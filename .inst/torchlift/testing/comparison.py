"""The result of comparing captures: the verdict, every difference, and how they read."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.lazy_dataclass import dataclass
from torchlift.testing.difference import Mismatch
from torchlift.testing.variant import Failure, Variant
from torchlift.testing.verdict import Verdict


class CapturesDiffer(AssertionError):
    """Raised by `Comparison.raise_if_different`; the message is the whole report."""


@dataclass(frozen=True)
class Difference:
    """One difference of the migrated code from the old one.

    Attributes:
        verdict: what it means.
        mismatch: which part of the output or input differs, and both sides.
        loaded: whether it shows after saving and loading.
        old: what the left side of the mismatch is: `TorchScript` or `eager`.
        eager: what eager does there, in short; empty if eager was not asked or did not run.
    """

    verdict: Verdict
    mismatch: Mismatch
    loaded: bool = False
    old: str = "TorchScript"
    eager: str = ""

    @property
    def where(self) -> str:
        """The inputs and the call that show it; empty where no calls were compared."""
        call = self.mismatch.call
        if call is None:
            return ""
        where = f"{call.case} ({call.given}), call {call.number}"
        if call.seed:
            where += f", seed {call.seed}"
        return f"{where}, after save and load" if self.loaded else where

    def __str__(self) -> str:
        mismatch = self.mismatch
        what = {"error": "", "structure": "structure: ", "values": ""}.get(mismatch.aspect, f"{mismatch.aspect}: ")
        sides = f"{self.old} {mismatch.left}, migrated {mismatch.right}"
        extent = f" ({mismatch.extent})" if mismatch.extent else ""
        eager = f"; {self.eager}" if self.eager else ""
        place = ": ".join(part for part in (self.where, mismatch.path) if part)
        return f"{place}: {what}{sides}{extent}{eager}"


@dataclass(frozen=True)
class Comparison:
    """What `compare_captures` found.

    Attributes:
        verdict: the worst of what was found.
        differences: every difference; many may have one cause.
        notes: what was seen but is no difference of the calls: `.training`, the state dict, what was not tried.
        failures: variants that gave nothing, or not everything, to compare.
        calls: how many calls of the migrated value were compared.
        variants: everything that was observed.
    """

    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    calls: int = 0
    variants: tuple[Variant, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.verdict.value} ({self.calls} call{'s' * (self.calls != 1)} compared)"]
        lines += [f"  {failure.text}" for failure in self.failures]
        for verdict in sorted(Verdict, key=lambda one: -one.severity):
            found = [difference for difference in self.differences if difference.verdict is verdict]
            if found and verdict is not self.verdict:
                lines.append(f"{verdict.value}:")
            lines += [f"  {line}" for line in _grouped(found)]
        lines += [f"note: {note}" for note in self.notes]
        for failure in self.failures:
            lines += ["", *failure.detail.splitlines()] if failure.detail else []
        return "\n".join(lines)

    def raise_if_different(self, accept: Iterable[Verdict] = ()) -> None:
        """Nothing if the verdict is `SAME` or one of `accept`.

        Args:
            accept: further verdicts that are right, for example `[Verdict.TORCHSCRIPT_WRONG]`.

        Raises:
            CapturesDiffer: an AssertionError with the whole report.
        """
        if self.verdict is not Verdict.SAME and self.verdict not in accept:
            raise CapturesDiffer(str(self))


def _grouped(found: list[Difference]) -> list[str]:
    """One line per part that differs: the first call that shows it, and how many others do."""
    groups: dict[tuple[str, str], list[Difference]] = {}
    for difference in found:
        groups.setdefault((difference.mismatch.path, difference.mismatch.aspect), []).append(difference)
    lines = []
    for group in groups.values():
        more = f" (and {len(group) - 1} more like this)" if len(group) > 1 else ""
        lines.append(f"{group[0]}{more}")
    return lines
