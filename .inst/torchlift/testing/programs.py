"""Runs whole programs under torch, and compares an old one with its migrated form and with itself without TorchScript."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from torchlift.lazy_dataclass import dataclass
from torchlift.testing.comparison import CapturesDiffer, Difference
from torchlift.testing.difference import Mismatch, Tolerance, mismatches
from torchlift.testing.nodes import Container, Node, Observed, Raised, short
from torchlift.testing.processes import FreshProcesses, fresh_processes
from torchlift.testing.program_job import ProgramResult, ProgramTask
from torchlift.testing.ranks import failed_ranks, run_ranks
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
        old, eager, new: the three results; `eager` is the old program with TorchScript switched off, None where ranks
            are compared. `Raised` where a program failed: for `eager` that is allowed. With ranks, containers of the
            results of all ranks of all world sizes that were run.
        trace: traceback of the program that failed, if the verdict is `FAILED` or `RAISES`.
    """

    verdict: Verdict
    differences: tuple[Difference, ...]
    old: Node
    eager: Node | None
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
    ranks: int | None = None,
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
        ranks: how many processes run the program and `run` at the same time, each with the environment that `torchrun`
            sets (on this machine only, so gloo works) and with one thread. The result is then a container of the results
            of all ranks, of which those that failed are `Raised`. None for one process without that environment.
        folder: where its files are written and where it runs; None for a temporary one.
        timeout: seconds until it is killed.
        processes: where it runs; None for those that this Python process shares.

    Raises:
        TorchUnavailable: if torch is not installed.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="torchlift-") as name:
            return run_program(
                program, run, eager=eager, ranks=ranks, folder=Path(name), timeout=timeout, processes=processes
            )
    for path, text in {**program.files, "example.py": program.code}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    task = ProgramTask(program.code, run, eager)
    processes = processes or fresh_processes()
    if ranks is not None:
        return run_ranks(task, ranks, folder=str(folder), timeout=timeout, processes=processes)
    ending = processes.run(_JOB, task, folder=str(folder), timeout=timeout)
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
    ranks: Sequence[int] = (),
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
        ranks: world sizes. Given some, both programs are run with each of them, and compared rank by rank; the old one is
            not run with TorchScript switched off. The first world size that fails is the last.
        tolerance: for floating point values.
        folder: where the three run, each in a folder of its own; None for temporary ones.
        timeout: seconds for each, and for each world size.
        processes: where they run; None for those that this Python process shares.
    """
    tolerance = tolerance or Tolerance()
    if ranks:
        return _compare_ranks(
            old, new, run, ranks, tolerance=tolerance, folder=folder, timeout=timeout, processes=processes
        )

    def ran(program: Program, name: str, eager: bool = False) -> ProgramResult:
        place = None if folder is None else folder / name
        return run_program(program, run, eager=eager, folder=place, timeout=timeout, processes=processes)

    was, plain, now = ran(old, "old"), ran(old, "eager", eager=True), ran(new, "new")
    results = (was.result, plain.result, now.result)
    if isinstance(was.result, Raised):
        return ProgramComparison(Verdict.FAILED, (), *results, trace=was.trace)
    if useless := [seen for seen in _observations(was.result) if seen.always_raised]:
        return ProgramComparison(Verdict.FAILED, (), *results, trace=_nothing_compared(useless[0]))
    from_eager = None if isinstance(plain.result, Raised) else mismatches(plain.result, now.result, tolerance, _ROOT)
    differences = tuple(
        Difference(verdict, mismatch, eager=_eager_words(mismatch, was.result, plain.result, tolerance, verdict))
        for verdict, mismatch in judge(mismatches(was.result, now.result, tolerance, _ROOT), from_eager)
    )
    return ProgramComparison(worst([one.verdict for one in differences]), differences, *results, trace=now.trace)


def _compare_ranks(
    old: Program,
    new: Program,
    run: str,
    ranks: Sequence[int],
    *,
    tolerance: Tolerance,
    folder: Path | None,
    timeout: float,
    processes: FreshProcesses | None,
) -> ProgramComparison:
    differences: list[Difference] = []
    olds: list[tuple[str, Node]] = []
    news: list[tuple[str, Node]] = []

    def ran(program: Program, name: str, size: int) -> ProgramResult:
        place = None if folder is None else folder / f"{name}{size}"
        return run_program(program, run, ranks=size, folder=place, timeout=timeout, processes=processes)

    def found(verdict: Verdict, trace: str = "") -> ProgramComparison:
        results = Container("ranks", tuple(olds)), None, Container("ranks", tuple(news))
        return ProgramComparison(verdict, tuple(differences), *results, trace=trace)

    for size in ranks:
        was = ran(old, "old", size)
        assert isinstance(was.result, Container)
        olds += was.result.items
        if failed_ranks(was):
            return found(Verdict.FAILED, was.trace)
        if useless := [seen for seen in _observations(was.result) if seen.always_raised]:
            return found(Verdict.FAILED, _nothing_compared(useless[0]))
        now = ran(new, "new", size)
        assert isinstance(now.result, Container)
        news += now.result.items
        judged = judge(mismatches(was.result, now.result, tolerance, _ROOT), None)
        differences += [Difference(verdict, mismatch, old="the old program") for verdict, mismatch in judged]
        if failed_ranks(now):
            return found(worst([one.verdict for one in differences]), now.trace)
    return found(worst([one.verdict for one in differences]))


def _nothing_compared(observed: Observed) -> str:
    return (
        f"Every call that the old program observed raised, so nothing was compared. {short(observed.calls[0].outcome)}"
    )


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
