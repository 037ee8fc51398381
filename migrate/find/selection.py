"""Who wants to see a file, decided on its bytes: nothing is parsed here."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from functools import cached_property, lru_cache, partial

from torchlift.file_bytes import is_in_file
from torchlift.finding import FileFailure
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.find.unreadable import why_unreadable
from torchlift.notebook import is_notebook
from torchlift.project import Project
from torchlift.rules.rule import Rule, Settings
from torchlift.rules.rule_index import search_terms
from torchlift.rules.search_terms import is_table, owner, tabled, terms_of
from torchlift.search.glance import Glance
from torchlift.search.parties import Party, Sighting, Wanted
from torchlift.search.prefilter import Prefilter, Words
from torchlift.search.vocabulary import encoded, vocabulary, words_in
from torchlift.source import UnreadableSource
from torchlift.view.page_code import PageCode, command_code, page_code
from torchlift.view.text import SCRIPTS, WITH_PYTHON, TextKind, kind_in_run, read_text
from torchlift.wrappers import Wrappers

Progress = Callable[[str, int, int], None]

_MANY = 64
"""Files below which nobody asks whether a second process pays."""
# Where a value is scripted, rules ask the whole project dozens of questions about it; others are hardly searched.
_SCRIPTING = (b"jit", b"script")

RULES = "rules"
"""Stands for the rules among those who want a file, but for those that do not apply to every project: each has its code."""


@dataclass(frozen=True)
class Selected:
    """Who wants to see one file.

    Attributes:
        path: the file.
        wanted: whether rules run on it.
        wanted_if: codes of rules that it has to be looked at for, too, where they apply to the project.
        collectors: names of those that may have a record of it.
        failure: a defect of torchlift that kept all this from being known.
        unreadable: why it cannot be analysed: a sentence without its end.
        noted: which of the words stand in it that somebody asked about on the way.
    """

    path: str
    wanted: bool = False
    wanted_if: frozenset[str] = frozenset()
    collectors: frozenset[str] = frozenset()
    failure: FileFailure | None = None
    unreadable: str | None = None
    noted: Set[bytes] = frozenset()


_Look = tuple[Selected, "bytes | None"]
"""Who wants to see a file, and its vocabulary."""


def select_files(
    project: Project,
    paths: Sequence[str],
    rules: Sequence[Rule],
    settings: Settings,
    progress: Progress | None = None,
    noting: frozenset[bytes] = frozenset(),
    jobs: int = 1,
) -> list[Selected]:
    """Who wants to see each of `paths`, in their order, and which of the words `noting` stand in it."""
    selection = Selection(project, sieves(tuple(rules), settings), noting)
    conditional = frozenset(rule.code for rule in rules if rule.applies is not None)
    found: dict[str, Selected] = {}
    look = partial(_selected, selection, conditional)
    looked = ((path, look(path)) for path in paths) if len(paths) < _MANY else _shared(project, paths, look, jobs)
    for path, (selected, words) in looked:
        found[path] = selected
        if words is not None:
            project.remember_words(path, words)
        if progress:
            progress("select", len(found), len(paths))
    return [found[path] for path in paths]


def _shared(
    project: Project, paths: Sequence[str], look: Callable[[str], _Look], jobs: int
) -> Iterator[tuple[str, _Look]]:
    from torchlift.migrate.find.parallel import looked_at

    return looked_at(project, paths, look, jobs)


def _selected(selection: Selection, conditional: Set[str], path: str) -> _Look:
    """Who wants to see a file, and its vocabulary if that is to be searched later on."""
    try:
        wanted_by = selection.wanted_by(path)
    except Exception:
        import traceback

        reason = "It could not be told whether rules want the file, and nothing is known about it."
        failure = FileFailure(path, "select", reason, ours=True, detail=traceback.format_exc())
        return Selected(path, failure=failure), None
    codes = wanted_by & conditional
    selected = Selected(path, RULES in wanted_by, codes, wanted_by - codes - {RULES}, noted=selection.noted)
    return selected, selection.vocabulary


def select_texts(
    project: Project, paths: Sequence[str], rules: Sequence[Rule], settings: Settings, named: Collection[str]
) -> list[Selected]:
    """Those of the text files `paths` that rules want to see, and those that cannot be read, in their order.

    A file that cannot be read is left out unless it is among the `named` ones: what looks like a script may well be data.
    """
    prefilters: dict[TextKind, Prefilter] = {}
    asked = [rule for rule in rules if rule.wants is None or rule.wants(settings)]
    found = []
    for path in paths:
        try:
            data = project.data(path)
            kind = kind_in_run(path, data)
            if kind not in prefilters:
                prefilters[kind] = _text_prefilter(_text_triggers(asked, kind))
            wanted = prefilters[kind].matches(data) or b"torchlift:" in data
            if not wanted and kind in WITH_PYTHON and b"torch" in data and (kind == "markdown" or _may_hand_code(data)):
                code = (page_code if kind == "markdown" else command_code)(read_text(data).text)
                wanted = _is_code_wanted(code, sieves(tuple(rules), settings))
            if wanted or (path in named and b"\0" in data):
                read_text(data)
        except (OSError, UnreadableSource) as error:
            if path in named:
                found.append(Selected(path, unreadable=why_unreadable(error)))
            continue
        if wanted:
            found.append(Selected(path, wanted=True))
    return found


def _may_hand_code(data: bytes) -> bool:
    """Whether a script may hand Python code to an interpreter, in a string or from what follows."""
    return b"python" in data and (b"-c" in data or b"<<" in data)


def _is_code_wanted(code: PageCode, sieves: Sieves) -> bool:
    """Whether the Python in a page or a script has words of a rule in it."""
    data = code.text.encode()
    return any(sieves.found(Words(data, words_in(data, sieves.words))))


def _text_triggers(rules: Sequence[Rule], kind: TextKind) -> tuple[str, ...]:
    asked = (rule for rule in rules if rule.text is not None and kind in (rule.text_kinds or SCRIPTS))
    return tuple(word for rule in asked for word in rule.text_triggers)


@lru_cache(maxsize=64)
def _text_prefilter(triggers: tuple[str, ...]) -> Prefilter:
    return Prefilter(triggers)


class Sieves:
    """What rules and their collectors look for, ready to be compared with any file of any project.

    Args:
        rules: those that run.
        settings: what their tests of a call may depend on.

    Attributes:
        whole: codes of the rules that may report something about a whole file.
        parties: who asks for a glance, but for `RULES`.
        texts: what else in a file leads to a record of a collector, by its name.
        words: all words that have to be known of a file.
    """

    def __init__(self, rules: Sequence[Rule], settings: Settings) -> None:
        self._rules = rules
        self._settings = settings.widest
        self._wrappers = Wrappers(settings.wrappers)
        codes = frozenset(rule.code for rule in rules)
        terms = search_terms(codes, settings.wrappers) or terms_of(rules, self._wrappers)
        self._prefilter = terms.prefilter
        self.words = terms.words | frozenset(_SCRIPTING)
        self._collectors = {collector.name: collector for rule in rules for collector in rule.collectors}
        self.texts = {name: one.text for name, one in self._collectors.items() if one.text is not None}
        self.whole = frozenset(rule.code for rule in rules if looks_at_files(rule, settings))
        self._together = frozenset(rule.code for rule in rules if rule.has_names and rule.applies is None)
        self._apart = frozenset(rule.code for rule in rules if rule.whole_triggers)
        conditional = frozenset(rule.code for rule in rules if rule.whole is None and rule.applies is not None)
        self.parties = conditional.union(name for name, one in self._collectors.items() if one.targets)
        self._others = self.whole.union(conditional, self._collectors)

    def found(self, words: Words) -> tuple[frozenset[str], frozenset[str]]:
        """What has a trigger in a file: of the rules that ask together, and of the others and the collectors."""
        named = self._prefilter.found_among(words)
        together = frozenset(name for name in named - self._apart if owner(name) in self._together)
        return together, self._others & named

    @cached_property
    def glance(self) -> Glance:
        """The glance, made for the first file that gets one."""
        parties = {
            name: Party({name: Wanted(c.targets, c.matters)}) for name, c in self._collectors.items() if c.targets
        }
        wanted: dict[str, Wanted] = {}
        for rule in self._rules:
            test = _test(rule, self._settings)
            if not rule.has_names:
                continue
            if rule.applies is not None:
                parties[rule.code] = Party({rule.code: Wanted(rule.targets, test)})
            elif is_table(rule):
                wanted.update((tabled(rule, target), Wanted((target,), test)) for target in rule.targets)
            else:
                wanted[rule.code] = Wanted(rule.targets, test)
        parties[RULES] = Party(wanted)
        return Glance(parties, self._wrappers)


@lru_cache(maxsize=4)
def sieves(rules: tuple[Rule, ...], settings: Settings) -> Sieves:
    """The sieves of a run. To make them takes longer than to look at a small project, so the next run finds them made."""
    return Sieves(rules, settings)


class Selection:
    """Finds the files of a project that rules and collectors want.

    First the words of a file are compared with the triggers. Where that leaves a rule, a glance at the imports and at what
    is written with them tells whether the words are names of torch.

    Attributes:
        noted: which of the words `noting` stand in the file that was looked at last.
        vocabulary: that of this file, where the project is going to be searched.
    """

    def __init__(self, project: Project, sieves: Sieves, noting: frozenset[bytes] = frozenset()) -> None:
        self.noted: Set[bytes] = frozenset()
        self.vocabulary: bytes | None = None
        self._project = project
        self._sieves = sieves
        self._noting = noting
        self._words = sieves.words | noting
        self._is_searched = False

    def wanted_by(self, path: str) -> frozenset[str]:
        """Names of the collectors that want to see a file, `RULES`, and codes of rules that do not apply to every project.

        A file that cannot be read is reported where it is parsed.
        """
        try:
            data = self._project.data(path)
        except OSError as error:
            return frozenset() if self._is_data(path, error) else frozenset((RULES,))
        sieves = self._sieves
        words = Words(data, self._words_of(path, data))
        self.noted = self._noting & words.present if self._noting else self._noting
        askers, found = sieves.found(words)
        whole, collectors = found & sieves.whole, found - sieves.whole
        asking = {name: frozenset((name,)) for name in collectors & sieves.parties}
        asking = {name: one for name, one in asking.items() if name not in sieves.texts or not sieves.texts[name](data)}
        if askers:
            asking[RULES] = askers
        found = collectors | asking.keys()
        if asking and encoded(self._project.module_name(path).partition(".")[0]) not in sieves.glance.heads:
            # In a part of torch itself, what is defined are torch's names.
            found -= asking.keys() - sieves.glance.served(data, words.present, asking, partial(self._may_be_own, path))
        return found | {RULES} if whole or b"torchlift:" in data else found

    def _is_data(self, path: str, error: OSError) -> bool:
        """Whether a file is too large to be read and a notebook that never speaks of torch: outputs make it large."""
        if error.errno != errno.EFBIG or not is_notebook(path):
            return False
        try:
            return not is_in_file(b"torch", self._project.root / path)
        except OSError:
            return False

    def _words_of(self, path: str, data: bytes) -> Set[bytes]:
        self.vocabulary = None
        if self._is_searched:
            words = words_in(data)
            self.vocabulary = vocabulary(words)
            return words
        present = words_in(data, self._words)
        self._is_searched = all(word in present for word in _SCRIPTING) and b".".join(_SCRIPTING) in data
        return present

    def _may_be_own(self, path: str, name: str) -> bool:
        return self._project.may_own(name.partition(".")[0], path)


def looks_at_files(rule: Rule, settings: Settings) -> bool:
    """Whether a rule may report something about a whole file of Python."""
    return rule.whole is not None and (rule.wants is None or rule.wants(settings))


def _test(rule: Rule, settings: Settings) -> Callable[[Sighting], bool] | None:
    matters = rule.matters
    if matters is None:
        return None
    return lambda seen: seen.call is not None and matters(seen.target, seen.call, settings)
