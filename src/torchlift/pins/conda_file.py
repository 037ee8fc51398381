"""Conda environments: `dependencies`, with what pip installs below them, and `channels`.

Source: "Creating an environment file manually" in conda's documentation. Only the layout that conda itself writes, one
item a line, is read.
"""

from __future__ import annotations

import re

from torchlift.pins.pin import Draft, PinSet, read_conda_spec, read_pin
from torchlift.source import Span
from torchlift.view.text import TextView

_KEY = re.compile(r"([\w-]+)\s*:\s*\Z")
_ITEM = re.compile(r"(\s*)-\s+([\"']?)(.*?)\2\s*\Z")
_OPTION = re.compile(r"(--index-url|-i|--extra-index-url|--find-links|-f|-r|-c)[ =]\s*(\S+)")


def read_conda(view: TextView) -> PinSet | None:
    """The environment as one set with the groups "conda" and "pip"; None where the file is none."""
    if view.kind != "yaml" or not re.search(r"^dependencies:[ \t]*(?:#.*)?$", view.source.text, re.MULTILINE):
        return None
    draft = Draft("this environment", Span(0, len(view.source.text)), conda=True)
    key, pip_below = "", None
    for line in view.lines:
        top = _KEY.match(line.text.rstrip())
        if top is not None:
            key, pip_below = top[1], None
            continue
        item = _ITEM.match(line.text)
        if item is None:
            if line.text[:1] not in {" ", "\t"}:
                key = ""
            continue
        indent, value, start = len(item[1]), item[3], line.start + item.start(3)
        if key == "channels":
            draft.channels.append((value, Span(start, start + len(value))))
        elif key == "dependencies":
            if value.rstrip() == "pip:":
                pip_below = indent
                continue
            if pip_below is not None and indent > pip_below:
                _pip(draft, value, start)
                continue
            pip_below = None
            _conda(draft, value, start)
    return draft.done() if draft.pins else None


def _pip(draft: Draft, value: str, start: int) -> None:
    option = _OPTION.match(value)
    if option is not None:
        if option[1] in {"-r", "-c"}:
            draft.includes.append(option[2])
        else:
            draft.source(option[2], start + option.start(2), find_links=option[1] in {"-f", "--find-links"})
    elif not value.startswith("-"):
        pin = read_pin(value, start, group="pip")
        if pin is not None:
            draft.pins.append(pin)


def _conda(draft: Draft, value: str, start: int) -> None:
    pin = read_conda_spec(value, start)
    if pin is not None:
        draft.pins.append(pin)
