"""What keeps fixes from being applied, as far as a run has found out; it is kept when the run starts over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from torchlift.finding import FileFailure, Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.fix.settle import Held
from torchlift.project import Project


@dataclass(frozen=True)
class Obstacles:
    """Reasons, found so far, to leave fixes or files alone.

    Attributes:
        held: fixes that turned out impossible, with the bytes of the file in which they did: once others have changed
            it they may be possible.
        blocked: files that are not written, with the reason as the end of a sentence about the file.
        guarded: files that were asked about, whether they may be written.
        failures: defects of torchlift that were met on the way.
    """

    held: Mapping[tuple[str, tuple[str, int, int, str, str], bytes], str] = field(default_factory=dict)
    blocked: Mapping[str, str] = field(default_factory=dict)
    guarded: frozenset[str] = frozenset()
    failures: tuple[FileFailure, ...] = ()

    def holding(self, project: Project, owner: str, finding: Finding, reason: str) -> Obstacles:
        """The fix of a finding in the file `owner` cannot be carried out in this state of the project."""
        return replace(self, held={**self.held, (owner, finding.sort_key(), project.data(owner)): reason})

    def held_in(self, project: Project) -> Held:
        """Fixes that cannot be carried out in a state of the project, and why."""
        return {(path, key): why for (path, key, data), why in self.held.items() if project.data(path) == data}

    def blocking(self, path: str, stage: str, problem: str, detail: str = "") -> Obstacles:
        """A file is left as it was, because of a defect in `stage`; `problem` is a sentence."""
        failure = FileFailure(
            path, stage, f"The file was left as it was: {problem.rstrip('.')}.", ours=True, detail=detail
        )
        return replace(
            self,
            blocked={**self.blocked, path: "could not be rewritten correctly"},
            failures=(*self.failures, failure),
        )

    def failing(self, path: str, stage: str, reason: str, error: Exception) -> Obstacles:
        """Something crashed on a file."""
        import traceback

        failure = FileFailure(path, stage, reason, ours=True, detail="".join(traceback.format_exception(error)))
        return replace(self, failures=(*self.failures, failure))

    def refusing(self, asked: frozenset[str], refused: Mapping[str, str]) -> Obstacles:
        """The files `asked` were asked about; `refused` says which may not be written, and why."""
        return replace(self, blocked={**self.blocked, **refused}, guarded=self.guarded | asked)
