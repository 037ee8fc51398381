"""Requirement and constraint files of pip.

Source: "Requirements File Format" in pip's documentation.
"""

from __future__ import annotations

from dataclasses import replace

from torchlift.dependencies.grammar import is_template, read_pin
from torchlift.dependencies.pin_set import Include, PinSet, source_of
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

_OPTION = lazy_pattern(
    r"\s*(?P<name>--index-url|-i|--extra-index-url|--find-links|-f|--requirement|-r|--constraint|-c)(?:[ \t]*=[ \t]*|[ \t]+|(?<=-[ircf]))"
    r"[\"']?(?P<value>[^\s\"']+)"
)
# `conda list --export` writes such lines.
_OF_CONDA = lazy_pattern(r"[\w.-]+=\w[\w.!+*]*=[\w.*]+")
_FILES = frozenset({"-r", "-c", "--requirement", "--constraint"})
_SEVERAL = lazy_pattern(r"\s*[\w.-]+==[^\s;#]+(?:\s+[\w.-]+==[^\s;#]+)+\s*")
_WORD = lazy_pattern(r"\S+")
_PER_REQUIREMENT = lazy_pattern(r"\s--?[a-z]")


def read_requirements(view: TextView) -> PinSet:
    """All of a requirement file as one set; files that it includes are named, not read."""
    found = PinSet(Span(0, len(view.source.text)))
    for line in view.lines:
        take_line(found, line.text, line.start)
    return found


def take_line(found: PinSet, text: str, start: int, group: str = "", *, conditional: bool = False) -> None:
    """Take a line of a requirement file, which other formats have in them too, into a set."""
    option = _OPTION.match(text)
    if option is not None:
        value, span = option["value"], Span(start + option.start("value"), start + option.end("value"))
        if option["name"] in _FILES:
            found.includes.append(Include(value, span, group))
        else:
            found.variables = found.variables or is_template(value)
            found.sources.append(source_of(option["name"], value, span))
        return
    if text.lstrip().startswith("-"):
        return
    extra = _PER_REQUIREMENT.search(text)
    body = text[: extra.start()] if extra else text
    several = _SEVERAL.fullmatch(body)
    parts = [(match[0], match.start()) for match in _WORD.finditer(body)] if several else [(body, 0)]
    for part, offset in parts:
        listed = _OF_CONDA.fullmatch(part.strip()) is not None
        pin = (
            read_pin(part.strip(), start + offset + len(part) - len(part.lstrip()), "conda", group)
            if listed
            else read_pin(part, start + offset, group=group, hashed="--hash" in text)
        )
        if pin is not None:
            # pip takes one requirement a line: what reads several is somebody's own
            pin = replace(pin, opaque=pin.opaque or several is not None)
            found.pins.append(replace(pin, conditional=pin.conditional or conditional))
    for option in _OPTION.finditer(text, extra.start()) if extra else ():
        if option["name"] not in _FILES:
            place = Span(start + option.start("value"), start + option.end("value"))
            found.sources.append(source_of(option["name"], option["value"], place))
