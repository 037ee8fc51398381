"""The Pythons that an environment of tox or a session of nox runs with.

Sources: "Configuration" of tox (`env_list`, `base_python`, names like `py311-cuda`), "Configuration & API" of nox (`python=`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

NAMES = frozenset({"tox.ini", "noxfile.py"})
Found = tuple[Span, int, bool]
"""Where a version stands, such as `3.9`, or a name that means it; its minor number; whether it is one of several."""

_SECTION = lazy_pattern(r"^\[([^\]\n]+)\]", re.MULTILINE)
_BASE = lazy_pattern(r"^base_?python[ \t]*=[ \t]*(?:python)?(3\.(\d+))[ \t]*$", re.MULTILINE)
_LIST = lazy_pattern(r"^env_?list[ \t]*=(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_FACTOR = lazy_pattern(r"\bpy(?:3(\d{1,2})\b|3?\{([\d,\s]+)\})")
_SESSION = lazy_pattern(r"^[ \t]*@(?:nox\.)?session\b(.*(?:\n(?![ \t]*(?:async[ \t]+)?def\b).*)*)", re.MULTILINE)
_PYTHON = lazy_pattern(r"\bpython[ \t]*=[ \t]*(\[[^\]]*\]|[\"'][^\"']*[\"'])")
_VERSION = lazy_pattern(r"[\"'](3\.(\d+))[\"']")


def session_pythons(view: TextView, place: Span) -> Iterator[Found]:
    """The Pythons of what `place` stands in, as far as the file tells."""
    return _of_tox(view.code, place) if view.path.endswith(".ini") else _of_nox(view.source.text, place)


def _of_tox(code: str, place: Span) -> Iterator[Found]:
    heads = list(_SECTION.finditer(code))
    around = next((head for head in reversed(heads) if head.start() < place.start), None)
    if around is None:
        return
    end = next((head.start() for head in heads if head.start() > around.start()), len(code))
    base = _BASE.search(code, around.end(), end)
    if base is not None:
        yield Span(*base.span(1)), int(base[2]), False
    elif around[1].partition(":")[0] == "testenv":
        lists = (
            [(around[1], around.start(1))] if ":" in around[1] else [(m[1], m.start(1)) for m in _LIST.finditer(code)]
        )
        for text, start in lists:
            for factor in _FACTOR.finditer(text):
                for minor in re.findall(r"\d+", factor[1] or factor[2]):
                    number = minor if factor[1] or "py3{" in factor[0] else minor.removeprefix("3")
                    yield Span(start + factor.start(), start + factor.end()), int(number or 0), True


def _of_nox(text: str, place: Span) -> Iterator[Found]:
    above = list(_SESSION.finditer(text, 0, place.start))
    python = _PYTHON.search(above[-1][1]) if above else None
    if python is not None:
        versions = list(_VERSION.finditer(python[1]))
        start = above[-1].start(1) + python.start(1)
        for version in versions:
            yield Span(start + version.start(1), start + version.end(1)), int(version[2]), len(versions) > 1
