"""Releases of torch and builds of CUDA that reach an install command or an image through a variable, a matrix or an input."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from torchlift.dependencies.assignments import Assignment, assignments
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

# `$X`, `${X}`, `%X%`, `$(X)`, `${{ matrix.x }}` and `${{ inputs.x }}`, with what a shell may do to the value
_VARIABLE = r"(?:\$\{\{\s*(?:[\w-]+\.)*(?P<github>[\w-]+)\s*\}\}|\$\{(?P<braces>\w+)[^}]*\}|\$\((?P<make>\w+)\)|\$(?:env:)?(?P<plain>\w+)|%(?P<batch>\w+)%)"
_USES = (
    (
        "torch",
        lazy_pattern(
            r"(?<![\w-])(?P<package>torch|torchvision|torchaudio|pytorch)[\"']?(?:===?|~=|<=|=)[\"']?" + _VARIABLE
        ),
    ),
    ("torch", lazy_pattern(r"(?P<package>pytorch)/pytorch:" + _VARIABLE)),
    ("cuda", lazy_pattern(r"(?P<package>whl/(?:cu)?|\+(?:cu)?)" + _VARIABLE)),
)
_NAMED = lazy_pattern(
    r"(?:\w+[-_. ])?(?P<package>(?:py)?torch(?:[-_]?(?:vision|audio))?)(?:[-_. ]?ver(?:sion)?s?)?", re.IGNORECASE
)
_RELEASE = lazy_pattern(r"[\^v=~<]{0,2}\s*(?P<release>\d+\.\d+(?:\.\d+)?)(?:\.\*)?(?P<build>\+\w+)?\Z")
_CUDA = lazy_pattern(r"(?:cu|cuda)?[-_]?(?P<major>1[0-3])\.?(?P<minor>\d)(?:\.\d+)?\Z")


@dataclass(frozen=True, slots=True)
class VersionValue:
    """A value that says which torch, companion or CUDA is taken.

    Attributes:
        package: "torch", "torchvision", "torchaudio", or "cuda".
        name: of the variable, key or option.
        value: "2.3.1", or the build "cu121".
        span: where it stands, as far as it is the version.
        listed: whether it is one of a list.
        use: what takes it, "" where only its name says so.
        below: whether it is a bound that is not reached itself: `<2.2`.
        list_at: where the list begins that it is one of, or -1.
        row: whether it stands in a row that a matrix includes.
        further: whether it lets in every later release of torch 2.
    """

    package: Literal["torch", "torchvision", "torchaudio", "cuda"]
    name: str
    value: str
    span: Span
    listed: bool
    use: str = ""
    below: bool = False
    list_at: int = -1
    row: bool = False
    further: bool = False


@lru_cache(maxsize=8)
def version_values(view: TextView) -> tuple[VersionValue, ...]:
    """The values in a file, in order."""
    given = assignments(view)
    if not given:
        return ()
    uses: dict[str, tuple[str, str]] = {}
    for kind, pattern in _USES:
        for match in pattern.finditer(view.code):
            name = next(text for key in ("github", "braces", "make", "plain", "batch") if (text := match[key]))
            package = "cuda" if kind == "cuda" else match["package"].replace("pytorch", "torch")
            uses.setdefault(_same(name), (package, match[0]))
    found = [value for item in given if (value := _value(item, uses.get(_same(item.name)))) is not None]
    return tuple({value.span: value for value in found}.values())


def _reaches_further(value: str, release: str) -> bool:
    """Whether a value lets in every later release of torch 2: `~=2.0` and `^2.0.1` do."""
    return release.startswith("2.") and (value.startswith("^") or (value.startswith("~=") and release.count(".") == 1))


def _same(name: str) -> str:
    return re.sub(r"[-. ]", "_", name).lower()


def _value(item: Assignment, use: tuple[str, str] | None) -> VersionValue | None:
    named = _NAMED.fullmatch(item.name)
    package, how = use or (re.sub(r"[-_]|^py", "", named["package"].lower()) if named else "", "")
    if package == "cuda":
        cuda = _CUDA.match(item.value)
        return (
            VersionValue(
                "cuda", item.name, f"cu{cuda['major']}{cuda['minor']}", item.span, item.listed, how, row=item.row
            )
            if cuda
            else None
        )
    match = _RELEASE.match(item.value)
    if match is None or not package:
        return None
    span = Span(item.span.start + match.start("release"), item.span.start + match.end("release"))
    if package == "torchvision":
        return VersionValue("torchvision", item.name, match["release"], span, item.listed, how)
    if package == "torchaudio":
        return VersionValue("torchaudio", item.name, match["release"], span, item.listed, how)
    below = item.value.startswith("<") and not item.value.startswith("<=")
    further = _reaches_further(item.value, match["release"])
    return VersionValue(
        "torch", item.name, match["release"], span, item.listed, how, below, item.list_at, item.row, further
    )
