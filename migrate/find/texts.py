"""Scripts, container files, YAML and files of requirements on their way through a run.

They cost a search in their bytes and nothing else, unless a rule's word stands in one of them. There are few such files,
and none of them is parsed, so all of this stays in one process.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.find.check import Checked, check_text, why_unreadable
from torchlift.project import Project
from torchlift.rules.rule import Rule, Settings
from torchlift.search.prefilter import Prefilter
from torchlift.source import SourceText, UnreadableSource
from torchlift.view.text import TextView, named_kind, read_text

_HEAD = 128


@dataclass(frozen=True)
class CheckedText:
    """One text file after the rules.

    Attributes:
        view: the file.
        checked: what was found in it, before suppressions.
    """

    view: TextView
    checked: Checked


def index_texts(
    project: Project, paths: Sequence[str], rules: Sequence[Rule], named: Collection[str]
) -> tuple[list[str], dict[str, str]]:
    """Text files with words of the rules, and why others could not be read.

    A file that cannot be read is no finding unless the user named it: what looks like a script may well be data.
    """
    rules = [rule for rule in rules if rule.text is not None]
    prefilter = _prefilter(tuple(word for rule in rules for word in rule.text_triggers))
    found: list[str] = []
    unreadable: dict[str, str] = {}
    for path in paths:
        try:
            data = project.data(path)
            if prefilter.matches(data) or b"torchlift:" in data:
                read_text(data)
                found.append(path)
            elif path in named and b"\0" in data:
                read_text(data)
        except (OSError, UnreadableSource) as error:
            if path in named:
                unreadable[path] = why_unreadable(error)
    return found, unreadable


@lru_cache(maxsize=4)
def _prefilter(triggers: tuple[str, ...]) -> Prefilter:
    return Prefilter(triggers)


def text_source(project: Project, path: str) -> SourceText:
    """Current text of a text file.

    Raises:
        OSError, UnreadableSource: it cannot be read or decoded.
    """
    return project.overlay.get(path) or read_text(project.data(path))


def text_view(project: Project, path: str) -> TextView:
    """The view of a text file.

    Raises:
        OSError, UnreadableSource: it cannot be read or decoded.
    """
    source = text_source(project, path)
    return TextView(path, named_kind(path, source.to_bytes()[:_HEAD]) or "shell", source)


def check_texts(project: Project, paths: Sequence[str], rules: Sequence[Rule], settings: Settings) -> list[CheckedText]:
    """Run the rules on the text files `paths`; one that is gone meanwhile has nothing in it."""
    done = []
    for path in paths:
        try:
            view = text_view(project, path)
        except (OSError, UnreadableSource):
            continue
        done.append(CheckedText(view, check_text(rules, project, view, settings)))
    return done
