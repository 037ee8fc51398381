"""Runs whole programs under torch, and compares an old one with its migrated form and with itself without TorchScript."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torchlift.testing.comparison import CapturesDiffer, Difference
from torchlift.testing.difference import Mismatch, Tolerance, mismatches
from torchlift.testing.nodes import Container, Node, Observed, Raised, short
from torchlift.testing.processes import FreshProcesses, fresh_processes
from torchlift.testing.program_job import ProgramResult, ProgramTask
from torchlift.testing.verdict import Verdict, judge, worst

_JOB = "torchlift.testing.program_job:run_program_task"
_ROOT = "result"


@dataclass(frozen=True)
class Program:
    """A program of one or more files.

    Attributes:
        code: the main module; it is run as `example.py`, as `__main__`.
        files: further files, by path.
    """

    code: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProgramComparison:
    """What `compare_programs` found.

    Attributes:
        verdict: the worst of what was found.
        differences: every difference of the new program's `result` from the old one's.
        old, eager, new: the three results; `eager` is the old program with TorchScript switched off. `Raised` where a
            program failed: for `eager` that is allowed.
        trace: traceback of the program that failed, if the verdict is `FAILED` or `RAISES`.
    """

    verdict: Verdict
    differences: tuple[Difference, ...]
    old: Node
    eager: Node
    new: Node
    trace: str = ""

    def __str__(self) -> str:
        lines = [self.verdict.value, *(f"  {difference}" for difference in self.differences)]
        if isinstance(self.eager, Raised):
            lines.append(f"note: the old program does not run with TorchScript switched off: {short(self.eager)}")
        return "\n".join([*lines, "", self.trace] if self.trace else lines)

    def raise_if_different(self) -> None:
        """Nothing if the verdict is `SAME`.

        Raises:
            CapturesDiffer: an AssertionError with the whole report.
        """
        if self.verdict is not Verdict.SAME:
            raise CapturesDiffer(str(self))


def run_program(
    program: Program,
    run: str = "",
    *,
    eager: bool = False,
    folder: Path | None = None,
    timeout: float = 300.0,
    processes: FreshProcesses | None = None,
) -> ProgramResult:
    """The `result` that a program leaves, described, from a fresh process.

    Args:
        program: what is run.
        run: statements that are run after it in the same namespace. They may call `observe(value, *args, **kwargs)`, which
            calls `value` with these and with changed inputs, twice each, and gives data to compare.
        eager: whether TorchScript is switched off.
        folder: where its files are written and where it runs; None for a temporary one.
        timeout: seconds until it is killed.
        processes: where it runs; None for those that this Python process shares.

    Raises:
        TorchUnavailable: if torch is not installed.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="torchlift-") as name:
            return run_program(program, run, eager=eager, folder=Path(name), timeout=timeout, processes=processes)
    folder.mkdir(parents=True, exist_ok=True)
    task = ProgramTask({**program.files, "example.py": program.code}, program.code, run, eager)
    ending = (processes or fresh_processes()).run(_JOB, task, folder=str(folder), timeout=timeout)
    for record in ending.records:
        if isinstance(record, ProgramResult):
            return record
    how = f"crashed ({ending.reason})" if ending.how == "crashed" else f"did not end within {timeout:g} seconds"
    return ProgramResult(Raised("Crash", f"the program {how}"), ending.output)


def compare_programs(
    old: Program,
    new: Program,
    run: str = "",
    *,
    tolerance: Tolerance | None = None,
    folder: Path | None = None,
    timeout: float = 300.0,
    processes: FreshProcesses | None = None,
) -> ProgramComparison:
    """Runs the old program, the old one with TorchScript switched off, and the new one, and compares what they leave.

    Args:
        old: the program with TorchScript.
        new: the migrated program.
        run: statements run after each of them; see `run_program`. They assign `result`.
        tolerance: for floating point values.
        folder: where the three run, each in a folder of its own; None for temporary ones.
        timeout: seconds for each.
        processes: where they run; None for those that this Python process shares.
    """
    tolerance = tolerance or Tolerance()

    def ran(program: Program, name: str, eager: bool = False) -> ProgramResult:
        place = None if folder is None else folder / name
        return run_program(program, run, eager=eager, folder=place, timeout=timeout, processes=processes)

    was, plain, now = ran(old, "old"), ran(old, "eager", eager=True), ran(new, "new")
    results = (was.result, plain.result, now.result)
    if isinstance(was.result, Raised):
        return ProgramComparison(Verdict.FAILED, (), *results, trace=was.trace)
    if useless := [seen for seen in _observations(was.result) if seen.always_raised]:
        text = f"Every call that the old program observed raised, so nothing was compared. {short(useless[0].calls[0].outcome)}"
        return ProgramComparison(Verdict.FAILED, (), *results, trace=text)
    from_eager = None if isinstance(plain.result, Raised) else mismatches(plain.result, now.result, tolerance, _ROOT)
    differences = tuple(
        Difference(verdict, mismatch, eager=_eager_words(mismatch, was.result, plain.result, tolerance, verdict))
        for verdict, mismatch in judge(mismatches(was.result, now.result, tolerance, _ROOT), from_eager)
    )
    return ProgramComparison(worst([one.verdict for one in differences]), differences, *results, trace=now.trace)


def _observations(node: Node) -> Iterator[Observed]:
    if isinstance(node, Observed):
        yield node
    elif isinstance(node, Container):
        for _, item in node.items:
            yield from _observations(item)


def _eager_words(mismatch: Mismatch, old: Node, eager: Node, tolerance: Tolerance, verdict: Verdict) -> str:
    if isinstance(eager, Raised) or verdict is Verdict.TORCHSCRIPT_WRONG:
        return ""
    alike = not any(mismatch.overlaps(other) for other in mismatches(old, eager, tolerance, _ROOT))
    return "eager agrees with TorchScript" if alike else "eager agrees with neither"
