"""Conda environments: `dependencies`, with what pip installs below them, and `channels`.

Sources: "Creating an environment file manually" in conda's documentation; "Requirements section" of conda-build's. Only the layout that conda itself writes, one
item a line, is read.
"""

from __future__ import annotations

import re

from torchlift.dependencies.grammar import read_pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.requirements_file import take_line
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

_RECIPES = lazy_pattern(r"(?:^|/)(?:meta|recipe)\.ya?ml\Z")
_KEY = lazy_pattern(r"([\w-]+)\s*:\s*\Z")
_ITEM = lazy_pattern(r"(\s*)-\s+([\"']?)(.*?)\2\s*\Z")


def _recipe(view: TextView) -> PinSet:
    """What a recipe of conda-build builds and runs with: items whose versions stand behind a blank."""
    found = PinSet(Span(0, len(view.source.text)), conda=True)
    for line in view.lines:
        item = _ITEM.match(line.text)
        pin = read_pin(item[3], line.start + item.start(3), "conda", "recipe") if item is not None else None
        if pin is not None and pin.is_torch:
            found.add(pin)
    return found


def read_conda(view: TextView) -> PinSet | None:
    """The environment as one set with the groups "conda" and "pip"; None where the file is none."""
    if view.kind == "yaml" and _RECIPES.search(view.path):
        return _recipe(view)
    if view.kind != "yaml" or "dependencies:" not in view.code:
        return None
    of_pip = view.path.endswith("python_env.yaml")  # MLflow writes it beside one of conda
    found = PinSet(Span(0, len(view.source.text)), conda=True)
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
            found.channels.append((value, Span(start, start + len(value))))
        elif key == "dependencies" and re.fullmatch(r"pip\s*:\s*", value):
            pip_below = indent
        elif key == "dependencies" and pip_below is not None and indent > pip_below:
            take_line(found, value, start, "pip")
        elif key == "dependencies":
            pip_below = None
            found.add(read_pin(value, start, "pip", "pip") if of_pip else read_pin(value, start, "conda", "conda"))
    return found if found.pins or found.sources or found.includes else None
