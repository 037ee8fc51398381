"""What the comparison of an archive with a program says of it, in the words of `torchlift.testing`."""

from __future__ import annotations

from dataclasses import replace

from torchlift.convert.road.record import ComparedCase, Conversion
from torchlift.convert.road.step import CaseDifferences, Exported
from torchlift.testing.difference import Mismatch
from torchlift.testing.verdict import Verdict, judge, worst

_GIVEN = "inputs as given"


def verdict_on(
    start: Conversion, made: Exported, cases: list[CaseDifferences], problem: str, allowed: frozenset[str]
) -> Conversion:
    """What the compared cases say of a program.

    Args:
        start: what is known of the method.
        made: how the program was made.
        cases: what was compared.
        problem: why the comparison did not come to its end; empty if it did.
        allowed: names of cases that may differ.
    """
    compared, verdicts = [], []
    for case in cases:
        mismatches = [
            Mismatch(path, aspect, left, right, extent) for aspect, path, left, right, extent in case.differences
        ]
        verdicts_of = judge(mismatches, None)
        verdict = worst([one for one, _ in verdicts_of])
        lines = list(dict.fromkeys(_difference(one) for _, one in verdicts_of))
        compared.append(ComparedCase(case.case, case.given, case.calls, verdict.value, lines))
        if case.case not in allowed - {_GIVEN}:
            verdicts.append(verdict)
    done = replace(start, way=made.way, cases=compared, fixed_sizes=made.fixed)
    notes = ["Named tuples come back as plain tuples."] * made.plain
    notes += [
        "A branch that no case takes is not compared, and an output carries gradients if that of any branch does."
    ] * made.flow
    for note in notes:
        done = replace(done, assumption=f"{done.assumption} {note}".strip())
    if problem or not compared:
        return replace(
            done, outcome="failed", said=f"the comparison did not come to its end: {problem or 'no case ran'}"
        )
    found = worst(verdicts)
    if found is Verdict.SAME:
        skipped = [case.name for case in compared if case.verdict != Verdict.SAME.value]
        more = f", allowed to differ: {', '.join(skipped)}" if skipped else ""
        calls = sum(case.calls for case in compared)
        return replace(
            done, outcome="same", said=f"{Verdict.SAME.value} in {calls} calls of {len(compared)} cases{more}"
        )
    first = next(
        case for case in compared if case.name not in allowed - {_GIVEN} and case.verdict != Verdict.SAME.value
    )
    return replace(done, outcome="differs", said=f"{found.value}: {first.name}: {first.differences[0]}")


def _difference(one: Mismatch) -> str:
    what = {"error": "", "values": ""}.get(one.aspect, f"{one.aspect}: ")
    extent = f" ({one.extent})" if one.extent else ""
    return f"{one.path}: {what}TorchScript {one.left}, migrated {one.right}{extent}"


def unequal(done: Conversion) -> list[str]:
    """The names of the cases that are not the same; many where none was compared."""
    return [case.name for case in done.cases if case.verdict != Verdict.SAME.value] or ["all"] * 99 * (not done.cases)
