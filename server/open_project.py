"""One project while files of it are edited: each change makes a new state, of which only what may be another is found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os.path import relpath, sep
from pathlib import Path

from torchlift.finding import FileFailure, Finding, Safety
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.baseline import KnownFindings, known_findings
from torchlift.migrate.cell_places import in_cells
from torchlift.migrate.document import open_document
from torchlift.migrate.examine import Examiner
from torchlift.migrate.find.check import Checked
from torchlift.migrate.find.kept import without_kept
from torchlift.migrate.find.selection import Selected, select_files, select_texts
from torchlift.migrate.fix.obstacles import Obstacles
from torchlift.migrate.fix.settle import components, settle
from torchlift.migrate.library import read_project
from torchlift.migrate.outcomes import unreadable_outcomes
from torchlift.migrate.remembered import Examined
from torchlift.migrate.result import Mode
from torchlift.migrate.rewriting import rewritten
from torchlift.migrate.run import KnownProject, examine
from torchlift.migrate.workspace.config import Config
from torchlift.notebook import is_notebook, read_source
from torchlift.rules.own_rules import rules_with
from torchlift.rules.registry import names_of
from torchlift.rules.rule_index import newer_words
from torchlift.search.changes import Changes
from torchlift.server.quick_first import QuickFirst, Stopped, moved
from torchlift.source import SourceText, UnreadableSource
from torchlift.terminal.collector import calm_collector
from torchlift.view.text import read_text

# Where these are saved, other files may be part of the project, or other releases its lowest.
_DECIDES = (
    "pyproject.toml", "torchlift.toml", "setup.py", "setup.cfg", "noxfile.py", "tox.ini", ".gitignore", ".lock", ".txt",
    ".in", ".yml", ".yaml",
)  # fmt: skip
_NO_CELLS = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def _as_written(path: str, on_disk: SourceText | None, text: str) -> SourceText:
    """What an open file holds: `text`, of a notebook a file of nbformat 4."""
    if not is_notebook(path):
        return (on_disk or SourceText("")).replaced(text)
    try:
        return read_source(path, text.encode("utf-8", "surrogatepass"))
    except UnreadableSource:
        # Half a sign, or a line end that no file of Python has: nothing is known until it is gone.
        return read_source(path, _NO_CELLS)


class CannotFix(Exception):
    """A fix cannot be carried out; the message is a sentence."""


@dataclass(frozen=True)
class Report:
    """What was found in the files that somebody asked about.

    Attributes:
        findings: by path, in source order, fixes that cannot be applied taken out; their spans are in `sources`.
        sources: the texts that were looked at, by path.
        failures: defects of torchlift that were met.
    """

    findings: Mapping[str, Sequence[Finding]]
    sources: Mapping[str, SourceText]
    failures: tuple[FileFailure, ...] = ()


class OpenProject:
    """A project some of whose files are being edited. Not for several threads at once.

    Args:
        folder: the folder that is open in the editor.
        config: how to work; rules of the project's own that nobody allowed are left out.

    Attributes:
        left_out: where those stand.

    Raises:
        ConfigError: the configuration cannot be used.
        RuleFileError: a rule of the project's own cannot be loaded.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.left_out = config.extend_rules if not config.allow_own_rules else ()
        config = _without_own_rules(config) if self.left_out else config
        known = read_project([folder], replace(config, jobs=1))
        self.options = known.options
        self.root = known.options.root
        self._rules = [rule for code, rule in rules_with(self.options.own_rules).items() if code in self.options.codes]
        self._python = frozenset(known.options.files)
        self._texts = frozenset(known.options.texts)
        self._selected: dict[str, Selected] = {one.path: one for one in known.selected}
        self._project = known.project
        self._quick_first = QuickFirst(self._rules)
        self._last: dict[str, tuple[SourceText, Sequence[Finding]]] = {}
        self._examiner = self._new_examiner()
        self._known: dict[str, Examined] = {}
        self._written: set[str] = set()
        self._settled: Mapping[str, Sequence[Finding]] = {}
        self._noted = {one.path: one.noted for one in known.selected}
        self._baseline_file: str | None = None
        self._baseline: KnownFindings | None = None
        if config.baseline is not None:
            self._baseline = known_findings(config, self.options, write=False)
            self._baseline_file = relpath(config.path_of(config.baseline), self.root).replace(sep, "/")
        calm_collector()

    def holds(self, path: str) -> bool:
        """Whether a file, relative to `root`, is one of those that a run over the folder looks at."""
        return path in self._python or path in self._texts

    @staticmethod
    def decides(path: str) -> bool:
        """Whether a file decides, once it is saved, how all others are looked at."""
        return path.endswith(_DECIDES)

    def was_written(self, path: str) -> None:
        """A file that may not be open has another text on disk."""
        self._written.add(path)

    def is_outdated_by(self, path: str) -> bool:
        """Whether the project has to be read anew after a file was written, made or removed."""
        on_disk = (self.root / path).is_file()
        if path == self._baseline_file:
            return True
        if self.decides(path) or on_disk is not self.holds(path):
            return self.decides(path) or path.endswith((".py", ".pyi", ".ipynb"))
        noted = self._selected[path].noted if path in self._selected else frozenset()
        return self.options.ask_code and noted != self._noted.get(path, frozenset())

    def report(
        self,
        texts: Mapping[str, str],
        stop: Callable[[], bool] = lambda: False,
        soon: Callable[[Report], None] = lambda report: None,
    ) -> Report | None:
        """What is found in files that are open.

        Args:
            texts: what they hold now, by path; all other files are as on disk.
            stop: asked now and then whether nobody wants to know any more.
            soon: told what is known of a file before the rules are asked that take their time: of those, what they said last.

        Returns:
            None when stopped.
        """
        asked = [path for path in texts if self.holds(path)]
        self._quick_first.stop = stop
        self._quick_first.tell = lambda checked: soon(self._soon(checked)) if checked.path in asked else None
        try:
            return self._report(texts, asked, stop)
        except Stopped:
            return None

    def _soon(self, checked: Checked) -> Report:
        path, source = checked.path, self._source_of(checked.path)
        silences = tuple(open_document(self._project, path).suppressions())
        found = list(self._examiner.examined(replace(checked, suppressions=silences)).findings)
        if path in self._last:
            before, told = self._last[path]
            unasked = (one for one in told if one.code in checked.crashed)
            found += moved(unasked, before.text, source.text)
        return Report({path: self._left(path, found)}, {path: source})

    def _report(self, texts: Mapping[str, str], asked: Sequence[str], stop: Callable[[], bool]) -> Report | None:
        self._take(texts)
        pending = list(asked)
        if self.options.settings.torchscript.keep or self.options.settings.torchscript.support == "keep":
            pending += self._examiner.wanted(self._project)
        wanted, seen = frozenset(self._examiner.wanted(self._project)), set(pending)
        while pending:
            if stop():
                return None
            path = pending.pop()
            if path in wanted and path not in self._known:
                self._known.update(self._examiner.check(self._project, [path]))
            # Fixes that go together are applied together or not at all: their other places count.
            found = self._known[path].findings if path in self._known else ()
            others = {other for finding in found for group in finding.groups for other in group.paths} - seen
            seen |= others
            pending += sorted(others)
        findings = {
            path: self._known[path].findings if path in self._known else () for path in self._python | self._texts
        }
        reported, _ = without_kept(findings, self.options.settings.torchscript, self._project)
        self._settled = settle(reported, {}, {})
        unreadable = {path: why for path in asked if path in self._known and (why := self._known[path].unreadable)}
        broken = unreadable_outcomes(self.options, unreadable)
        left = {path: broken[path].left if path in broken else self._settled[path] for path in asked}
        sources = {path: self._source_of(path) for path in asked}
        self._last = {path: (sources[path], left[path]) for path in asked}
        return Report(
            {path: self._left(path, found) for path, found in left.items()},
            sources,
            tuple(failure for path in asked if path in self._known for failure in self._known[path].failures),
        )

    def _left(self, path: str, found: Iterable[Finding]) -> Sequence[Finding]:
        """What is told of findings in a file: in order, with places as a run tells them, without those of the baseline."""
        told = tuple(self._in_cells(one) for one in sorted(found, key=Finding.sort_key))
        return told if self._baseline is None else self._baseline.new_in(path, told, self._source_of(path))

    def fixed(self, path: str, finding: Finding) -> dict[str, tuple[SourceText, SourceText]]:
        """Texts before and after the fix of a finding of the last report, and of those that go together with it.

        Raises:
            CannotFix: it cannot be carried out.
        """
        settled = enumerate(self._settled.get(path, ()))
        here = [(at, one) for at, one in settled if self._in_cells(one).sort_key() == finding.sort_key()]
        if not here:
            raise CannotFix("The file has changed since this was found.")
        together = next((one for one in components(self._settled) if (path, here[0][0]) in one), [(path, here[0][0])])
        chosen: dict[str, list[Finding]] = {}
        for other, index in together:
            chosen.setdefault(other, []).append(self._settled[other][index])
        new, obstacles = rewritten(self._project, chosen, Obstacles(), self.options.settings.torchscript)
        if obstacles.blocked or obstacles.held:
            told = [*obstacles.held.values(), *(f"{path} {why}." for path, why in obstacles.blocked.items())]
            raise CannotFix(" ".join(dict.fromkeys(told)))
        return {other: (self._source_of(other), text) for other, text in new.items()}

    def all_fixed(self, path: str, allowed: frozenset[Safety]) -> tuple[SourceText, SourceText] | None:
        """The text of a file before and after all of its own fixes of such safety; None where there are none."""
        options = replace(
            self.options,
            mode=Mode.DIFF,
            unsafe_fixes=Safety.UNSAFE in allowed,
            files=(path,) if path in self._python else (),
            texts=(path,) if path in self._texts else (),
        )
        chosen = self._selected.get(path)
        if chosen is None:
            return None
        result = examine(options, KnownProject(options, (chosen,), self._project))
        new = next((outcome.new_text for outcome in result.outcomes if outcome.path == path), None)
        before = self._source_of(path)
        return None if new is None else (before, before.replaced(new))

    def _in_cells(self, finding: Finding) -> Finding:
        """The finding as a run tells it."""
        return in_cells(finding, self._project)

    def _take(self, texts: Mapping[str, str]) -> None:
        """Make a state in which the open files hold `texts`, and those that were closed what is on disk."""
        changed: dict[str, SourceText] = {}
        for path in {*texts, *self._project.overlay, *self._written}:
            if not self.holds(path):
                continue
            now = self._on_disk(path)
            if path in texts:
                now = _as_written(path, now, texts[path])
            if now is not None and now != self._source_or_none(path):
                changed[path] = now
        self._written.clear()
        if not changed:
            return
        before = self._project
        self._project = before.with_texts(changed)
        self._select(changed)
        self._examiner = self._new_examiner()
        changes = Changes(before, self._project, self._examiner.collectors)
        self._known = {
            path: one for path, one in self._known.items() if path not in changed and not changes.concern(one.asked)
        }

    def _select(self, paths: Mapping[str, SourceText]) -> None:
        project, options = self._project, self.options
        python = [path for path in paths if path in self._python]
        noting = newer_words() if options.ask_code else frozenset()
        found = select_files(project, python, self._rules, options.settings, None, noting)
        texts = [path for path in paths if path in self._texts]
        found += select_texts(project, texts, self._rules, options.settings, options.named)
        for path in paths:
            self._selected.pop(path, None)
        for one in found:
            self._selected[one.path] = one
            if one.failure is None and one.path in self._python:
                project.may_have_records(one.path, one.collectors)

    def _new_examiner(self) -> Examiner:
        return Examiner(self.options, self._rules, tuple(self._selected.values()), self._quick_first)

    def _on_disk(self, path: str) -> SourceText | None:
        """The file as it was last written; None if it is not there or is no text."""
        try:
            data = (self.root / path).read_bytes()
            return read_source(path, data) if path in self._python else read_text(data)
        except (OSError, UnreadableSource):
            return None

    def _source_of(self, path: str) -> SourceText:
        return self._source_or_none(path) or SourceText("")

    def _source_or_none(self, path: str) -> SourceText | None:
        try:
            return open_document(self._project, path).source
        except (OSError, UnreadableSource):
            return None


def _without_own_rules(config: Config) -> Config:
    """A configuration that names no rule of the project's own: neither where they stand nor what is selected or ignored of them."""
    known = {"ALL", *names_of(rules_with(()).values())}

    def named(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in known or name.startswith(("TL", "TOR")))

    ignored = {pattern: named(names) for pattern, names in config.per_file_ignores.items()}
    return replace(
        config,
        extend_rules=(),
        select=named(config.select),
        ignore=named(config.ignore),
        per_file_ignores=ignored,
    )
