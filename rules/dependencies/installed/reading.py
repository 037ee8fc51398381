"""What a text file installs, as every rule of this package reads it."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product

from torchlift.dependencies.assignments import assignments
from torchlift.dependencies.commands import read_commands, read_words
from torchlift.dependencies.conda_file import read_conda
from torchlift.dependencies.grammar import is_template
from torchlift.dependencies.ini_file import read_ini
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.pyproject_file import read_pyproject, read_script
from torchlift.dependencies.requirements_file import read_requirements
from torchlift.dependencies.setup_file import read_setup, string_place
from torchlift.dependencies.version_values import VersionValue
from torchlift.finding import Severity
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.analysis.wording.shown_text import is_shown
from torchlift.rules.rule import Context
from torchlift.source import Span, UnreadableSource
from torchlift.view import ModuleView, Use
from torchlift.view.text import TextKind, TextView, read_text
from torchlift.view.walk import walk

INSTALLING: frozenset[TextKind] = frozenset(
    {"shell", "dockerfile", "yaml", "makefile", "requirements", "toml", "ini", "markdown", "batch", "powershell"}
)
"""Kinds of text that install packages or say which ones are needed."""

_LISTS: frozenset[TextKind] = frozenset({"requirements", "ini"})
_VARIABLES: frozenset[TextKind] = frozenset({"env"})
NAMING = (INSTALLING - _LISTS) | _VARIABLES
"""Kinds of text that name images, or give variables a version."""

FAMILY = ("torch", "torchvision", "torchaudio", "triton")
"""Packages of which one release belongs to one release of torch."""

SETUP = ("setuptools.setup", "distutils.core.setup", "skbuild.setup")
"""What rules about setup.py are asked for."""

_ENVIRONMENT = lazy_pattern(
    r"\benv (?:create|update)\b[^\n]* (?:-f|--file)[ =](?:\$\{?(?P<variable>\w+)\}?|(?P<path>\S+\.ya?ml))"
)
_OF_PROJECT = lazy_pattern(
    r"\b(?:env (?:create|update)|uv sync|uv run|poetry install|pdm (?:install|sync)|pip3? install[^\n]* (?:\.{1,2}/?|/[\w./-]+)(?:\[[\w,-]+\])?(?=\s|$))"
)
_SCRIPT = lazy_pattern(r"(?<![\w.${}/:-])[\w./-]+\.(?:sh|bash)\b")
_COPIED = lazy_pattern(r"^[ \t]*(?:COPY|ADD)[ \t]+(?:--(?!from)\S+[ \t]+)*(?P<folder>[\w.][\w./-]*)[ \t]", re.MULTILINE)
_MOST_INCLUDED = 50
_MOST_SCRIPTS = 20
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pixi.lock", "Pipfile.lock")
_TESTS = lazy_pattern(r"(?:^|/)(?:tests?/|test_[^/]*$)")

_TAG = lazy_pattern(r"[\w.-]+/[\w./-]+:")


@lru_cache(maxsize=8)
def sets_of(view: TextView) -> tuple[PinSet, ...]:
    """Everything in a file that is installed together, set by set."""
    if view.kind == "requirements":
        return (read_requirements(view),)
    found: list[PinSet] = []
    if view.kind == "toml":
        found.append(read_pyproject(view))
    if view.kind == "ini":
        found.append(read_ini(view))
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
    pending = [(view.path, include.path) for item in sets_of(view) for include in item.includes]
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
        pending += [(target, further.path) for further in read.includes]
    return found


def named_elsewhere(view: TextView, item: PinSet, project: Project) -> list[str]:
    """Files that a list includes and that name torch, what goes with it or an index, or cannot be read."""
    found = []
    for include in item.includes:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(view.path), include.path))
        try:
            other = read_requirements(TextView(path, "requirements", read_text(project.data(path))))
        except (OSError, ValueError, UnreadableSource):
            other = None
        plain = other is not None and not (other.includes or other.sources or other.indexes)
        if other is None or not plain or any(pin.name in FAMILY for pin in other.pins):
            found.append(include.path)
    return found


def copied_sets(sets: Iterable[PinSet], view: TextView, project: Project) -> tuple[PinSet, ...]:
    """What the requirement files say that commands of a container file install.

    Where a file is copied to is not followed: one of its name beside the container file is meant, or at the root of the project.
    """
    found: list[PinSet] = []
    for include in (include for item in sets for include in item.includes):
        if is_template(include.path) or "://" in include.path:
            continue
        name = posixpath.basename(include.path) if posixpath.isabs(include.path) else include.path
        for folder in dict.fromkeys((posixpath.dirname(view.path), "")):
            target = posixpath.normpath(posixpath.join(folder, name))
            try:
                data = project.data(target) if not target.startswith("../") else b""
                found.append(read_requirements(TextView(target, "requirements", read_text(data))))
            except (OSError, ValueError, UnreadableSource):
                continue
            break
    return tuple(found)


def project_sets(view: TextView, project: Project) -> tuple[PinSet, ...]:
    """What the project beside a container file requires, or the one at the root: the environment that it makes, or its metadata."""
    environment = _ENVIRONMENT.search(view.code)
    name = (environment["path"] or "") if environment is not None else "pyproject.toml"
    if environment is not None and environment["variable"]:
        name = next((one.value for one in assignments(view) if one.name == environment["variable"]), "")
    kind: TextKind = "toml" if environment is None else "yaml"
    for folder in dict.fromkeys((posixpath.dirname(view.path), "")):
        path = posixpath.normpath(posixpath.join(folder, posixpath.basename(name)))
        try:
            return sets_of(TextView(path, kind, read_text(project.data(path))))
        except (OSError, ValueError, UnreadableSource):
            continue
    return ()


def stage_sets(view: TextView, spans: Iterable[Span], project: Project) -> list[PinSet]:
    """What is installed in stages of a container file, or in a job: by their commands, by files and scripts of the project that these
    name, and where none of them asks for torch by the project itself."""
    spans = list(spans)
    stage = "".join(view.code[span.start : span.end] for span in spans)
    found = [item for item in sets_of(view) if any(span.contains(item.span) for span in spans)]
    found += copied_sets(found, view, project)
    for script in scripts_in(stage, view, project):
        own = sets_of(script)
        found += [*own, *copied_sets(own, script, project)]
    if _OF_PROJECT.search(stage) and not any(pin.is_torch for item in found for pin in item.pins):
        found += project_sets(view, project)
    return found


def script_names(stage: str) -> list[str]:
    """The scripts that a stage or a job copies or runs, as it names them."""
    return list(dict.fromkeys(match[0].removeprefix("./") for match in _SCRIPT.finditer(stage)))


def scripts_in(stage: str, view: TextView, project: Project) -> Iterator[TextView]:
    """The scripts of the project that a stage copies or runs, as it names them: from beside the container file, or from a folder above."""
    names = script_names(stage)
    copied = dict.fromkeys(match["folder"] for match in _COPIED.finditer(stage))
    for name in names[:_MOST_SCRIPTS]:
        parts = posixpath.dirname(view.path).split("/")
        folders = ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]
        for folder, inner in product(folders, ("", *copied)):
            path = posixpath.normpath(posixpath.join(folder, inner, name))
            try:
                if not path.startswith(("../", "/")):
                    yield TextView(path, "shell", read_text(project.data(path)))
                    break
            except (OSError, ValueError, UnreadableSource):
                continue


def lock_beside(view: TextView, project: Project) -> bool:
    """Whether a lock file was made from a file; uv names that of a script after it."""
    script = view.path.endswith(".py") and view.path.rpartition("/")[2] not in {"setup.py", "noxfile.py"}
    if view.kind != "toml" and not script:
        return False
    for name in (f"{view.path.rpartition('/')[2]}.lock",) if script else _LOCKS:
        try:
            project.data(posixpath.join(posixpath.dirname(view.path), name))
        except OSError:
            continue
        return True
    return False


def setup_of(use: Use, context: Context) -> PinSet | None:
    """What a call of `setup` asks for; None outside of setup.py."""
    view = context.view
    if use.call is None or view.path.rpartition("/")[2] != "setup.py":
        return None
    return read_setup(view.tree, view.source, use.call)


def session_install(use: Use, context: Context) -> PinSet | None:
    """What a session of a noxfile installs; None for everything else, and where a word is no plain string."""
    if use.call is None or context.view.path.rpartition("/")[2] != "noxfile.py":
        return None
    source = context.view.source
    places = [string_place(source, argument) for argument in use.call.args]
    words = [(source.slice(place), place.start) for place in places if place is not None]
    return read_words(words) if words and len(words) == len(places) else None


def script_of(context: Context) -> tuple[TextView, PinSet] | None:
    """What a script of one file asks for in a comment, with the file as text: like setup.py it is most like a file of cmake."""
    source = context.view.source
    read = read_script(context.view.path, source.text) if "# /// script" in source.text else None
    if read is None or any(_is_in_string(context.view, pin.span) for pin in (*read.pins, *read.python)):
        return None
    return TextView(context.view.path, "cmake", source), read


def _is_in_string(view: ModuleView, place: Span) -> bool:
    """Whether a place lies in a string of the code, as that of a script that the code writes."""
    texts = (node for node in walk(view.tree) if isinstance(node, (ast.Constant, ast.JoinedStr)))
    return any(node.lineno != node.end_lineno and view.span(node).contains(place) for node in texts)


def is_expectation(view: TextView) -> bool:
    """Whether what stands in a file outside of commands is compared or shown, and not used: a test written as a script, a form
    for reports."""
    if "/ISSUE_TEMPLATE/" in view.path:
        return True
    return view.kind in {"shell", "batch", "powershell", "makefile"} and _TESTS.search(view.path) is not None


def torch_of(group: list[Pin]) -> Pin | None:
    """The requirement of torch in a list; None where there is none, or more than one."""
    found = [pin for pin in group if pin.is_torch]
    return found[0] if len(found) == 1 else None


def severity_in(view: TextView, severity: Severity) -> Severity:
    """What a matter weighs in a file: in a README it breaks nothing by itself."""
    return Severity.INFO if view.kind == "markdown" else severity


def is_pytorch_channel(name: str) -> bool:
    """Whether a channel of conda is one of PyTorch's own, by name or address."""
    return name.rstrip("/").rpartition("/")[2] in {"pytorch", "pytorch-nightly", "pytorch-lts"}


def part_of_image(view: TextView, value: VersionValue) -> str | None:
    """What to do with a value that is a part of an image's name; None where it is none."""
    if _TAG.match(value.use):
        image = value.use.partition(":")[0]
        return f"It is a part of the tag of an image, behind `{image}:`: give all parts of the tag values for which there is one."
    name = re.escape(value.name)
    base = re.search(rf"^[ \t]*FROM\b[^\n]*\$(?:\{{{name}\b|{name}\b)", view.code, re.MULTILINE | re.IGNORECASE)
    return (
        "It is a part of the name of an image (`FROM`): raise it where there is such an image with the new torch."
        if base
        else None
    )
