"""Proof that a rewritten example does what the old one did, with no more runs than the answer takes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from exhaustive import is_exhaustive

from torchlift.testing import FreshProcesses, Program, ProgramComparison, Verdict, compare_programs, run_program
from torchlift.testing.difference import Tolerance, mismatches
from torchlift.testing.nodes import Container, Node, Observed, Raised
from torchlift.testing.processes import Ending


def compared(
    old: Program,
    new: Program,
    run: str,
    *,
    ranks: Sequence[int] = (),
    folder: Path | None = None,
    timeout: float = 300.0,
    processes: FreshProcesses,
) -> ProgramComparison:
    """As `compare_programs`. Unless the run is exhaustive, the old program is run with TorchScript switched off only where
    the results differ, since nothing else asks for it, and ranks are compared in a world of one size.
    """
    if ranks:
        sizes = ranks if is_exhaustive() else (_telling(ranks),)
        return compare_programs(old, new, run, ranks=sizes, folder=folder, timeout=timeout, processes=processes)
    if not is_exhaustive():
        processes = RememberingProcesses(processes)
        was, now = (
            run_program(program, run, folder=folder and folder / name, timeout=timeout, processes=processes).result
            for name, program in (("quick old", old), ("quick new", new))
        )
        if _says_something(was) and not mismatches(was, now, Tolerance(), "result"):
            return ProgramComparison(Verdict.SAME, (), was, None, now)
    return compare_programs(old, new, run, folder=folder, timeout=timeout, processes=processes)


class RememberingProcesses(FreshProcesses):
    """Runs each program once, with each set of files around it: most old ones are compared with several new ones.

    Args:
        processes: where they run.
    """

    def __init__(self, processes: FreshProcesses) -> None:
        super().__init__()
        self._processes = processes
        self._endings: dict[bytes, Ending] = {}

    def run(self, target: str, task: Any, *, folder: str | None = None, timeout: float = 600.0) -> Ending:
        root = Path(folder or ".")
        files = [(path.relative_to(root), path.read_bytes()) for path in sorted(root.rglob("*")) if path.is_file()]
        key = pickle.dumps((target, task, files))
        if key not in self._endings:
            self._endings[key] = self._processes.run(target, task, folder=folder, timeout=timeout)
        return self._endings[key]


def _telling(ranks: Sequence[int]) -> int:
    """Three, if it is one of them: fewest of which one has two different neighbours, and odd and even ones do not pair up."""
    return 3 if 3 in ranks else ranks[-1]


def _says_something(result: Node) -> bool:
    return not isinstance(result, Raised) and not any(seen.always_raised for seen in _observations(result))


def _observations(node: Node) -> Iterator[Observed]:
    if isinstance(node, Observed):
        yield node
    elif isinstance(node, Container):
        for _, item in node.items:
            yield from _observations(item)
