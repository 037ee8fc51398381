"""What is told about each file at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchlift.finding import Finding, TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.document import Document, open_document
from torchlift.migrate.examine import State
from torchlift.migrate.find.unreadable import unreadable_finding
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import FileOutcome
from torchlift.source import SourceText


@dataclass(frozen=True)
class Applied:
    """A state of the project, and the fixes that led to it from the one that was read.

    Attributes:
        state: what it is now.
        fixed: findings whose fixes were applied, by path.
        texts: new texts of files, by path.
    """

    state: State
    fixed: Mapping[str, tuple[Finding, ...]]
    texts: Mapping[str, SourceText]

    def and_then(self, chosen: Mapping[str, Sequence[Finding]], texts: Mapping[str, SourceText], now: State) -> Applied:
        """After the fixes of `chosen`, too, which gave some files the new texts `texts`."""
        fixed = {path: (*self.fixed.get(path, ()), *findings) for path, findings in chosen.items()}
        return Applied(now, {**self.fixed, **fixed}, {**self.texts, **texts})


def outcomes_of(
    options: RunOptions, start: State, end: Applied, obstacles: Obstacles
) -> tuple[dict[str, FileOutcome], Obstacles]:
    """Outcomes by path, and the obstacles with files of which nothing can be told.

    Args:
        options: what the run was asked to do.
        start: the project as it was read.
        end: the project after all fixes.
        obstacles: what kept further ones from being applied.
    """
    if not any(end.state.findings.values()) and not end.texts:
        return {}, obstacles
    from torchlift.migrate.cell_places import in_cells
    from torchlift.migrate.fix.settle import settle

    settled = settle(end.state.findings, obstacles.blocked, obstacles.held_in(end.state.project))
    outcomes = {}
    for path in sorted({path for path, items in settled.items() if items} | set(end.texts)):
        left = tuple(sorted(settled.get(path, ()), key=Finding.sort_key))
        fixed = sorted(end.fixed.get(path, ()), key=Finding.sort_key)
        try:
            document = open_document(end.state.project, path)
            outcomes[path] = FileOutcome(
                path,
                open_document(start.project, path).source,
                left=tuple(in_cells(finding, end.state.project) for finding in left),
                fixed=tuple(in_cells(finding, start.project) for finding in fixed) if path in end.texts else (),
                new_text=end.texts[path].text if path in end.texts else None,
                refused=obstacles.blocked.get(path),
                edits=_edits(document, left) if options.want_edits else (),
            )
        except Exception as error:
            obstacles = obstacles.failing(path, "report", "What was found in the file cannot be shown.", error)
    return outcomes, obstacles


def _edits(document: Document, findings: Sequence[Finding]) -> tuple[tuple[TextEdit, ...], ...]:
    """The edits of each finding's fix alone; none where it has no fix, or one that cannot be written here."""
    if not any(finding.fix for finding in findings):
        return tuple(() for _ in findings)
    from torchlift.migrate.fix.rewrite.fragments import CannotEdit

    known: dict[int, tuple[TextEdit, ...]] = {}  # findings of one fix share what it rewrites
    for fix in (finding.fix for finding in findings if finding.fix):
        if id(fix.rewrites) not in known:
            try:
                known[id(fix.rewrites)] = tuple(document.edits(fix.rewrites))
            except CannotEdit:
                known[id(fix.rewrites)] = ()
    return tuple(known[id(finding.fix.rewrites)] if finding.fix else () for finding in findings)


def unreadable_outcomes(options: RunOptions, unreadable: Mapping[str, str]) -> dict[str, FileOutcome]:
    """Outcomes of files that could not be analysed, by path, as far as they are reported; the reasons are by path, too."""
    return {
        path: FileOutcome(path, SourceText(""), left=(unreadable_finding(path, reason),))
        for path, reason in unreadable.items()
        if "TL902" in options.codes and "TL902" not in options.per_file_ignores(path)
    }
