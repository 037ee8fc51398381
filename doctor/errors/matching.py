"""Which rows of the table a text can be about, and where in it they match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.errors.table import KNOWN

_BLANKS = r"(?:\s{1,60})"
_QUOTE = r"(?:\\?['\"`\u2018\u2019])"
"""What people and loggers write for a single quotation mark."""
_QUOTED = re.compile(r"\[(?:\\.|[^\]\\]){1,200}\]|\\.|'")
_QUANTIFIERS = "?*+{"
_TELLING = 7
"""Letters of a word that few logs have."""
_MOST_COMBINED = 64
"""Sets of words for one alternative whose groups stand for each other's choices."""
_DIGITS = "0123456789"
_NOT_IN_NAMES = re.compile(r"[^\w.+:/@=<>~-]")
_NOT_IN_SENTENCES = re.compile(r"[^\w.+:/@=<>~\\ -]")
_LONGEST_NAME = 80
_LONGEST_MESSAGE = 1200
"""Characters from the beginning of a match in which its values stand."""
_IN_BRACKETS = re.compile(r" \(\{(\w+)\}\)")
_GROUP_NAME = re.compile(r"\?(?::|P<\w+>)")
_TOKEN = re.compile(r"[A-Za-z_]{3,}")
_SYMBOL = re.compile(r"_Z(?:T[ISV])?(?:N(?:[VK]|St)?)?(\d{1,3})")
_LETTERS_ONLY = {code: " " for code in range(128) if not (chr(code).isalpha() or chr(code) == "_")}


@cache
def expression(row: KnownError) -> re.Pattern[str]:
    """The row's pattern, in which a blank stands for any blanks, and a quotation mark for any."""
    quoted = _QUOTED.sub(lambda found: _QUOTE if found[0] == "'" else found[0], row.pattern)
    return re.compile(quoted.replace(" ", _BLANKS), re.MULTILINE)


def _owner(symbol: str) -> str:
    """The outermost namespace or class of a C++ name as compilers write it (Itanium C++ ABI, 5.1), or the function itself where it has none; empty for other names."""
    head = _SYMBOL.match(symbol)
    return symbol[head.end() :][: int(head[1])] if head else ""


def filled(
    text: str, match: re.Match[str], terms: Iterable[tuple[str, str]] = (), foreign: re.Pattern[str] = _NOT_IN_NAMES
) -> str:
    """A cause, remedy or command in which the names of the pattern's groups stand in braces, with what they matched less what is foreign there."""
    if not match.re.groupindex:
        return text
    # A group that matched nothing is left out of the sentence; one of another alternative is not named.
    named: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value is not None:
            named[name.rstrip(_DIGITS)] = value or named.get(name.rstrip(_DIGITS), "")
    # Only what names consist of: the text that is read may be hostile.
    said = {name: " ".join(foreign.sub("", value)[:_LONGEST_NAME].split()).strip(": ") for name, value in named.items()}
    said["meaning"] = dict(terms).get(said.get("term", ""), "")
    said["owner"] = _owner(said.get("symbol", ""))
    text = _IN_BRACKETS.sub(lambda found: found[0] if said.get(found[1]) else "", text)
    empty = {name for name, value in named.items() if not value}
    return re.sub(
        r"\{(\w+)\}", lambda found: said.get(found[1]) or ("" if found[1] in empty else "what it names"), text
    )


def worded(row: KnownError, match: re.Match[str], around: str = "") -> KnownError:
    """The row with the names in this place of a text, and of its causes those first for which the text around speaks."""
    if row.causes:
        row = _spoken_for(row, match, around)
    if not match.re.groupindex:
        return row
    cause, remedy = (filled(text, match, row.terms, _NOT_IN_SENTENCES) for text in (row.cause, row.remedy))
    command = None if row.command is None else filled(row.command, match, row.terms)
    return replace(row, cause=cause, remedy=remedy, command=command)


def _spoken_for(row: KnownError, match: re.Match[str], around: str) -> KnownError:
    reading = None if row.reads is None else row.reads(match.string[match.start() : match.start() + _LONGEST_MESSAGE])
    causes = [replace(each, spoken=bool(each.seen) and re.search(each.seen, around) is not None) for each in row.causes]
    if reading is not None:
        causes.insert(0, replace(causes.pop(reading.chosen), spoken=True))
        row = replace(row, cause=reading.says)
    return replace(row, causes=tuple(sorted(causes, key=lambda each: not each.spoken)))


def first_match(text: str, rows: Iterable[KnownError] = KNOWN) -> KnownError | None:
    """The first row of the table that is anywhere in a short text."""
    return next((row for row in rows if expression(row).search(text)), None)


@cache
def words(pattern: str) -> tuple[frozenset[str], ...]:
    """For each alternative of a pattern, letters that stand in every text that it matches; where they are few, for each choice of its groups, too."""
    return tuple(each for alternative in _alternatives(pattern) for each in _words(alternative))


def _words(alternative: str) -> list[frozenset[str]]:
    letters = frozenset(word for run in _literals(alternative) for word in _TOKEN.findall(run))
    if _longest(letters) >= _TELLING:
        return [letters]
    in_groups = [[each for part in _alternatives(group) for each in _words(part)] for group in _groups(alternative)]
    usable = sorted(filter(all, in_groups), key=lambda each: min(map(_longest, each)), reverse=True)
    found = [letters]
    for inner in usable:
        if len(found) == 1 or len(found) * len(inner) <= _MOST_COMBINED:
            found = [known | more for known in found for more in inner]
    return found


def _longest(letters: frozenset[str]) -> int:
    return max(map(len, letters), default=0)


def _groups(alternative: str) -> Iterator[str]:
    """What stands in the outermost groups that match something in every text."""
    start = 0
    for index, character, depth in _walk(alternative):
        if character == "(" and depth == 1:
            start = index + 1
        elif character == ")" and depth == 1:
            group = _GROUP_NAME.sub("", alternative[start:index])
            if not alternative.startswith(("?", "*", "{0"), index + 1) and not group.startswith("?"):
                yield group


def vocabulary(text: str) -> str:
    """The different words of a text: of a log these are few."""
    return " ".join(set(text.translate(_LETTERS_ONLY).split()))


def candidates(different: str, rows: Iterable[KnownError]) -> Iterator[tuple[KnownError, frozenset[str]]]:
    """Rows that may match in a text of this vocabulary, each with words one of which stands wherever it matches."""
    known: dict[str, bool] = {}
    for row in rows:
        anchors = set()
        for letters in words(row.pattern):
            for word in letters:
                if word not in known:
                    known[word] = word in different
                if not known[word]:
                    break
            else:
                anchors.add(max(letters, key=len))
        if anchors:
            yield row, frozenset(anchors)


def _alternatives(pattern: str) -> Iterator[str]:
    """The pattern cut at the bars outside of all groups."""
    start = 0
    for index, character, depth in _walk(pattern):
        if character == "|" and depth == 0:
            yield pattern[start:index]
            start = index + 1
    yield pattern[start:]


def _literals(alternative: str) -> Iterator[str]:
    """Runs of plain characters outside of groups; a character that may be missing or repeated ends one."""
    run: list[str] = []
    previous = -1
    for index, character, depth in _walk(alternative):
        if character in _QUANTIFIERS and depth == 0:
            if previous == index - 1 and run:
                run.pop()
            yield "".join(run)
            run = []
            continue
        escaped = len(character) == 2
        plain = depth == 0 and (character[1:] not in _CLASSES if escaped else character not in "^$.[]()|")
        if plain:
            run.append(character[-1])
            previous = index + len(character) - 1
        else:
            yield "".join(run)
            run = []
    yield "".join(run)


_CLASSES = frozenset("bBdDsSwWAZ0123456789")


def _walk(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Characters, escapes as one, with how deep in groups, classes and quantifiers they stand."""
    depth, index = 0, 0
    inside = ""
    while index < len(pattern):
        character = pattern[index : index + 2] if pattern[index] == "\\" else pattern[index]
        if inside:
            yield index, character, depth + 1
            if character == inside:
                inside = ""
        elif character == "[":
            inside = "]"
            yield index, character, depth + 1
        elif character == "{":
            yield index, character, depth
            inside = "}"
        elif character == "(":
            depth += 1
            yield index, character, depth
        elif character == ")":
            yield index, character, depth
            depth -= 1
        else:
            yield index, character, depth
        index += len(character)
