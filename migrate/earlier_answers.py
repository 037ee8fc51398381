"""What a run knew of a project, written down and taken over by a later one as far as nothing has changed that it rests on.

A row has a question, its answer where that can be written, what was asked for it, and the rows whose answers were used for it. It holds as
long as all this does. Names in a file were looked up in others: whatever asked about the one rests on these, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from torchlift.migrate.cache.records import NotARecord, packed, unpacked
from torchlift.search.asked import Asked, Exports, Knowledge, Question, User
from torchlift.search.changes import Changes

_OURS = "torchlift."
_NO_ANSWER: list[Any] = []
_Row = tuple[str | None, Any, list[Any], list[int]]
"""Key, answer, what was asked, numbers of other rows; without a key nobody can ask for it."""
_UNREADABLE = (ValueError, KeyError, TypeError, IndexError)


class EarlierAnswers:
    """Answers of an earlier run (`search.asked.Earlier`).

    Args:
        stored: what `written` made.
        changed: files that are others now.
        changes: between the state that the earlier run saw and the present one.
    """

    def __init__(self, stored: Mapping[str, Any], changed: frozenset[str], changes: Changes) -> None:
        self._changed = changed
        self._changes = changes
        self._records: Mapping[str, Mapping[str, Any]] = stored["records"]
        self._exports: Mapping[str, Sequence[Any]] = stored["exports"]
        self._rows: list[_Row] = stored["rows"]
        self._names: dict[str, list[str]] = stored["names"]
        self._numbers = {row[0]: number for number, row in enumerate(self._rows) if row[0] is not None}
        self._hold: dict[int, bool] = {}
        self._touched = _touched(self._names, changed)

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
        return self._of(_key(question))

    def users(self, user: User) -> tuple[tuple[str, ...] | None, Asked] | None:
        """The files that use a name."""
        return self._of(_user_key(user))

    def _of(self, key: str | None) -> tuple[Any, Asked] | None:
        number = self._numbers.get(key) if key is not None else None
        if number is None or self._rows[number][1] == _NO_ANSWER or not self._holds(number):
            return None
        try:
            return unpacked(self._rows[number][1]), self._all_asked(number)
        except _UNREADABLE:
            return None

    def _holds(self, number: int) -> bool:
        """Whether all that a row rests on is as it was."""
        if number not in self._hold:
            self._hold[number] = False  # nothing rests on itself
            _, _, plain, others = self._rows[number]
            asked = plain_asked(plain)
            self._hold[number] = (
                self._touched.isdisjoint(asked.files)
                and not self._changes.concern(asked)
                and all(map(self._holds, others))
            )
        return self._hold[number]

    def _all_asked(self, number: int) -> Asked:
        """All that a row rests on."""
        found, pending, seen = Asked(), [number], {number}
        while pending:
            _, _, plain, others = self._rows[pending.pop()]
            found.add(plain_asked(plain))
            pending += set(others) - seen
            seen.update(others)
        files = list(found.files)
        while files:
            more = set(self._names.get(files.pop(), ())) - found.files
            found.files |= more
            files += more
        return found

    def left(self, keys: Iterable[str | None]) -> list[_Row]:
        """The rows that still hold, with all that they rest on, but for those of some keys."""
        known = frozenset(keys)
        return [
            (key, self._rows[number][1], asked_plain(self._all_asked(number)), [])
            for key, number in self._numbers.items()
            if key not in known and self._rows[number][1] != _NO_ANSWER and self._holds(number)
        ]

    def others(self, knowledge: Knowledge) -> Knowledge:
        """What is known of files that did not change and was not asked for, as it is written."""
        records = {path: one for path, one in self._records.items() if path not in self._changed}
        exports = {path: one for path, one in self._exports.items() if path not in self._changed}
        return knowledge._replace(records=records, exports=exports)  # type: ignore[arg-type]

    @property
    def names(self) -> dict[str, list[str]]:
        """What names in files that did not change rest on."""
        return {path: files for path, files in self._names.items() if path not in self._touched}


def _touched(names: Mapping[str, Sequence[str]], changed: frozenset[str]) -> frozenset[str]:
    """The changed files, and those whose names rest on one of them."""
    resting: dict[str, list[str]] = {}
    for path, files in names.items():
        for file in files:
            resting.setdefault(file, []).append(path)
    found, pending = set(changed), list(changed)
    while pending:
        more = set(resting.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return frozenset(found)


def written(knowledge: Knowledge, earlier: EarlierAnswers | None) -> dict[str, Any]:
    """What is known, for `EarlierAnswers`; together with what an earlier run knew that still holds."""
    rows, unknown = _rows(knowledge)
    names = {path: sorted(asked.files) for path, asked in knowledge.names.items()}
    records = {path: _writable(one) for path, one in knowledge.records.items() if one}
    exports: dict[str, Any] = {path: [one.names, one.stars] for path, one in knowledge.exports.items()}
    if earlier is not None:
        before = earlier.others(knowledge)
        for path, one in before.records.items():
            records[path] = {**one, **records.get(path, {})}
        exports = {**before.exports, **exports}
        rows += earlier.left([*(row[0] for row in rows), *unknown])
        for path, files in earlier.names.items():
            names[path] = sorted({*files, *names.get(path, ())})
    return {"names": names, "records": records, "exports": exports, "rows": rows}


def _writable(records: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, record in records.items():
        written = _answer(partial(packed, record))
        if written != _NO_ANSWER:
            found[name] = written
    return found


def _rows(knowledge: Knowledge) -> tuple[list[_Row], list[str | None]]:
    """The rows of all that holds as long as files do, and the keys of what rests on more."""
    numbers: dict[Question, int] = {}
    rows: list[_Row] = []
    unknown: list[str | None] = []
    answers = knowledge.answers

    def number(question: Question) -> int | None:
        if question not in numbers:
            value, asked = answers[question]
            others = [number(below) for below in asked.answers if below in answers]
            bounded = [one for one in others if one is not None]
            plain = _answer(partial(asked_plain, asked))
            if asked.unbounded or len(bounded) < len(asked.answers) or plain == _NO_ANSWER:
                numbers[question] = -1
                unknown.append(_key(question))
            else:
                numbers[question] = len(rows)
                rows.append((_key(question), _answer(partial(packed, value)), plain, bounded))
        return numbers[question] if numbers[question] >= 0 else None

    for question in answers:
        number(question)
    for user, (paths, asked) in knowledge.users.items():
        others = [numbers.get(below, -1) for below in asked.answers]
        plain = _answer(partial(asked_plain, asked))
        if asked.unbounded or -1 in others or plain == _NO_ANSWER:
            unknown.append(_user_key(user))
        else:
            rows.append((_user_key(user), packed(paths), plain, others))
    return rows, unknown


def _answer(pack: Callable[[], Any]) -> Any:
    """What is written of something; `_NO_ANSWER` where it cannot be."""
    try:
        return pack()
    except (NotARecord, RecursionError):
        return _NO_ANSWER


def _key(question: Question) -> str | None:
    """How an answer is found again; None where another question might be called the same."""
    function, arguments = question
    try:
        return json.dumps([_name_of(function), packed(arguments)])
    except (NotARecord, RecursionError):
        return None


def _user_key(user: User) -> str:
    return json.dumps(["who uses", *user])


def asked_plain(asked: Asked) -> list[Any]:
    """What was asked of the files of a project, as JSON has it; shared answers and what cannot be told are not in it.

    Raises:
        NotARecord: a function was asked that cannot be found by its name.
    """
    return [
        sorted(asked.files),
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
    files, texts, places, records, facts = plain
    asked.files = set(map(str, files))
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
