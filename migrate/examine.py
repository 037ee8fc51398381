"""What rules find in one state of a project; in the next state only files are checked again whose findings may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchlift.finding import FileFailure, Finding
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.document import check_document, open_document
from torchlift.migrate.find.check import Checked, Dispatcher
from torchlift.migrate.find.kept import without_kept
from torchlift.migrate.find.parallel import check_files
from torchlift.migrate.find.selection import Selected
from torchlift.migrate.find.suppress import apply_suppressions
from torchlift.migrate.options import RunOptions
from torchlift.migrate.remembered import Examined
from torchlift.project import Project
from torchlift.rules.own_rules import rules_with
from torchlift.rules.rule import Rule, Settings
from torchlift.search.changes import Changes

if TYPE_CHECKING:
    from torchlift.migrate.earlier_answers import Teller


@dataclass(frozen=True)
class State:
    """One state of the project and what is found in it, fixes not yet settled.

    Attributes:
        project: the state.
        files: what was found, by path, in all files that were checked.
        findings: by path, for every path that a run was given.
        kept: findings about what stays as it is, as the user says.
    """

    project: Project
    files: Mapping[str, Examined]
    findings: Mapping[str, Sequence[Finding]]
    kept: tuple[Finding, ...] = ()

    @property
    def failures(self) -> tuple[FileFailure, ...]:
        """Rules that crashed."""
        return tuple(failure for file in self.files.values() for failure in file.failures)

    @property
    def suppressed(self) -> int:
        """Number of findings that comments silence."""
        return sum(file.suppressed for file in self.files.values())

    @property
    def unreadable(self) -> dict[str, str]:
        """Why files could not be analysed, by path."""
        return {path: file.unreadable for path, file in self.files.items() if file.unreadable is not None}


class Examiner:
    """Checks the files of a project that rules want to see.

    Args:
        options: what the run was asked to do.
        rules: those that run.
        selected: the files with words of them.
        dispatcher: what asks the rules, in this process only; else one that asks them in the order of the uses.

    Attributes:
        collectors: those of the rules, by name.
    """

    def __init__(
        self,
        options: RunOptions,
        rules: Sequence[Rule],
        selected: Sequence[Selected],
        dispatcher: Dispatcher | None = None,
    ) -> None:
        self._options = options
        self.collectors = {collector.name: collector for rule in rules for collector in rule.collectors}
        self._rules = rules_with(options.own_rules)
        self._running = frozenset(rule.code for rule in rules)
        self._begin = Begin(
            tuple(rule.code for rule in rules),
            options.settings,
            options.own_rules,
            options.memory is not None,
            dispatcher,
        )
        self._wanted = frozenset(file.path for file in selected if file.wanted)
        self._doubtful = tuple(file for file in selected if file.wanted_if and not file.wanted)

    def first(self, project: Project) -> State:
        """Check every file that rules want to see."""
        memory = self._options.memory
        known = memory.unchanged(project, self._options.settings, self.collectors) if memory is not None else {}
        wanted = self.wanted(project)
        kept = {path: known[path] for path in wanted if path in known}
        state = self._state(project, kept, [path for path in wanted if path not in kept])
        if memory is not None:
            memory.note(state.files)
        return state

    def next(self, before: State, project: Project) -> State:
        """Check the files again, in a later state, whose findings may be others than in the state `before`."""
        changes = Changes(before.project, project, self.collectors)
        wanted = self.wanted(project)
        kept = {
            path: before.files[path]
            for path in wanted
            if path in before.files and not changes.concern(before.files[path].asked)
        }
        return self._state(project, kept, [path for path in wanted if path not in kept])

    def _state(self, project: Project, kept: Mapping[str, Examined], paths: Sequence[str]) -> State:
        options = self._options
        files = {**kept, **self.check(project, paths)}
        findings = {path: files[path].findings if path in files else () for path in (*options.files, *options.texts)}
        reported, stays = without_kept(findings, options.settings.torchscript, project)
        return State(project, files, reported, stays)

    def check(self, project: Project, paths: Sequence[str]) -> dict[str, Examined]:
        """What is found in some files, whatever was found before."""
        checked = check_files(project, paths, self._begin, self._options.jobs, self._options.progress)
        return {one.path: self.examined(one) for one in checked}

    def wanted(self, project: Project) -> list[str]:
        """Files that rules want in this state of the project: a fix may have changed what applies to it."""
        codes: frozenset[str] = frozenset().union(*(file.wanted_if for file in self._doubtful))
        applying = {code for code in codes if _applies(self._rules[code], project)}
        return sorted(self._wanted | {file.path for file in self._doubtful if not file.wanted_if.isdisjoint(applying)})

    def examined(self, checked: Checked) -> Examined:
        """What is left of what was found in a file, without what its comments silence."""
        ignored = self._options.per_file_ignores(checked.path)
        found = [finding for finding in checked.findings if finding.code not in ignored]
        ran = self._running - checked.crashed
        kept, silenced = apply_suppressions(checked.path, checked.suppressions, found, self._rules, ran)
        return Examined(tuple(kept), len(silenced), checked.failures, checked.unreadable, checked.asked, checked.told)


def _applies(rule: Rule, project: Project) -> bool:
    try:
        return rule.applies is None or rule.applies(project)
    except Exception:
        return True  # it says so where it runs


@dataclass(frozen=True)
class Begin:
    """Makes what checks the files of a project, in whichever process.

    Attributes:
        codes: rules that run.
        settings: what they may depend on.
        own_rules: files and folders of rules outside torchlift.
        is_remembered: whether what was found is to be told from later states of the project by other processes.
        dispatcher: as of `Examiner`.
    """

    codes: tuple[str, ...]
    settings: Settings
    own_rules: tuple[Path, ...]
    is_remembered: bool = False
    dispatcher: Dispatcher | None = None

    def __call__(self, project: Project) -> Callable[[str], Checked]:
        """The check of one file by its path."""
        dispatcher = self.dispatcher or _dispatcher(self.codes, self.own_rules)
        project.collect_together(dispatcher.collectors)
        teller = None
        if self.is_remembered:
            from torchlift.migrate.earlier_answers import Teller

            teller = Teller(project)
        return partial(_check, project, dispatcher, self.settings, teller)


@lru_cache(maxsize=4)
def _dispatcher(codes: tuple[str, ...], own: tuple[Path, ...]) -> Dispatcher:
    rules = rules_with(own)
    return Dispatcher([rules[code] for code in codes])


def _check(project: Project, dispatcher: Dispatcher, settings: Settings, teller: Teller | None, path: str) -> Checked:
    checked = check_document(open_document(project, path), dispatcher, settings)
    return replace(checked, told=teller.told(checked.asked)) if teller is not None else checked
