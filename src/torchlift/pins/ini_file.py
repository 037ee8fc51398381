"""`setup.cfg` of setuptools and `tox.ini`.

Sources: "Configuring setuptools using setup.cfg files" in setuptools' documentation; "Configuration" in tox's.
"""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.pins.pin import Draft, PinSet, read_pin
from torchlift.source import Span
from torchlift.view.text import TextView

_SECTION = re.compile(r"\[([^\]]*)\]\s*\Z")
_OPTION = re.compile(r"([\w.-]+)\s*[=:]\s*")
_FACTOR = re.compile(r"\s*[!\w{},.-]+:\s+")
_REQUIREMENTS = frozenset({"install_requires", "setup_requires", "tests_require", "deps", "constraint_dependencies"})


def read_ini(view: TextView) -> tuple[PinSet, tuple[str, Span] | None]:
    """The requirements, one group for each option, and `python_requires` with its place."""
    draft = Draft("this file", Span(0, len(view.source.text)))
    section = option = ""
    python: tuple[str, Span] | None = None
    for line in view.lines:
        text = line.text
        start = 0
        if text[:1] not in {" ", "\t"}:
            header = _SECTION.match(text.rstrip())
            if header is not None:
                section, option = header[1].strip(), ""
                continue
            assigned = _OPTION.match(text)
            if assigned is None:
                continue
            option, start = assigned[1].lower().replace("-", "_"), assigned.end()
            if option == "python_requires":
                value = text[start:].strip()
                python = (value, Span(line.start + start, line.start + start + len(value)))
                continue
        extras = section == "options.extras_require"
        if not (option in _REQUIREMENTS or extras) or not text[start:].strip():
            continue
        factor = _FACTOR.match(text, start) if option == "deps" else None
        begin = factor.end() if factor else start
        body = text[begin:]
        if body.lstrip().startswith("-"):
            words = body.split()
            if len(words) > 1 and words[0] in {"-r", "-c"}:
                draft.includes.append(words[1])
            else:
                draft.source(body, line.start + begin, find_links="find-links" in body or words[0] == "-f")
            continue
        pin = read_pin(body, line.start + begin, group=f"{section}.{option}")
        if pin is not None:
            draft.pins.append(replace(pin, conditional=True) if factor else pin)
    return draft.done(), python
