"""What a run is asked to do, with everything around it decided: files, rules, versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.result import Mode
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Settings
from torchlift.source import SourceText

if TYPE_CHECKING:
    from torchlift.migrate.remembered import EarlierChecks
    from torchlift.rules.rule import Rule


@dataclass(frozen=True)
class RunOptions:
    """What to do.

    Attributes:
        root: project root.
        files: Python files to analyse, relative to `root`.
        mode: write, diff or check.
        codes: rules that run.
        unsafe_fixes: whether fixes that need review are applied too.
        settings: target and lowest torch release.
        min_torch_source: where the lowest release was read; None when assumed.
        min_torch_why: what was taken for it and why, for the user; none where a requirement or the user decides.
        ask_code: whether the names that the code needs may raise it.
        per_file_ignores: codes not reported, by path; called for files with findings.
        project_files: lists the whole project's Python files; called at most once, when a file has hits.
        guard: reasons not to write, by path, for the files given to it; asked in `WRITE` mode only.
        jobs: processes to use; 0 lets the amount of work decide.
        texts: scripts, container files and other text to analyse, relative to `root`.
        named: paths that the user named one by one.
        overlay: texts to take in the place of those on disk, by path.
        want_edits: whether text edits of remaining fixes are needed for the report.
        progress: told about every finished file: stage, files done, files in all.
        own_rules: files and folders of rules outside torchlift, whose code runs.
        memory: what earlier runs found in single files.
    """

    root: Path
    files: tuple[str, ...]
    mode: Mode
    codes: frozenset[str]
    unsafe_fixes: bool = False
    settings: Settings = field(default_factory=Settings)
    min_torch_source: str | None = None
    min_torch_why: tuple[str, ...] = ()
    ask_code: bool = False
    per_file_ignores: Callable[[str], frozenset[str]] = lambda path: frozenset()
    project_files: Callable[[], Sequence[str]] | None = None
    guard: Callable[[Sequence[str]], Mapping[str, str]] | None = None
    jobs: int = 0
    want_edits: bool = False
    progress: Callable[[str, int, int], None] | None = None
    texts: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    overlay: Mapping[str, SourceText] = field(default_factory=dict)
    own_rules: tuple[Path, ...] = ()
    memory: EarlierChecks | None = None

    @property
    def running(self) -> frozenset[str]:
        """Those of `codes` that have anything to say of the target; the others do not run."""
        known = rules_with(self.own_rules).keys()
        return frozenset(rule.code for rule in self.rules) | (self.codes - known)

    @property
    def rules(self) -> list[Rule]:
        """The rules that run."""
        target = self.settings.target
        rules = rules_with(self.own_rules)
        return [
            rule for code, rule in rules.items() if code in self.codes and (rule.since is None or rule.since <= target)
        ]
