"""What is known of a project before anything in it is checked: which of its files rules want to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torchlift.finding import FileFailure
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.find.selection import Selected, select_files, select_texts
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import RunResult
from torchlift.notebook import is_notebook
from torchlift.project import Deferred, Project
from torchlift.rules.rule_index import newer_words
from torchlift.versions import LATEST, TorchVersion
from torchlift.wrappers import Wrappers


@dataclass(frozen=True)
class KnownProject:
    """What is known of a project before anything in it is checked.

    Attributes:
        options: what was to be done, with the lowest torch that the code leaves where nothing else tells it.
        selected: which files rules want to see.
        project: the project with all its files.
        failures: what could not be listed.
    """

    options: RunOptions
    selected: tuple[Selected, ...]
    project: Project
    failures: tuple[FileFailure, ...] = ()

    @property
    def is_any_wanted(self) -> bool:
        """Whether rules want to see a file."""
        return any(file.wanted or file.wanted_if for file in self.selected)

    @property
    def all_failures(self) -> list[FileFailure]:
        """These, and the files of which it could not be told who wants to see them."""
        return [*self.failures, *(file.failure for file in self.selected if file.failure is not None)]


def read(options: RunOptions) -> KnownProject:
    """Look which files a run has to check."""
    rules = options.rules
    project = Project(options.root, options.files, options.overlay, wrappers=Wrappers(options.settings.wrappers))
    noting = newer_words() if options.ask_code else frozenset()
    notebooks = [path for path in options.files if is_notebook(path)]  # which hold commands, too
    texts = (*options.texts, *notebooks)
    known, known_texts = options.memory.selected(options, texts) if options.memory is not None else ({}, {})
    anew = [path for path in options.files if path not in known]
    looked = select_files(project, anew, rules, options.settings, options.progress, noting, options.jobs)
    python = _in_order(options.files, known, looked)
    texts_anew = [path for path in texts if path not in known_texts]
    looked_texts = select_texts(project, texts_anew, rules, options.settings, options.named)
    selected = (
        *python,
        *(file for file in _in_order(texts, known_texts, looked_texts) if file.wanted or file.unreadable),
    )
    if options.memory is not None:
        options.memory.note_selected(looked, looked_texts)
    reading = KnownProject(options, selected, project)
    if not reading.is_any_wanted:
        return reading
    project = _whole_project(options, project, python)
    if options.ask_code:
        from torchlift.migrate.find.newest_name import with_newest_name

        options = with_newest_name(options, project, python)
    return KnownProject(options, selected, project)


def _in_order(paths: Sequence[str], known: Mapping[str, Selected], looked: Iterable[Selected]) -> list[Selected]:
    """What is known of files, and what was seen of the others, in the order of `paths`."""
    found = {**known, **{file.path: file for file in looked}}
    return [found[path] for path in paths if path in found]


def result_of(options: RunOptions, failures: Iterable[FileFailure]) -> RunResult:
    """What a run comes to in which nothing is found."""
    return RunResult(
        mode=options.mode,
        unsafe_fixes=options.unsafe_fixes,
        target=options.settings.target,
        min_torch=options.settings.min_torch,
        min_torch_source=options.min_torch_source,
        files_seen=len(options.files) + len(options.texts),
        files_analysed=0,
        outcomes=(),
        failures=tuple(sorted(failures, key=lambda failure: (failure.path, failure.stage, failure.reason))),
        suppressed=0,
        notes=_beyond_the_data(options.settings.target),
        root=options.root,
        evidence=options.settings.evidence.name if options.settings.evidence is not None else None,
    )


def _beyond_the_data(target: TorchVersion) -> tuple[str, ...]:
    """A sentence where nobody knows yet what the target changes."""
    if target[:2] <= LATEST[:2]:
        return ()
    return (
        f"torch {target} is newer than torchlift's data, which ends with {LATEST}: what it changes is not known here.",
    )


def _whole_project(options: RunOptions, project: Project, selected: Sequence[Selected]) -> Project:
    """The project with those of its files that the run was not given, and what is known of the others."""
    files = options.project_files() if options.project_files else options.files
    known = {file.path: dict.fromkeys(file.collectors, Deferred.DEFERRED) for file in selected}
    return project.with_records(sorted({*files, *options.files}), known)
