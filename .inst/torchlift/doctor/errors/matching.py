"""Which rows of the table a text can be about, and where in it they match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.errors.table import KNOWN

_BLANKS = r"(?:\s{1,60})"
_QUANTIFIERS = "?*+{"
_SHORTEST_WORD = 3
_TOKEN = re.compile(r"[A-Za-z_]{3,}")
_LETTERS_ONLY = {code: " " for code in range(128) if not (chr(code).isalpha() or chr(code) == "_")}


@cache
def expression(row: KnownError) -> re.Pattern[str]:
    """The row's pattern, in which a blank stands for any blanks."""
    return re.compile(row.pattern.replace(" ", _BLANKS), re.MULTILINE)


def first_match(text: str, rows: Iterable[KnownError] = KNOWN) -> KnownError | None:
    """The first row of the table that is anywhere in a short text."""
    return next((row for row in rows if expression(row).search(text)), None)


@cache
def words(pattern: str) -> tuple[frozenset[str], ...]:
    """For each alternative of a pattern, letters that stand in every text that it matches."""
    found = []
    for alternative in _alternatives(pattern):
        letters = frozenset(word for run in _literals(alternative) for word in _TOKEN.findall(run))
        found.append(letters)
    return tuple(found)


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
