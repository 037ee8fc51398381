"""What a text file installs, as every rule of this package reads it."""

from __future__ import annotations

import posixpath
from functools import lru_cache

from torchlift.finding import Severity
from torchlift.pins.commands import read_commands
from torchlift.pins.conda_file import read_conda
from torchlift.pins.ini_file import read_ini
from torchlift.pins.pin import Pin, PinSet, is_template
from torchlift.pins.pyproject_file import read_pyproject
from torchlift.pins.requirements_file import read_requirements
from torchlift.project import Project
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.source import Span, UnreadableSource
from torchlift.view.text import TextKind, TextView, read_text

INSTALLING: frozenset[TextKind] = frozenset(
    {"shell", "dockerfile", "yaml", "makefile", "requirements", "toml", "ini", "markdown"}
)
"""Kinds of text that install packages or say which ones are needed."""

FAMILY = ("torch", "torchvision", "torchaudio", "triton")
"""Packages of which one release belongs to one release of torch."""

_MOST_INCLUDED = 50


@lru_cache(maxsize=8)
def sets_of(view: TextView) -> tuple[PinSet, ...]:
    """Everything in a file that is installed together, set by set."""
    if view.kind == "requirements":
        return (read_requirements(view),)
    if view.kind == "toml":
        return (read_pyproject(view)[0],)
    found: list[PinSet] = []
    if view.kind == "ini":
        found.append(read_ini(view)[0])
    environment = read_conda(view)
    if environment is not None:
        return (environment,)
    found += [item for item in read_commands(view) if not is_shown(view, item.span.start)]
    return tuple(found)


def included(view: TextView, project: Project) -> list[tuple[str, Pin]]:
    """The requirements of all files that a requirement file includes, each with its path.

    A file that is missing, unreadable or outside of the project adds nothing.
    """
    found: list[tuple[str, Pin]] = []
    seen = {view.path}
    pending = [(view.path, name) for item in sets_of(view) for name in item.includes]
    while pending and len(seen) <= _MOST_INCLUDED:
        path, name = pending.pop()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if target in seen or target.startswith("../") or posixpath.isabs(target) or "://" in name or is_template(name):
            continue
        seen.add(target)
        try:
            other = TextView(target, "requirements", read_text(project.data(target)))
        except (OSError, ValueError, UnreadableSource):
            continue
        read = read_requirements(other)
        found += [(target, pin) for pin in read.pins]
        pending += [(target, further) for further in read.includes]
    return found


@lru_cache(maxsize=8)
def python_bound(view: TextView) -> tuple[tuple[str, Span], ...]:
    """The Pythons that the metadata in a file asks for, each with its place."""
    if view.kind == "toml":
        return tuple((item.value, item.span) for item in read_pyproject(view)[1])
    if view.kind == "ini":
        bound = read_ini(view)[1]
        return (bound,) if bound else ()
    return ()


def torch_of(group: list[Pin]) -> Pin | None:
    """The requirement of torch in a list; None where there is none, or more than one."""
    found = [pin for pin in group if pin.name == "torch" or (pin.notation == "conda" and pin.name == "pytorch")]
    return found[0] if len(found) == 1 else None


def severity_in(view: TextView, severity: Severity) -> Severity:
    """What a matter weighs in a file: in a README it breaks nothing by itself."""
    return Severity.INFO if view.kind == "markdown" else severity
