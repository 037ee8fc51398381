"""From facts to findings: every check is run, a crash in one is a finding, and what follows from what is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from torchlift.doctor.check import Check, Result
from torchlift.doctor.facts import Facts
from torchlift.lazy_dataclass import dataclass

_REPLACED_BY_A_PLAN = ("torch", "packages")
"""Groups about the installed wheels, which a plan for another torch replaces."""


@dataclass(frozen=True)
class Diagnosed:
    """A result and the check it is from; `consequences` are findings whose cause this one is."""

    check: Check
    result: Result
    consequences: tuple[Diagnosed, ...] = ()

    def all(self) -> Iterator[Diagnosed]:
        """This finding and everything below it."""
        yield self
        for finding in self.consequences:
            yield from finding.all()


def diagnose(facts: Facts, checks: Sequence[Check]) -> tuple[Diagnosed, ...]:
    """Run the checks in the order given. Never raises.

    A result that names as its cause a check with a problem, or else a warning, is found below that; everything else,
    and what would go round in a circle, stands for itself.
    """
    if facts.hypothetical:
        return ()
    found = [Diagnosed(check, result) for check in checks for result in _results(check, facts)]
    return _by_cause(found)


def without_installed_wheels(facts: Facts, checks: Sequence[Check]) -> tuple[Facts, tuple[Check, ...]]:
    """The machine and the checks that matter when its torch is about to be replaced."""
    kept = tuple(check for check in checks if check.group not in _REPLACED_BY_A_PLAN)
    return replace(facts, torch=None, packages=[], shared_files=[], libraries=[]), kept


def _results(check: Check, facts: Facts) -> list[Result]:
    results: list[Result] = []
    try:
        # One at a time: what was found before the crash still counts.
        for result in check.look(facts):
            results.append(result)
    except Exception as error:
        results.append(_defect(check, error))
    return results


def _defect(check: Check, error: Exception) -> Result:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    reason = " ".join(str(error).split())
    named = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    return Result(
        "failed", f"The check {check.id} failed with a defect of its own, {named} (at {place}); please report it"
    )


def _by_cause(found: Sequence[Diagnosed]) -> tuple[Diagnosed, ...]:
    parents: dict[int, int] = {}
    for index, finding in enumerate(found):
        parent = _cause(found, index, finding)
        if parent is not None and not _is_above(parents, index, parent):
            parents[index] = parent
    children: dict[int, list[int]] = {}
    for index in sorted(parents):
        children.setdefault(parents[index], []).append(index)
    return tuple(_tree(found, children, index) for index in range(len(found)) if index not in parents)


def _cause(found: Sequence[Diagnosed], index: int, finding: Diagnosed) -> int | None:
    if finding.result.cause is None or finding.result.status not in ("problem", "warning", "note", "skipped"):
        return None
    for status in ("problem", "warning"):
        for other, candidate in enumerate(found):
            if other != index and candidate.check.id == finding.result.cause and candidate.result.status == status:
                return other
    return None


def _is_above(parents: Mapping[int, int], index: int, start: int) -> bool:
    at: int | None = start
    while at is not None:
        if at == index:
            return True
        at = parents.get(at)
    return False


def _tree(found: Sequence[Diagnosed], children: Mapping[int, Sequence[int]], index: int) -> Diagnosed:
    below = tuple(_tree(found, children, child) for child in children.get(index, ()))
    return replace(found[index], consequences=below)
