"""What a run produced; every report is made from this and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from enum import Enum
from pathlib import Path

from torchlift.finding import FileFailure, Finding, TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.notebook import is_notebook
from torchlift.source import SourceText
from torchlift.versions import TorchVersion


class Mode(Enum):
    """What the user asked for."""

    WRITE = "write"
    DIFF = "diff"
    CHECK = "check"


@dataclass(frozen=True)
class FileOutcome:
    """One analysed file that has something to say.

    Attributes:
        path: relative to the project root, forward slashes.
        source: the file as it was read.
        left: findings that remain. In `WRITE` mode, when `new_text` was written, their spans are in the new text;
            otherwise in the text as read.
        fixed: findings whose fix is part of `new_text`; spans in the text as read.
        new_text: the whole file after all applied fixes, or None where nothing changes; a file left without any text is
            removed.
        refused: a sentence saying why `new_text` was not written, or None.
        edits: for `left` findings with a fix, in `CHECK` mode and when asked for: their text edits, in the same order.
    """

    path: str
    source: SourceText
    left: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    new_text: str | None = None
    refused: str | None = None
    edits: tuple[tuple[TextEdit, ...], ...] = ()

    def keeping(self, indices: Sequence[int]) -> FileOutcome:
        """The outcome with those of `left` that stand at `indices`."""
        edits = tuple(self.edits[index] for index in indices) if self.edits else ()
        return replace(self, left=tuple(self.left[index] for index in indices), edits=edits)

    @property
    def has_something_to_say(self) -> bool:
        """Whether a run has a reason to list it."""
        return bool(self.left or self.fixed or self.new_text is not None)

    @property
    def is_removed(self) -> bool:
        """Whether the fixes took away all that the file held, so that the file goes; an `__init__.py` stays, empty."""
        emptied = self.new_text == "" and bool(self.source.text.strip())
        return emptied and self.path.rpartition("/")[2] != "__init__.py" and not is_notebook(self.path)

    @property
    def shown(self) -> SourceText:
        """The text that the spans of `left` refer to."""
        return self.source.replaced(self.new_text) if self.new_text is not None else self.source


@dataclass(frozen=True)
class RunResult:
    """Everything a report needs.

    Attributes:
        mode: what was asked.
        unsafe_fixes: whether `--unsafe-fixes` was given.
        target: release the project moves to.
        min_torch: lowest release the project supports.
        min_torch_source: what says so, or needs it (`pyproject.toml:14`, `--min-torch`), or None when assumed.
        files_seen: number of files discovered.
        files_analysed: number of files that passed the prefilter and were parsed.
        outcomes: sorted by path; files with nothing to say are absent.
        failures: sorted by path.
        suppressed: number of findings silenced by comments.
        known: number of findings left out because the baseline has them.
        unchanged: number of findings left out because their lines were there before (`--since`).
        notes: sentences for the user about the whole run.
        root: the project, which all paths are relative to.
        evidence: the file of recorded runs that was taken into account, as it was named.
    """

    mode: Mode
    unsafe_fixes: bool
    target: TorchVersion
    min_torch: TorchVersion
    min_torch_source: str | None
    files_seen: int
    files_analysed: int
    outcomes: tuple[FileOutcome, ...]
    failures: tuple[FileFailure, ...] = ()
    suppressed: int = 0
    known: int = 0
    unchanged: int = 0
    notes: tuple[str, ...] = field(default=())
    root: Path = field(default=Path())
    evidence: str | None = None

    @property
    def exit_code(self) -> int:
        """0 nothing left, 1 findings left or changes to make, 2 torchlift or its input failed."""
        if self.failures:
            return 2
        pending = any(
            outcome.left or (outcome.new_text is not None and (self.mode is not Mode.WRITE or outcome.refused))
            for outcome in self.outcomes
        )
        return 1 if pending else 0
