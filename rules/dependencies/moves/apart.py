"""What a project installs apart from a list of requirements, and would hold the torch that moves in it.

A torch moves without a look only where nothing of this kind is found, so that what no reader understands counts as holding it.
"""

from __future__ import annotations

import posixpath
import re

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.dependencies.moves.bound_packages import is_bound
from torchlift.rules.dependencies.moves.holding import held_in, installed_with, lists_of, sets_in
from torchlift.rules.dependencies.wheels.builds import Line
from torchlift.rules.dependencies.wheels.companions import COMPANIONS
from torchlift.source import SourceText, Span, UnreadableSource
from torchlift.view.text import TextView, read_text, text_kind

_LISTS = frozenset({"requirements", "toml", "ini", None})
_RELEASE = r"(?:[<>~!]=?\s*[\d.]+\s*,\s*)*(?:\^?={1,3}|~=|<=?|[:@,-])\s*[\"']?(?:\d|[$%{]|[\"']\s*\+)"
_TOLD = lazy_pattern(
    rf"(?<![\w.])(?P<name>torch(?:vision|audio)?|triton)(?:\[[\w,]+\])?[\"']?\s*(?:{_RELEASE}|(?:,|\n)\s*[\"']?version[\"']?\s*[:=])"
    r"[^\s\"',;|&)\\]*"
    # a name for it, its repository, wheels whoever they are of
    r"|(?<=[:=])[ \t]*[\"']?torch(?:vision|audio)(?=[\s\"']|$)|\bpytorch/(?:vision|audio)(?:\.git)?@[^\s\"']+|[^\s\"']*\*[^\s\"']*\.whl",
    re.MULTILINE,
)


def held_apart(project: Project, path: str, target: Line) -> tuple[tuple[str, str], ...]:
    """What keeps torch below `target`, or may do so, beside the lists that are installed with a file: file and text of each."""
    beside = project.once(installed_with, path)
    found = [(where, pin.text) for where, item in beside for pin in item.pins if pin.is_torch and pin.specifier is None]
    for where in dict.fromkeys(where for where, _ in beside):
        found += [(where, pin.text) for item in sets_in(project, where) for pin in item.pins if is_bound(pin)]
    name = posixpath.basename(path)
    places = {place.rpartition(":")[0] for several in project.places((*COMPANIONS, name)).values() for place in several}
    for where in sorted(places):
        if text_kind(where) in {"markdown", "lock"}:
            continue
        try:
            source = read_text(project.data(where))
        except (OSError, UnreadableSource):
            continue
        if name in source.text or text_kind(where) not in _LISTS or _is_above(path, where) or _is_above(where, path):
            found += [(where, held) for held in _held(project, path, where, source, target)]
    return tuple(found)


def _is_above(path: str, other: str) -> bool:
    """Whether the folder of a file holds another file, at any depth."""
    folder = posixpath.dirname(path)
    return not folder or other.startswith(f"{folder}/")


def _held(project: Project, path: str, where: str, source: SourceText, target: Line) -> list[str]:
    """What a file asks for without naming a torch for it."""
    kind, sets, name = text_kind(where), sets_in(project, where), posixpath.basename(path)
    found, read = [], []
    for pins in (pins for item in sets for pins in lists_of(item)):
        own = any(pin.is_torch and (pin.clauses or where == path) for pin in pins)
        found += [pin.text for pin in ([] if own else held_in(pins, target)[:1])]
        read += [pin.span for pin in pins if own or (pin.specifier is not None and pin.notation != "conda")]
    text = TextView(where, kind, source).code if kind else source.text
    for match in _TOLD.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
        alone = match["name"] != "torch" and not any(other["name"] == "torch" for other in _TOLD.finditer(line))
        if (alone or name in line) and not any(span.overlaps(Span(*match.span())) for span in read):
            found.append(re.sub(r"[\"']", "", match[0]).strip())
    return found
