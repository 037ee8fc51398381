"""One run over a project: every stage in order, until no fix is left to apply."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path

from torchlift.finding import Failure, Finding, Rewrite, Safety, Severity, TextEdit
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.find.parallel import Work, check_files
from torchlift.migrate.find.selection import Selected, select_files
from torchlift.migrate.find.suppress import apply_suppressions
from torchlift.migrate.find.texts import check_texts, index_texts, text_source, text_view
from torchlift.migrate.fix.settle import applicable, settle
from torchlift.migrate.result import FileOutcome, Mode, RunResult
from torchlift.project import Deferred, Project
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Settings
from torchlift.source import SourceText, Span, UnreadableSource
from torchlift.wrappers import Wrappers

_MOST_PASSES = 8


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
        per_file_ignores: codes not reported, by path; called for files with findings.
        project_files: lists the whole project's Python files; called at most once, when a file has hits.
        guard: reasons not to write, by path, for the files given to it; asked in `WRITE` mode only.
        jobs: processes to use; 0 lets the amount of work decide.
        texts: scripts, container files and other text to analyse, relative to `root`.
        named: paths that the user named one by one.
        want_edits: whether text edits of remaining fixes are needed for the report.
        progress: told about every finished file: stage, files done, files in all.
        own_rules: files and folders of rules outside torchlift, whose code runs.
    """

    root: Path
    files: tuple[str, ...]
    mode: Mode
    codes: frozenset[str]
    unsafe_fixes: bool = False
    settings: Settings = field(default_factory=Settings)
    min_torch_source: str | None = None
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


@dataclass
class _Analysis:
    """Findings of one state of the project, suppressions applied, fixes not yet settled."""

    project: Project
    findings: dict[str, list[Finding]]
    failures: list[Failure]
    suppressed: int


class _Run:
    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.rules = rules_with(options.own_rules)
        self.active = [rule for code, rule in self.rules.items() if code in options.codes]
        self.work = Work(tuple(rule.code for rule in self.active), options.settings, options.own_rules)
        self.allowed = {Safety.SAFE, Safety.UNSAFE} if options.unsafe_fixes else {Safety.SAFE}
        self.failures: list[Failure] = []
        self.held: dict[tuple[str, tuple[str, int, int, str, str]], str] = {}
        self.blocked: dict[str, str] = {}
        self.asked: set[str] = set()
        self.wrappers = Wrappers(options.settings.wrappers)
        self.texts = frozenset(options.texts)
        self.hits: tuple[str, ...] = ()
        self.doubtful: tuple[Selected, ...] = ()
        self.checked: set[str] = set()
        self.text_hits: list[str] = []
        self.unreadable: dict[str, str] = {}

    def run(self) -> RunResult:
        options = self.options
        start = Project(options.root, options.files, options.overlay, wrappers=self.wrappers)
        selected = select_files(start, options.files, self.active, options.settings, options.progress)
        self.hits = tuple(file.path for file in selected if file.wanted)
        self.doubtful = tuple(file for file in selected if file.wanted_if and not file.wanted)
        self.text_hits, self.unreadable = index_texts(start, options.texts, self.active, options.named)
        self.failures += [file.failure for file in selected if file.failure is not None]
        outcomes: dict[str, FileOutcome] = {}
        suppressed = 0
        if self.hits or self.doubtful or self.text_hits:
            files = options.project_files() if options.project_files else options.files
            known = {file.path: dict.fromkeys(file.collectors, Deferred.DEFERRED) for file in selected}
            project = start.with_records(sorted({*files, *options.files}), known)
            outcomes, suppressed = self._migrate(project)
        for path, reason in self.unreadable.items():
            if "TL902" in options.codes and "TL902" not in options.per_file_ignores(path):
                outcomes[path] = FileOutcome(path, SourceText(""), left=(_unreadable(path, reason),))
        return RunResult(
            mode=options.mode,
            unsafe_fixes=options.unsafe_fixes,
            target=options.settings.target,
            min_torch=options.settings.min_torch,
            min_torch_source=options.min_torch_source,
            files_seen=len(options.files) + len(options.texts),
            files_analysed=len(self.checked) + len(self.text_hits),
            outcomes=tuple(outcomes[path] for path in sorted(outcomes)),
            failures=tuple(sorted(self.failures, key=lambda failure: (failure.path, failure.stage, failure.reason))),
            suppressed=suppressed,
        )

    def _to_check(self, project: Project) -> list[str]:
        """Files that rules want in this state of the project: a fix may have changed what applies to it."""
        applying = {
            code
            for code in frozenset().union(*(file.wanted_if for file in self.doubtful))
            if self._applies(code, project)
        }
        return sorted([*self.hits, *(file.path for file in self.doubtful if not file.wanted_if.isdisjoint(applying))])

    def _applies(self, code: str, project: Project) -> bool:
        applies = self.rules[code].applies
        try:
            return applies is None or applies(project)
        except Exception:
            return True  # it says so where it runs

    def _analyse(self, project: Project) -> _Analysis:
        findings: dict[str, list[Finding]] = {path: [] for path in (*self.options.files, *self.options.texts)}
        failures: list[Failure] = []
        suppressed = 0
        paths = self._to_check(project)
        self.checked.update(paths)
        for checked in check_files(project, paths, self.work, self.options.jobs, self.options.progress):
            failures += checked.failures
            if checked.unreadable is not None:
                self.unreadable[checked.path] = checked.unreadable
            ignored = self.options.per_file_ignores(checked.path)
            kept = [finding for finding in checked.findings if finding.code not in ignored]
            source = self._source(project, checked.path)
            if source is not None:
                kept, silenced = apply_suppressions(checked.path, source, kept, self.rules, self.options.codes)
                suppressed += len(silenced)
            findings[checked.path] = kept
        for text in check_texts(project, self.text_hits, self.active, self.options.settings):
            path = text.view.path
            failures += text.checked.failures
            ignored = self.options.per_file_ignores(path)
            kept = [finding for finding in text.checked.findings if finding.code not in ignored]
            findings[path], silenced = apply_suppressions(
                path, text.view.source, kept, self.rules, self.options.codes, text.view
            )
            suppressed += len(silenced)
        return _Analysis(project, findings, failures, suppressed)

    def _source(self, project: Project, path: str) -> SourceText | None:
        try:
            return text_source(project, path) if path in self.texts else project.source(path)
        except (OSError, UnreadableSource):
            return None

    def _migrate(self, project: Project) -> tuple[dict[str, FileOutcome], int]:
        first = self._analyse(project)
        self.failures += first.failures
        settled = settle(first.findings, self.blocked, self.held)
        if self.options.mode is Mode.CHECK:
            return self._outcomes(project, first, settled, {}, {}), first.suppressed
        now, fixed, texts = self._apply_until_stable(project, first)
        settled = settle(now.findings, self.blocked, self.held)
        return self._outcomes(project, now, settled, fixed, texts), now.suppressed

    def _guarded(self, chosen: Mapping[str, Sequence[Finding]]) -> bool:
        """Whether a file that is about to change may not be written; asked for every file once, in whichever pass."""
        new = sorted({*chosen, *_elsewhere(chosen)} - self.asked)
        if self.options.guard is None or self.options.mode is not Mode.WRITE or not new:
            return False
        self.asked.update(new)
        refused = self.options.guard(new)
        self.blocked.update(refused)
        return bool(refused)

    def _apply_until_stable(
        self, project: Project, first: _Analysis
    ) -> tuple[_Analysis, dict[str, list[Finding]], dict[str, SourceText]]:
        """Apply fixes until none is left. A file that fails a check is blocked and everything starts over."""
        while True:
            now = first
            fixed: dict[str, list[Finding]] = {}
            texts: dict[str, SourceText] = {}
            for _ in range(_MOST_PASSES):
                chosen = applicable(settle(now.findings, self.blocked, self.held), self.allowed, self.blocked)
                if not chosen:
                    return now, fixed, texts
                if self._guarded(chosen):
                    break
                changed = self._rewrite(now.project, chosen)
                if changed is None:
                    break
                texts.update(changed)
                for path, findings in chosen.items():
                    fixed.setdefault(path, []).extend(findings)
                after = self._analyse(project.with_texts(texts))
                if not self._kept_promises(now, after, chosen):
                    break
                now = after
            else:
                for path in sorted(chosen):
                    self._block(path, "verify", "its fixes do not come to an end")

    def _rewrite(self, project: Project, chosen: Mapping[str, Sequence[Finding]]) -> dict[str, SourceText] | None:
        """New texts of all files with chosen fixes; None if a fix or file had to be held back."""
        from torchlift.migrate.fix.rewrite.build import apply_edits, build_edits
        from torchlift.migrate.fix.rewrite.cleanup import unused_imports
        from torchlift.migrate.fix.rewrite.fragments import CannotEdit
        from torchlift.migrate.fix.verify import problem_with

        changed: dict[str, SourceText] = {}
        complete = True
        elsewhere = _elsewhere(chosen)
        for path in sorted({*chosen, *elsewhere}):
            if path in self.texts:
                new_text, whole = self._rewrite_text(project, path, chosen.get(path, ()))
                if new_text is not None:
                    changed[path] = new_text
                complete = complete and whole
                continue
            view = project.view(path)
            assert view is not None
            accepted: list[Rewrite] = []
            # The finding's own path may differ: a fix can reach into another file.
            asked = [(path, finding, finding.fix.rewrites) for finding in chosen.get(path, ()) if finding.fix]
            for owner, finding, rewrites in [*asked, *elsewhere.get(path, ())]:
                try:
                    build_edits(view, [*accepted, *rewrites])
                    accepted += rewrites
                except CannotEdit as error:
                    self.held[owner, finding.sort_key()] = f"The fix cannot be written here: {error}"
                    complete = False
                except Exception:
                    self.held[owner, finding.sort_key()] = "The fix could not be built, which is a defect of torchlift."
                    reason = f"The fix of {finding.code} could not be built."
                    self.failures.append(Failure(path, "rewrite", reason, ours=True, detail=traceback.format_exc()))
                    complete = False
            if not accepted:
                continue
            try:
                edits = build_edits(view, [*accepted, *unused_imports(project, view, accepted)])
            except CannotEdit:  # an import that is left over does no harm
                edits = build_edits(view, accepted)
            new = view.source.replaced(apply_edits(view.source.text, edits))
            problem = problem_with(view, edits, new)
            if problem is not None:
                self._block(path, "verify", problem)
                complete = False
            changed[path] = new
        return changed if complete else None

    def _rewrite_text(self, project: Project, path: str, findings: Sequence[Finding]) -> tuple[SourceText | None, bool]:
        """The new text of a file that is no Python, and whether nothing had to be held back."""
        from torchlift.migrate.fix.rewrite.build import apply_edits
        from torchlift.migrate.fix.rewrite.fragments import CannotEdit
        from torchlift.migrate.fix.text_edits import problem_with_text, text_edits

        view = text_view(project, path)
        accepted: list[Rewrite] = []
        complete = True
        for finding in findings:
            rewrites = finding.fix.rewrites if finding.fix else ()
            try:
                text_edits(view, [*accepted, *rewrites])
                accepted += rewrites
            except CannotEdit as error:
                self.held[path, finding.sort_key()] = f"The fix cannot be written here: {error}"
                complete = False
        if not accepted:
            return None, complete
        edits = text_edits(view, accepted)
        new = view.source.replaced(apply_edits(view.source.text, edits))
        problem = problem_with_text(view, edits, new)
        if problem is not None:
            self._block(path, "verify", problem)
            complete = False
        return new, complete

    def _kept_promises(self, before: _Analysis, after: _Analysis, chosen: Mapping[str, Sequence[Finding]]) -> bool:
        """Whether every finding said to be fixed is gone and nothing new was brought in."""
        for path, findings in chosen.items():
            fixed = _count([finding for finding in findings if not (finding.fix and finding.fix.still_reported)])
            # What is only remarked on may be in new code, too: it is no defect of it.
            known = [
                finding
                for finding in after.findings[path]
                if finding.severity is not Severity.INFO or finding.code in fixed
            ]
            old, new = _count(before.findings[path]), _count(known)
            # A suppression that a fix leaves without work is a finding of the next round, with a fix of its own.
            for code in {*fixed, *new} - {"TL901"}:
                if new.get(code, 0) > old.get(code, 0) - fixed.get(code, 0):
                    self._block(path, "verify", f"after the fixes {code} is still reported")
                    return False
        return True

    def _block(self, path: str, stage: str, reason: str) -> None:
        self.blocked[path] = "could not be rewritten correctly"
        self.failures.append(Failure(path, stage, f"The file was left as it was: {reason.rstrip('.')}.", ours=True))

    def _outcomes(
        self,
        project: Project,
        now: _Analysis,
        settled: Mapping[str, Sequence[Finding]],
        fixed: Mapping[str, Sequence[Finding]],
        texts: Mapping[str, SourceText],
    ) -> dict[str, FileOutcome]:
        outcomes = {}
        for path in sorted({path for path, items in settled.items() if items} | set(texts)):
            source = self._source(project, path)
            assert source is not None
            left = tuple(sorted(settled.get(path, ()), key=Finding.sort_key))
            outcome = FileOutcome(
                path,
                source,
                left=left,
                fixed=tuple(sorted(fixed.get(path, ()), key=Finding.sort_key)) if path in texts else (),
                new_text=texts[path].text if path in texts else None,
                refused=self.blocked.get(path),
                edits=self._edits(now.project, path, left) if self.options.want_edits else (),
            )
            outcomes[path] = outcome
        return outcomes

    def _edits(self, project: Project, path: str, left: Sequence[Finding]) -> tuple[tuple[TextEdit, ...], ...]:
        if not any(finding.fix for finding in left):
            return tuple(() for _ in left)
        from torchlift.migrate.fix.rewrite.build import build_edits
        from torchlift.migrate.fix.rewrite.fragments import CannotEdit
        from torchlift.migrate.fix.text_edits import text_edits

        build: Callable[[Sequence[Rewrite]], list[TextEdit]]
        if path in self.texts:
            build = partial(text_edits, text_view(project, path))
        else:
            view = project.view(path)
            assert view is not None
            build = partial(build_edits, view)
        result: list[tuple[TextEdit, ...]] = []
        for finding in left:
            try:
                result.append(tuple(build(finding.fix.rewrites)) if finding.fix else ())
            except CannotEdit:
                result.append(())
        return tuple(result)


def _elsewhere(
    chosen: Mapping[str, Sequence[Finding]],
) -> dict[str, list[tuple[str, Finding, tuple[Rewrite, ...]]]]:
    """Rewrites that chosen fixes make in other files, by that file: the finding's path, the finding, the rewrites."""
    found: dict[str, list[tuple[str, Finding, tuple[Rewrite, ...]]]] = {}
    for path, findings in chosen.items():
        for finding in findings:
            for item in finding.fix.elsewhere if finding.fix else ():
                found.setdefault(item.path, []).append((path, finding, (item.rewrite,)))
    return found


def _unreadable(path: str, reason: str) -> Finding:
    return Finding(
        "TL902",
        path,
        Span(0, 0),
        f"Not analysed: {reason}.",
        Severity.WARNING,
        "Nothing is known about this file; correct it, exclude it, or ignore TL902 for it.",
    )


def _count(findings: Sequence[Finding]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
    return counts


def analyse(options: RunOptions) -> RunResult:
    """Everything but writing: findings, fixes applied in memory, checks. Never raises for what a file holds."""
    return _Run(options).run()
