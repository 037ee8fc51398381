"""What a run knew of a project, written down and taken over by a later one as far as nothing has changed that it rests on.

A row has a question, its answer where that can be written, what was asked for it, and the rows whose answers were used for it. It holds as
long as all this is as it was, and else if the question, asked anew, has the same answer: whoever rests on it need not be asked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from torchlift.migrate.cache.digests import digest
from torchlift.migrate.cache.records import NotARecord, packed, unpacked
from torchlift.project import Project
from torchlift.search.asked import Asked, Exports, Knowledge, Question
from torchlift.search.changes import Changes

_OURS = "torchlift."
_NO_ANSWER: list[Any] = []
_UNREADABLE = (ValueError, KeyError, TypeError, IndexError)


class Row(NamedTuple):
    """One answer, as it is written: itself, what was asked for it, the keys of others that were used for it."""

    answer: Any
    asked: list[Any]
    others: tuple[str, ...]


class Beneath(NamedTuple):
    """What the findings in one file rest on besides its own questions.

    Attributes:
        keys: those of the rows; None if that cannot be told.
        rows: the ones that this process had not told before, by key.
    """

    keys: tuple[str, ...] | None
    rows: dict[str, Row]


class EarlierAnswers:
    """Answers of an earlier run (`search.asked.Earlier`).

    Args:
        stored: what `written` made.
        changed: files that are others now.
        changes: between the state that the earlier run saw and the present one.
        project: the present one.

    Attributes:
        keys: those of its rows, by their numbers.
    """

    def __init__(self, stored: Mapping[str, Any], changed: frozenset[str], changes: Changes, project: Project) -> None:
        self._changed = changed
        self._changes = changes
        self._project = project
        self._records: Mapping[str, Mapping[str, Any]] = stored["records"]
        self._exports: Mapping[str, Sequence[Any]] = stored["exports"]
        self.keys: list[str] = [row[0] for row in stored["rows"]]
        self._rows: dict[str, Sequence[Any]] = {row[0]: row for row in stored["rows"]}
        self._hold: dict[str, bool] = {}
        self._anew: dict[str, Question] = {}

    def record(self, collector: str, path: str) -> tuple[Any] | None:
        """What a collector recorded of a file."""
        known = self._records.get(path, {}) if path not in self._changed else {}
        if collector in known:
            try:
                return (unpacked(known[collector]),)
            except NotARecord:
                return None
        return None

    def exports(self, path: str) -> Exports | None:
        """What the names of a file are bound to."""
        known = self._exports.get(path) if path not in self._changed else None
        return Exports(dict(known[0]), tuple(known[1])) if known is not None else None

    def answer(self, question: Question) -> tuple[Any, Asked] | None:
        """A shared answer."""
        key = key_of(question)
        if key not in self._rows or self._rows[key][1] == _NO_ANSWER or not self.holds(key) or key in self._anew:
            return None
        asked = Asked()
        asked.earlier.add(key)
        try:
            return unpacked(self._rows[key][1]), asked
        except _UNREADABLE:
            return None

    def holds(self, key: str) -> bool:
        """Whether a row has the same answer now."""
        if key not in self._hold:
            self._hold[key] = False  # nothing rests on itself
            self._hold[key] = key in self._rows and (self._is_untouched(key) or self._is_same(key))
        return self._hold[key]

    def _is_untouched(self, key: str) -> bool:
        return not self._changes.concern(plain_asked(self._rows[key][2])) and all(map(self.holds, self.others(key)))

    def _is_same(self, key: str) -> bool:
        """Whether a question that has to be asked again is answered as it was."""
        answer = self._rows[key][1]
        question = _question(key) if answer != _NO_ANSWER else None
        if question is None:
            return False
        try:
            now = packed(self._project.once(question[0], *question[1]))
        except Exception:
            return False  # whoever asks for it is told what is wrong
        self._anew[key] = question
        return bool(now == answer)

    def others(self, key: str) -> list[str]:
        """The keys of what an answer was made from."""
        return [self.keys[number] for number in self._rows[key][3]]

    def anew(self, key: str) -> Question | None:
        """The question of a row, if it had to be asked again."""
        return self._anew.get(key)

    def beneath(self, key: str) -> Asked:
        """All that a row rests on."""
        found, pending, seen = Asked(), [key], {key}
        while pending:
            one = pending.pop()
            if one in self._anew:
                found.answers.add(self._anew[one])
                continue
            found.add(plain_asked(self._rows[one][2]))
            others = [other for other in self.others(one) if other not in seen]
            pending += others
            seen.update(others)
        return found

    def left(self, told: Mapping[str, Row]) -> dict[str, Row]:
        """The rows that hold together with those that were `told` in this run, without asking anything again."""
        kept: dict[str, bool] = {}

        def stays(key: str) -> bool:
            if key in told:
                return bool(told[key].answer == self._rows[key][1] != _NO_ANSWER)
            if key not in kept:
                kept[key] = False
                asked = plain_asked(self._rows[key][2])
                kept[key] = not self._changes.concern(asked) and all(map(stays, self.others(key)))
            return kept[key]

        return {
            key: Row(row[1], row[2], tuple(self.others(key)))
            for key, row in self._rows.items()
            if key not in told and stays(key)
        }

    def before(self) -> Knowledge:
        """What was known of files that did not change, as it is written."""
        records = {path: one for path, one in self._records.items() if path not in self._changed}
        exports = {path: one for path, one in self._exports.items() if path not in self._changed}
        return Knowledge(records, exports)  # type: ignore[arg-type]


class Teller:
    """Tells, in one process, what answers were made from, each once.

    Args:
        project: the project.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._earlier = project.taken_from if isinstance(project.taken_from, EarlierAnswers) else None
        self._known: dict[Question, str | None] = {}
        self._carried: set[str] = set()
        self._rows: dict[str, Row] = {}

    def told(self, asked: Asked) -> Beneath:
        """What was asked for besides files, and what has not been told of that yet."""
        keys = self._of(asked)
        rows, self._rows = self._rows, {}
        return Beneath(keys, rows)

    def _of(self, asked: Asked) -> tuple[str, ...] | None:
        keys = [self._key(question) for question in asked.answers]
        known = [key for key in keys if key is not None]
        self._carry(asked.earlier)
        return tuple(sorted({*known, *asked.earlier})) if len(known) == len(keys) and not asked.unbounded else None

    def _carry(self, keys: Iterable[str]) -> None:
        """What an earlier run knew rests on answers that were worked out anew: these are told, too."""
        pending = [key for key in keys if key not in self._carried]
        self._carried.update(pending)
        while pending and self._earlier is not None:
            key = pending.pop()
            question = self._earlier.anew(key)
            if question is not None:
                self._key(question)
                continue
            others = [other for other in self._earlier.others(key) if other not in self._carried]
            self._carried.update(others)
            pending += others

    def _key(self, question: Question) -> str | None:
        if question not in self._known:
            self._known[question] = None  # nothing rests on itself
            self._known[question] = self._told(question)
        return self._known[question]

    def _told(self, question: Question) -> str | None:
        if question not in self._project.answers:
            return None
        value, asked = self._project.answers[question]
        key = key_of(question)
        if key is not None and key in asked.earlier:
            self._carry(asked.earlier)
            return key
        others = self._of(asked)
        plain = _answer(partial(asked_plain, self._project.all_asked(asked)))
        if others is None or plain == _NO_ANSWER:
            return None
        row = Row(_answer(partial(packed, value)), plain, others)
        key = key or f"? {digest(row)}"
        self._rows[key] = row
        return key


def written(
    knowledge: Knowledge, told: Mapping[str, Row], earlier: EarlierAnswers | None, asked: Iterable[Iterable[str]]
) -> tuple[dict[str, Any], dict[str, int]]:
    """What is known, for `EarlierAnswers`, together with what an earlier run knew that still holds; and the numbers of rows by key.

    Rows are those that others were `asked` for, and those beneath them.
    """
    records = {path: _writable(one) for path, one in knowledge.records.items() if one}
    exports: dict[str, Any] = {path: [one.names, one.stars] for path, one in knowledge.exports.items()}
    known = dict(told)
    if earlier is not None:
        before = earlier.before()
        for path, one in before.records.items():
            records[path] = {**one, **records.get(path, {})}
        exports = {**before.exports, **exports}
        known |= earlier.left(told)
    rows = _reached(known, asked)
    numbers = {key: number for number, key in enumerate(rows)}
    plain = [[key, row.answer, row.asked, [numbers[other] for other in row.others]] for key, row in rows.items()]
    return {"records": records, "exports": exports, "rows": plain}, numbers


def _reached(known: Mapping[str, Row], asked: Iterable[Iterable[str]]) -> dict[str, Row]:
    """The rows of which some were asked for, but for those that rest on one which is not known."""
    pending = [key for keys in asked for key in keys]
    rows: dict[str, Row] = {}
    while pending:
        key = pending.pop()
        if key in known and key not in rows:
            rows[key] = known[key]
            pending += known[key].others
    while lacking := [key for key, row in rows.items() if any(other not in rows for other in row.others)]:
        for key in lacking:
            del rows[key]
    return rows


def _writable(records: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, record in records.items():
        written = _answer(partial(packed, record))
        if written != _NO_ANSWER:
            found[name] = written
    return found


def _answer(pack: Callable[[], Any]) -> Any:
    """What is written of something; `_NO_ANSWER` where it cannot be."""
    try:
        return pack()
    except (NotARecord, RecursionError):
        return _NO_ANSWER


def key_of(question: Question) -> str | None:
    """How an answer is found again; None where another question might be called the same."""
    function, arguments = question
    try:
        return json.dumps([_name_of(function), packed(arguments)])
    except (NotARecord, RecursionError):
        return None


def _question(key: str) -> Question | None:
    """The question that `key_of` made this of."""
    try:
        name, arguments = json.loads(key)
        return _function(name), unpacked(arguments)
    except _UNREADABLE:
        return None


def asked_plain(asked: Asked) -> list[Any]:
    """What was asked of the files of a project, as JSON has it; shared answers and what cannot be told are not in it.

    Raises:
        NotARecord: a function was asked that cannot be found by its name.
    """
    return [
        sorted(asked.files),
        sorted(asked.names),
        sorted([text.decode("latin-1"), whole] for text, whole in asked.texts),
        sorted(text.decode("latin-1") for text in asked.places),
        sorted(asked.records),
        sorted(map(_name_of, asked.facts)),
    ]


def plain_asked(plain: Sequence[Any]) -> Asked:
    """What `asked_plain` made this of.

    Raises:
        NotARecord: it made nothing like this.
    """
    asked = Asked()
    files, names, texts, places, records, facts = plain
    asked.files = set(map(str, files))
    asked.names = set(map(str, names))
    asked.texts = {(str(text).encode("latin-1"), bool(whole)) for text, whole in texts}
    asked.places = {str(text).encode("latin-1") for text in places}
    asked.records = set(map(str, records))
    asked.facts = set(map(_function, facts))
    return asked


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", "")
    if not name.isidentifier() or not function.__module__.startswith(_OURS):
        raise NotARecord("a function without a name of its own")
    return f"{function.__module__}:{name}"


@lru_cache(maxsize=64)
def _function(name: str) -> Callable[..., Any]:
    module, _, own = name.partition(":")
    if not module.startswith(_OURS):
        raise NotARecord(f"{name[:80]} is not torchlift's")
    try:
        found = getattr(import_module(module), own)
    except (ImportError, AttributeError):
        found = None
    if not callable(found):
        raise NotARecord(f"there is no {name[:80]}")
    return found  # type: ignore[no-any-return]
