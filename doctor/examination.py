"""Everything one run of the doctor found out, and what it amounts to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from torchlift.doctor.check import Result
from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.facts import Facts
from torchlift.lazy_dataclass import dataclass
from torchlift.wheels.answer import Answer

if TYPE_CHECKING:  # a plain run has no use for what reads projects and knows errors
    from torchlift.doctor.repo import ProjectReport
    from torchlift.doctor.smoke.parent.report import SmokeReport

Health = Literal["healthy", "problems", "failed"]


@dataclass(frozen=True)
class Examination:
    """A machine, what is wrong with it, and which wheel would be right.

    Attributes:
        facts: the machine.
        findings: what the checks say.
        answer: what to install for the torch that is wanted, or for the best there is.
        wanted: the requirement of `--for`, None for an examination of what is installed.
        project: what `--repo` says.
        strict: warnings count as problems.
        smokes: what `--smoke` found out.
    """

    facts: Facts
    findings: tuple[Diagnosed, ...] = ()
    answer: Answer | None = None
    wanted: str | None = None
    project: ProjectReport | None = None
    strict: bool = False
    smokes: SmokeReport | None = None

    @property
    def is_plan(self) -> bool:
        """Whether the question is what could be installed, not whether what is installed works."""
        return self.wanted is not None or self.facts.hypothetical

    @property
    def plan_fails(self) -> bool:
        """Whether a plan was asked for and there is none."""
        return self.is_plan and (self.answer is None or self.answer.kind != "wheel")

    def results(self) -> Iterator[Result]:
        """All results, those of the project included."""
        for finding in self.findings:
            for inner in finding.all():
                yield inner.result
        if self.project is not None:
            yield from self.project.results

    def independent(self, status: str) -> list[Result]:
        """Results of one status that do not follow from others."""
        found = [finding.result for finding in self.findings if finding.result.status == status]
        # A problem below a warning is not to be lost in the count.
        found += [
            inner.result
            for finding in self.findings
            for inner in finding.all()
            if inner is not finding
            and inner.result.status == status
            and finding.result.status not in (status, "problem")
        ]
        if self.project is not None:
            found += [result for result in self.project.results if result.status == status]
        return found

    @property
    def health(self) -> Health:
        """`problems` outranks `failed`: they are certain, whatever else could not be found out."""
        if self.smokes is not None and self.smokes.failed:
            return "problems"
        if self.plan_fails or self.independent("problem") or (self.strict and self.independent("warning")):
            return "problems"
        return "failed" if any(result.status == "failed" for result in self.results()) else "healthy"

    @property
    def exit_code(self) -> int:
        """0 healthy, 1 problems (with `strict` also warnings), 2 the doctor itself failed."""
        return {"healthy": 0, "problems": 1, "failed": 2}[self.health]
