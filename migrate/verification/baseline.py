"""How the command runs without any fix, and what is wrong with a run that has some."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.verification.command_run import CommandRun, SingleTest
from torchlift.migrate.verification.complaint import Complaint, CopiedLine
from torchlift.migrate.verification.returned import Returned, returned_otherwise

_FRAME = lazy_pattern(r'File "(?P<path>[^"]+)", line (?P<line>\d+)')
# What pytest ends with: all passed, some failed. Everything else is no matter of single tests.
_OF_TESTS = frozenset({0, 1})


@dataclass(frozen=True)
class Baseline:
    """What is well without any fix.

    Attributes:
        status: exit status.
        seconds: of the slowest run.
        tests: outcomes of the tests in which all runs agree.
        unstable: tests in which they do not.
        failing: tests that fail without any fix, and files of tests that cannot be imported.
        returns: what functions return in all runs.
        modules: file by name of modules imported from the copy.
    """

    status: int
    seconds: float
    tests: Mapping[str, str] = field(default_factory=dict)
    unstable: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    returns: Returned = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Sequence[CommandRun]) -> Baseline:
        """What runs without any fix have in common; all of them ended with the same status."""
        first = runs[0]
        names = {name for run in runs for name in (*run.tests, *run.collections)}
        outcomes = {name: {_outcome(run, name) for run in runs} for name in names}
        returns = dict(first.returns)
        for run in runs[1:]:
            # In a test on random numbers, what is coarse agrees by chance: nothing in it is compared.
            random = {other.test for other in returned_otherwise(returns, run.returns)} - {""}
            differing = {other.key for other in returned_otherwise(returns, run.returns)}
            returns = {
                key: values
                for key, values in returns.items()
                if key not in differing and key[0] not in random and len(values) == len(run.returns.get(key, ()))
            }
        return cls(
            status=first.status or 0,
            seconds=max(run.seconds for run in runs),
            tests={name: min(found) for name, found in outcomes.items() if len(found) == 1 and name in first.tests},
            unstable=frozenset(name for name, found in outcomes.items() if len(found) > 1),
            failing=frozenset(name for name, found in outcomes.items() if found <= {"failed", "ended"}),
            returns=returns,
            modules=first.modules,
        )

    def complaints(
        self, run: CommandRun, copy: str, rewritten: Collection[str], only: Collection[str] | None = None
    ) -> list[Complaint]:
        """What is wrong with a run.

        Args:
            run: the run.
            copy: the folder it ran in.
            rewritten: tests that the fixes change themselves, without their parameters; they need not be there any more.
            only: ids of the tests that ran; the whole command did if None.
        """
        others = list(returned_otherwise(self.returns, run.returns))
        found = [*self._collections(run, copy), *self._tests(run, copy, others)]
        if not found and only is None:
            found = [*self._missing(run, rewritten), *self._command(run, copy)]
        seen = {test for complaint in found for test in complaint.tests}
        for other in others:
            # A function whose test fails anyway is told with the test.
            if other.test not in seen:
                found.append(
                    Complaint(
                        f"value {other.test} {other.module}:{other.function}",
                        f"what {other.module}.{other.function} returns" + (f" in {other.test}" if other.test else ""),
                        other.difference,
                        (CopiedLine(f"{other.module}:{other.function}", 0),),
                        (other.test,) if other.test else (),
                    )
                )
                seen.add(other.test)
        return found

    def _collections(self, run: CommandRun, copy: str) -> Iterator[Complaint]:
        for name, told in run.collections.items():
            if name not in self.failing and name not in self.unstable:
                tests = tuple(test for test in self.tests if test.partition("::")[0] == name)
                yield Complaint(
                    f"collect {name}", f"the import of {name}", _short(told.error, copy), _places(told, copy), tests
                )

    def _tests(self, run: CommandRun, copy: str, others: Sequence[object]) -> Iterator[Complaint]:
        from torchlift.migrate.verification.returned import Otherwise

        for name, told in run.tests.items():
            if told.outcome not in {"failed", "ended"} or self.tests.get(name, "passed") in {"failed", "ended"}:
                continue
            if name in self.unstable:
                continue
            error = told.error if told.outcome == "failed" else _how_it_ended(run)
            first = [
                CopiedLine(f"{other.module}:{other.function}", 0)
                for other in others
                if isinstance(other, Otherwise) and other.test == name
            ]
            yield Complaint(f"test {name}", name, _short(error, copy), (*_places(told, copy), *first[:1]), (name,))

    def _missing(self, run: CommandRun, rewritten: Collection[str]) -> Iterator[Complaint]:
        """Tests that passed and do not run any more."""
        if not self.tests or (run.status is not None and run.status not in _OF_TESTS and not run.tests):
            return
        for name, outcome in self.tests.items():
            if outcome == "passed" and _outcome(run, name) in {"missing", "skipped"} and _bare(name) not in rewritten:
                now = "is skipped" if name in run.tests else "does not run any more"
                yield Complaint(f"test {name}", name, f"it passed and {now}", (), (name,))

    def _command(self, run: CommandRun, copy: str) -> Iterator[Complaint]:
        explained = bool(self.tests) and self.status in _OF_TESTS and run.status in _OF_TESTS
        if run.status == self.status or (explained and (run.status == 0 or self.failing or self.unstable)):
            return
        frames = tuple((match["path"], int(match["line"])) for match in _FRAME.finditer(run.output))
        lines = [line.strip() for line in run.output.splitlines() if line.strip()]
        told = SingleTest("failed", lines[-1] if lines else "", frames)
        error = f"{_how_it_ended(run)}: {told.error}" if told.error else _how_it_ended(run)
        yield Complaint("command", "the command", _short(error, copy), _places(told, copy))


def _outcome(run: CommandRun, name: str) -> str:
    told = run.tests.get(name) or run.collections.get(name)
    return told.outcome if told is not None else "missing"


def _how_it_ended(run: CommandRun) -> str:
    if run.status is None:
        return "it ran past the limit"
    return f"it was ended by signal {-run.status}" if run.status < 0 else f"exit status {run.status}"


def _places(told: SingleTest, copy: str) -> tuple[CopiedLine, ...]:
    """Lines of files in the copy, the innermost first."""
    inside = [(path, line) for path, line in reversed(told.frames) if path.startswith(copy + os.sep)]
    return tuple(CopiedLine(os.path.relpath(path, copy), line) for path, line in dict.fromkeys(inside))


def _bare(test: str) -> str:
    return test.partition("[")[0]


def _short(error: str, copy: str) -> str:
    line = " ".join(error.replace(copy + os.sep, "").split()).rstrip(".")
    return line if len(line) <= 300 else f"{line[:297]}..."
