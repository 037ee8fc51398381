"""What is known of one repository: plain data, as its process sends it and the data set keeps it."""

from __future__ import annotations

from typing import Any, Literal, get_args

from torchlift.lazy_dataclass import dataclass

Status = Literal["looked at", "refused", "failed", "too slow", "killed"]
"""`refused`: there is nothing that could be looked at. `failed`: torchlift met a defect. `killed`: its process died."""


@dataclass(frozen=True)
class SurveyedFinding:
    """One finding.

    Attributes:
        code, rule, severity, safety, path, line, message: as in every report.
        release: the release of torch that removed, changed or deprecated what it is about, as far as it names one.
    """

    code: str
    rule: str
    severity: str
    safety: str
    release: str | None
    path: str
    line: int
    message: str


@dataclass(frozen=True)
class PlannedWork:
    """What `torchlift plan` counts.

    Attributes:
        roots: places that script, trace, save or load TorchScript.
        hints: places that only speak to its compiler.
        fixable: those with a fix as the project stands.
        decided: how many more the answers to its questions settle.
        questions: how many there are.
    """

    roots: int = 0
    hints: int = 0
    fixable: int = 0
    decided: int = 0
    questions: int = 0


@dataclass(frozen=True)
class Needs:
    """What the metadata of a repository asks of machines.

    Attributes:
        asked: the requirements of torch, as written.
        python: the requirement of a Python.
        newest: the newest release of torch that they allow; None where none is known.
        build: the build of it that an index without further words gives on Linux: `cu132`.
        driver: the oldest driver on which that runs.
        capability: the lowest compute capability that it has code for.
        indexes: addresses of package indexes that are named.
        packages: names of all packages that are asked for.
    """

    asked: tuple[str, ...] = ()
    python: str | None = None
    newest: str | None = None
    build: str | None = None
    driver: str | None = None
    capability: str | None = None
    indexes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Surveyed:
    """One repository.

    Attributes:
        path: its folder.
        name: what it is called: its distribution, else its folder.
        status: whether it was looked at.
        problem: why not, a sentence; empty if it was.
        notes: what else is to be said, sentences.
        state: a digest of its files, of torchlift and of what was asked: where it is the same, so is all else.
        commit: the commit that is checked out, if it is a git repository.
        target, lowest, lowest_source: releases of torch, as `migrate` takes them.
        files, analysed: files of the project, and those that rules wanted to see.
        findings: everything that was found.
        plan: what leaving TorchScript takes.
        needs: what it asks of machines.
        seconds, cpu_seconds, peak_bytes: what it cost.
    """

    path: str
    name: str
    status: Status = "looked at"
    problem: str = ""
    notes: tuple[str, ...] = ()
    state: str = ""
    commit: str | None = None
    target: str = ""
    lowest: str = ""
    lowest_source: str | None = None
    files: int = 0
    analysed: int = 0
    findings: tuple[SurveyedFinding, ...] = ()
    plan: PlannedWork = PlannedWork()
    needs: Needs = Needs()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    def counted(self, *safeties: str) -> int:
        """How many findings have a fix of such safety."""
        return sum(finding.safety in safeties for finding in self.findings)


def surveyed(plain: dict[str, Any]) -> Surveyed:
    """The record in what its process has sent.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    findings = tuple(SurveyedFinding(**one) for one in plain["findings"])
    needs: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain["needs"].items()
    }
    inner = {
        "findings": findings,
        "needs": Needs(**needs),
        "plan": PlannedWork(**plain["plan"]),
        "notes": tuple(plain["notes"]),
    }
    record = Surveyed(**{**plain, **inner})
    if record.status not in get_args(Status):
        raise ValueError(record.status)
    return record
