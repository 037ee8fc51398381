"""Values that variables, keys and options of text files are given, as far as they stand there.

Sources: `ARG` and `ENV` in Docker's "Dockerfile reference"; assignments and `${NAME:-default}` of POSIX shells, make, batch
files and PowerShell; "Workflow syntax for GitHub Actions" (`env`, `matrix`, `inputs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextKind, TextView

_QUOTED = r"""(?:"([^"\r\n]*)"|'([^'\r\n]*)'|((?:\$\{[^{}\s"']*\}|[^\s"';&|#)}\]])+))"""
_INSTRUCTION = lazy_pattern(r"^[ \t]*(?:ARG|ENV)[ \t]+(?P<rest>.+)", re.IGNORECASE | re.MULTILINE)
_PAIR = lazy_pattern(r"(?<![\w.-])([\w.-]+)[ \t]*=[ \t]*" + _QUOTED)
_OLD_ENV = lazy_pattern(r"([\w.-]+)[ \t]+" + _QUOTED + r"[ \t]*\Z")
_OPTION = lazy_pattern(r"--build-arg[ =][\"']?([\w.-]+)=" + _QUOTED)
_DEFAULT = lazy_pattern(r"""\$\{(\w+):?[-=](?:"([^"}\s]{0,80})"|'([^'}\s]{0,80})'|([^}\s"']{0,80}))\}""")
_PLAIN: dict[TextKind, re.Pattern[str]] = {
    "shell": lazy_pattern(r"(?<![\w.$/-])(\w+)=(?!=)" + _QUOTED),
    "env": lazy_pattern(r"(?<![\w.$/-])(\w+)=(?!=)" + _QUOTED),
    "makefile": lazy_pattern(r"(?<![\w.$/-])(\w+)[ \t]*[:?]?=(?!=)[ \t]*" + _QUOTED),
    "batch": lazy_pattern(r"(?i)\bset[ \t]+\"?(\w+)=()()([^\s\"&]+)"),
    "powershell": lazy_pattern(r"\$(?:env:)?(\w+)[ \t]*=[ \t]*" + _QUOTED),
}
_HCL = lazy_pattern(r"""\bvariable[ \t]+"([\w-]+)"\s*\{[^{}]*?\bdefault[ \t]*=[ \t]*"([^"\r\n]*)()()\"""")
# An item of a list that names the environment of a job or of a build; packages of conda are written in small letters.
_ENVIRONMENT = lazy_pattern(r"(?<![\w.$/-])([A-Z][A-Z0-9_]*)=(?!=)" + _QUOTED)
_HATCH = lazy_pattern(
    r"^\[\[(?:tool\.hatch\.)?envs\.[^\]\n]*\bmatrix\]\][^\n]*\n(?P<rows>(?:(?!\[)[^\n]*(?:\n|\Z))*?(?=\[|\Z))",
    re.MULTILINE,
)
_TOML_LIST = lazy_pattern(r"^(?P<name>[\w-]+)[ \t]*=[ \t]*\[(?P<values>[^\[\]]*)\]", re.MULTILINE)
_JSON = lazy_pattern(r"\$\{\{\s*fromJSON\(\s*'(?P<list>\[[^\[\]]*\])'\s*\)\s*\}\}", re.IGNORECASE)
_KEY = lazy_pattern(
    r"^(?P<indent>[ \t]*)(?P<item>-[ \t]+)?[\"']?(?P<name>\w(?:[\w. -]*\w)?)[\"']?[ \t]*:(?:[ \t]+(?P<value>\S.*))?$"
)
_ITEM = lazy_pattern(r"^(?P<indent>[ \t]*)-[ \t]+(?P<value>\S.*)$")
_FLOW = lazy_pattern(
    r"[\[{,][ \t]*[\"']?([\w-]+)[\"']?[ \t]*:[ \t]*" + r"""(?:"([^"\r\n]*)"|'([^'\r\n]*)'|([^\s"',\]}]+))"""
)
_EXCLUDE = lazy_pattern(r"^[ \t]*exclude[ \t]*:(?:[ \t]*[\[#].*)?[ \t]*$")
# Python that writes a matrix, inside a step.
_LOOP = lazy_pattern(r"^[ \t]*for[ \t]+(?P<name>\w+)[ \t]+in[ \t]+[\[(](?P<values>[^\[\]()]*)[\])]:")
_SCALAR = lazy_pattern(r"""\s*(?:"([^"\r\n]*)"|'([^'\r\n]*)'|([^\s"',\[\]{}]+))\s*(?:,|\Z|(?=\]))""")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One value.

    Attributes:
        name: of the variable, key or option.
        value: without quotes.
        span: where the value stands.
        listed: whether it is one of a list.
        list_at: where that list begins, the same for all of its values; -1 where it is none of a list.
        row: whether it stands in a row that a matrix includes, or of a list of such rows.
    """

    name: str
    value: str
    span: Span
    listed: bool = False
    list_at: int = -1
    row: bool = False


@lru_cache(maxsize=8)
def assignments(view: TextView) -> tuple[Assignment, ...]:
    """The values in a file, in order."""
    found = list(_options(view.code))
    if view.kind == "dockerfile":
        for instruction in _INSTRUCTION.finditer(view.code):
            rest, start = instruction["rest"], instruction.start("rest")
            pairs = list(_PAIR.finditer(rest)) or [match for match in (_OLD_ENV.match(rest),) if match]
            found += [_assignment(match, start) for match in pairs]
    elif view.kind == "yaml":
        found += _yaml(view)
    elif (pattern := _PLAIN.get(view.kind)) is not None:
        found += [_assignment(match, 0) for match in pattern.finditer(view.code)]
    if view.kind == "toml":
        found += _matrices(view)
    if view.kind == "makefile":
        found += [_assignment(match, 0) for match in _HCL.finditer(view.code)]
    return tuple(sorted(dict.fromkeys(found), key=lambda item: item.span))


@lru_cache(maxsize=8)
def excluded_lines(view: TextView) -> frozenset[int]:
    """Where the lines begin that a matrix of YAML excludes, its `exclude:` among them."""
    found = set()
    above: int | None = None
    for line in view.lines if view.kind == "yaml" else ():
        indent = len(line.text) - len(line.text.lstrip())
        if above is not None and (indent < above or (indent == above and not line.text.lstrip().startswith("-"))):
            above = None
        if above is None and _EXCLUDE.match(line.text) is not None:
            above = indent
        if above is not None:
            found.add(line.start)
    return frozenset(found)


def _matrices(view: TextView) -> Iterator[Assignment]:
    """The lists of hatch's matrices: `torch = ["2.1", "2.5"]` below `[[tool.hatch.envs.test.matrix]]`."""
    for table in _HATCH.finditer(view.code):
        for item in _TOML_LIST.finditer(view.code, *table.span("rows")):
            yield from _scalars(item["name"], item["values"], item.start("values"), list_at=item.start())


def _options(code: str) -> Iterator[Assignment]:
    for pattern in (_OPTION, _DEFAULT):
        for match in pattern.finditer(code):
            yield _assignment(match, 0)


def _assignment(match: re.Match[str], start: int) -> Assignment:
    group = next((number for number in (2, 3, 4) if match[number]), 2)
    return Assignment(match[1], match[group] or "", Span(start + match.start(group), start + match.end(group)))


def _yaml(view: TextView) -> Iterator[Assignment]:
    """Keys with scalars, and lists on one line or below; `default:` counts for the key that it stands below.

    What a matrix excludes is no value of anything.
    """
    above: list[tuple[int, str]] = []
    places: dict[int, int] = {}
    excluded = excluded_lines(view)
    for line in view.lines:
        if line.start in excluded:
            continue
        for match in _FLOW.finditer(line.text):
            yield _assignment(match, line.start)
        if (loop := _LOOP.match(line.text)) is not None:
            at = line.start + loop.start("values")
            yield from _scalars(loop["name"], loop["values"], at, list_at=at)
        item = _ITEM.match(line.text)
        key = _KEY.match(line.text)
        if item is not None and key is None:
            at = line.start + item.start("value")
            yield from (_assignment(match, at) for match in _ENVIRONMENT.finditer(item["value"]))
        if key is None:
            if item is not None and above and above[-1][0] <= len(item["indent"]):
                yield from _scalars(
                    above[-1][1], item["value"], line.start + item.start("value"), list_at=places[len(above)]
                )
            continue
        indent = len(key["indent"]) + len(key["item"] or "")
        while above and above[-1][0] >= indent:
            above.pop()
        name = above[-1][1] if key["name"] == "default" and above else key["name"]
        row = bool(above) and (above[-1][1] == "include" or (len(above) > 1 and above[-2][1] == "matrix"))
        above.append((indent, name))
        places[len(above)] = line.start
        listed = _JSON.match(key["value"] or "")
        if listed is not None:
            at = line.start + key.start("value") + listed.start("list") + 1
            yield from _scalars(name, listed["list"][1:], at, list_at=line.start, row=row)
        elif key["value"] and key["value"][0] not in "{|>&*":
            start = line.start + key.start("value")
            brackets = key["value"][0] == "["
            at = line.start if brackets else -1
            yield from _scalars(name, key["value"].lstrip("["), start + brackets, list_at=at, row=row)


def _scalars(name: str, text: str, start: int, *, list_at: int, row: bool = False) -> Iterator[Assignment]:
    position, listed = 0, list_at >= 0
    while match := _SCALAR.match(text, position):
        group = next(number for number in (1, 2, 3) if match[number] is not None)
        span = Span(start + match.start(group), start + match.end(group))
        yield Assignment(name, match[group], span, listed, list_at, row)
        position = match.end()
        if not listed or position >= len(text) or text[position] == "]":
            return
