"""Where scripts, container files and YAML set an environment variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.source import Span
from torchlift.view.text import TextKind, TextView


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable that is set.

    Attributes:
        name: the variable.
        span: its name in the source.
        value: what stands behind it, without quotes; empty where that is not on the same line.
    """

    name: str
    span: Span
    value: str


# A name behind `$` or `${` is read; `==` compares. `%s` stands for the names.
_ASSIGNED = r"(?<![\w$.{-])(?P<assigned>%s)=(?!=)"
_PATTERNS: dict[TextKind, str] = {
    "shell": _ASSIGNED,
    "env": _ASSIGNED,
    "dockerfile": rf"{_ASSIGNED}|^[ \t]*ENV[ \t]+(?P<spaced>%s)[ \t]+(?=[^\s=])",
    "makefile": r"(?<![\w$.{(-])(?P<assigned>%s)[ \t]*[:?+]{0,2}=(?!=)",
    "yaml": (
        rf"{_ASSIGNED}|(?<![\w$.-])[\"']?(?P<key>%s)[\"']?[ \t]*:(?=\s|$)"
        r"|(?<!\w)[\"']?name[\"']?[ \t]*:[ \t]*[\"']?(?P<named>%s)[\"']?[ \t]*(?:,|\}|$|\r?\n)"
    ),
}
_VALUE = lazy_pattern(r"""[ \t]*(?:value[ \t]*:[ \t]*|-[ \t]+value[ \t]*:[ \t]*)?["']?(?P<value>[^\s"',;}]*)""")
_VALUE_BELOW = lazy_pattern(r"""\s*["']?value["']?[ \t]*:[ \t]*["']?(?P<value>[^\s"',;}]*)""")


@cache
def _pattern(kind: TextKind, names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_PATTERNS[kind].replace("%s", "|".join(names)), re.MULTILINE)


def settings_in(view: TextView, names: Iterable[str]) -> Iterator[Setting]:
    """Every place that gives one of `names` a value, in order; what is only printed gives none."""
    for match in _pattern(view.kind, tuple(sorted(names))).finditer(view.code):
        group = match.lastgroup
        assert group is not None
        if group == "assigned" and is_shown(view, match.start(group)):
            continue
        value = (_VALUE_BELOW if group == "named" else _VALUE).match(view.code, match.end())
        yield Setting(match[group], Span(*match.span(group)), value["value"] if value is not None else "")
