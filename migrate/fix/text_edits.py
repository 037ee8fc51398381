"""Edits in files that are no Python, and the checks on their result.

Nothing outside an edit changes, by construction. What a check has to find out is whether the file still means what it
meant: its own parser says so where Python has one (TOML, INI, requirements, command lines), else the shape of its lines.
"""

from __future__ import annotations

import configparser
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from torchlift.finding import ReplaceText, Rewrite, TextEdit
from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.fix.rewrite.fragments import CannotEdit
from torchlift.source import SourceText
from torchlift.toml_text import parsed_toml
from torchlift.view.text import TextView

# What an edit may write into a language that is not parsed: nothing that a shell, YAML or make gives a meaning.
_PLAIN = lazy_pattern(r"[\w.+:/=<>~!,; *-]*", re.ASCII)


def text_edits(view: TextView, rewrites: Iterable[Rewrite]) -> list[TextEdit]:
    """Non-overlapping edits, in order, that carry out all `rewrites`.

    Raises:
        CannotEdit: two contradict each other, one is for Python only or holds a line break, or the file's own parser refuses it.
    """
    _check_readable(view)
    found: dict[tuple[int, int, str], TextEdit] = {}
    for rewrite in rewrites:
        if not isinstance(rewrite, ReplaceText):
            raise CannotEdit("it is made for Python code.")
        if "\n" in rewrite.text or "\r" in rewrite.text or "\n" in view.source.slice(rewrite.span):
            raise CannotEdit("it would change the lines of the file.")
        found[rewrite.span.start, rewrite.span.end, rewrite.text] = TextEdit(rewrite.span, rewrite.text)
    edits = [found[key] for key in sorted(found)]
    if any(second.span.start < first.span.end or second.span == first.span for first, second in pairwise(edits)):
        raise CannotEdit("another fix changes the same words; run torchlift again.")
    for line in view.lines if view.kind == "requirements" else ():
        if any(line.span().contains(edit.span) for edit in edits) and (reason := _no_requirement(line.text)):
            raise CannotEdit(f"`{line.text.strip()}` is no requirement ({reason}).")
    return edits


def _check_readable(view: TextView) -> None:
    try:
        if view.kind == "toml":
            parsed_toml(view.source.text.replace("\r\n", "\n"))
        if view.kind == "ini":
            _ini(view.source.text)
    except (configparser.Error, RecursionError, ValueError) as error:
        raise CannotEdit(f"the file is not valid {view.kind.upper()} ({' '.join(str(error).split())}).") from None


def _no_requirement(line: str) -> str:
    """Why a line of a file of requirements is neither one nor an option; empty where it is."""
    from packaging.requirements import InvalidRequirement, Requirement

    if not line.lstrip().startswith("-"):
        try:
            Requirement(_without_options(line))
        except InvalidRequirement as error:
            return str(error).partition("\n")[0]
    return ""


def _without_options(line: str) -> str:
    return line.split(" --", maxsplit=1)[0].strip()


def problem_with_text(view: TextView, edits: Sequence[TextEdit], new: SourceText) -> str | None:
    """Why `new`, the text of `view` after `edits`, must not be written; None if it may be."""
    try:
        new.to_bytes()
    except UnicodeEncodeError as error:
        return f"The new text cannot be encoded as {new.encoding} ({error.reason})."
    after = TextView(view.path, view.kind, new)
    if len(after.lines) != len(view.lines) or [new.slice(span) for span in after.comments] != [
        view.source.slice(span) for span in view.comments
    ]:
        return "The new text has other lines or comments."
    if view.kind == "toml":
        return _toml_problem(view.source.text, new.text, len(edits))
    if view.kind == "ini":
        return _ini_problem(view.source.text, new.text)
    if not all(_PLAIN.fullmatch(edit.text) for edit in edits):
        return "The new text has characters with a meaning of their own."
    if view.kind == "requirements":
        return _requirements_problem(view, after)
    return _words_problem(view, after)


def _toml_problem(old: str, new: str, most: int) -> str | None:
    try:
        before, after = (dict(_leaves(parsed_toml(text.replace("\r\n", "\n")))) for text in (old, new))
    except (RecursionError, ValueError) as error:
        return f"The new text is not valid TOML ({error})."
    if list(before) != list(after):
        return "The new text has other keys."
    changed = [key for key in before if before[key] != after[key]]
    if len(changed) > most or not all(isinstance(after[key], str) for key in changed):
        return f"The value of {'.'.join(map(str, changed[0]))} would change although no edit concerns it."
    return None


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict):
        yield (*path, "{}"), len(value)
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        yield (*path, "[]"), len(value)
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, number))
    else:
        yield path, value


def _ini_problem(old: str, new: str) -> str | None:
    try:
        before, after = _ini(old), _ini(new)
    except configparser.Error as error:
        return f"The new text is not valid INI ({error})."
    if list(before) != list(after) or any(
        (first or "").count("\n") != (second or "").count("\n")
        for first, second in zip(before.values(), after.values(), strict=True)
    ):
        return "The new text has other sections, options or lines."
    return None


def _ini(text: str) -> dict[tuple[str, str], str | None]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {(section, option): value for section in parser.sections() for option, value in parser.items(section)}


def _requirements_problem(view: TextView, after: TextView) -> str | None:
    from packaging.requirements import InvalidRequirement, Requirement

    for old, new in zip(view.lines, after.lines, strict=True):
        if old.text == new.text:
            continue
        if old.text.lstrip().startswith("-"):
            if len(old.text.split()) != len(new.text.split()):
                return f"The option {new.text.strip()} would have other words."
            continue
        try:
            first, second = (Requirement(_without_options(line.text)) for line in (old, new))
        except InvalidRequirement as error:
            return f"The new text is no requirement ({error})."
        if (first.name, first.extras, str(first.marker), first.url) != (
            second.name,
            second.extras,
            str(second.marker),
            second.url,
        ):
            return f"The requirement {second} would be about something else."
    return None


def _words_problem(view: TextView, after: TextView) -> str | None:
    """Lines that change keep their indentation and, where they are words of a shell, the number of these."""
    for old, new in zip(view.lines, after.lines, strict=True):
        if old.text == new.text:
            continue
        if len(old.text) - len(old.text.lstrip()) != len(new.text) - len(new.text.lstrip()):
            return "The new text is indented in another way."
        if _words(old.text) != _words(new.text):
            return f"The line {new.text.strip()[:60]!r} would fall into other words."
    return None


def _words(line: str) -> int | None:
    try:
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        words.commenters = ""
        return len(list(words))
    except ValueError:
        return None
