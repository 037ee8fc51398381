"""`setup.cfg` of setuptools and `tox.ini`.

Sources: "Configuring setuptools using setup.cfg files" in setuptools' documentation; "Configuration" in tox's.
"""

from __future__ import annotations

import re

from torchlift.dependencies.grammar import read_versions
from torchlift.dependencies.pin_set import Include, PinSet
from torchlift.dependencies.requirements_file import take_line
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import Span
from torchlift.view.text import TextView

_SECTION = lazy_pattern(r"\[([^\]]*)\]\s*\Z")
_OPTION = lazy_pattern(r"([\w.-]+)\s*[=:]\s*")
_FACTOR = lazy_pattern(r"\s*[!\w{},.-]+:\s+")
_FILES = lazy_pattern(r"file:\s*")
_REQUIREMENTS = frozenset({"install_requires", "setup_requires", "tests_require", "deps", "constraint_dependencies"})


def read_ini(view: TextView) -> PinSet:
    """The requirements, one group for each option, and `python_requires`."""
    found = PinSet(Span(0, len(view.source.text)))
    section = option = ""
    files = False
    for line in view.lines:
        text = line.text
        start = 0
        if text[:1] not in {" ", "\t"}:
            header = _SECTION.match(text.rstrip())
            assigned = _OPTION.match(text)
            if header is not None:
                section, option = header[1].strip(), ""
            if header is not None or assigned is None:
                continue
            option, start = assigned[1].lower().replace("-", "_"), assigned.end()
            named = _FILES.match(text, start)
            files, start = named is not None, named.end() if named else start
        if text[start:].strip():
            _take(found, section, option, text[start:], line.start + start, files=files)
    return found


def _take(found: PinSet, section: str, option: str, text: str, start: int, *, files: bool) -> None:
    """Take a line of the value of an option; `files` where it names files with requirements."""
    group = f"{section}.{option}"
    if option == "python_requires":
        body = text.strip()
        found.python.append(read_versions("python", body, start + text.index(body)))
    elif option not in _REQUIREMENTS and section != "options.extras_require":
        return
    elif files:
        for name in re.finditer(r"[^\s,]+", text):
            found.includes.append(Include(name[0], Span(start + name.start(), start + name.end()), group))
    else:
        factor = _FACTOR.match(text) if option == "deps" else None
        begin = factor.end() if factor else 0
        take_line(found, text[begin:], start + begin, group, conditional=factor is not None)
