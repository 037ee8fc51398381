"""Requirement and constraint files of pip.

Source: "Requirements File Format" in pip's documentation.
"""

from __future__ import annotations

import re

from torchlift.pins.pin import Draft, PinSet, is_template, read_pin
from torchlift.source import Span
from torchlift.view.text import TextView

_OPTION = re.compile(
    r"\s*(?P<name>--index-url|-i|--extra-index-url|--find-links|-f|--requirement|-r|--constraint|-c)(?:[ \t]*=[ \t]*|[ \t]+|(?<=-[ircf]))"
    r"[\"']?(?P<value>[^\s\"']+)"
)
_PER_REQUIREMENT = re.compile(r"\s--(?:hash|config-settings?|global-option|install-option)\b")


def read_requirements(view: TextView) -> PinSet:
    """All of a requirement file as one set; files that it includes are named, not read."""
    draft = Draft("this file", Span(0, len(view.source.text)))
    for line in view.lines:
        text = line.text
        option = _OPTION.match(text)
        if option is not None:
            value, start = option["value"], line.start + option.start("value")
            if option["name"] in {"-r", "-c", "--requirement", "--constraint"}:
                draft.includes.append(value)
            else:
                draft.variables = draft.variables or is_template(value)
                draft.source(value, start, find_links=option["name"] in {"-f", "--find-links"})
            continue
        if text.lstrip().startswith("-") or "://" in text.partition("@")[0]:
            continue
        extra = _PER_REQUIREMENT.search(text)
        requirement = text[: extra.start()] if extra else text
        pin = read_pin(requirement, line.start, hashed=extra is not None)
        if pin is not None:
            draft.pins.append(pin)
    return draft.done()
