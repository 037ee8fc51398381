"""Pythons that a project asks for and the torch it asks for, or moves to, has no wheel for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlift.dependencies.images import read_images, spans_on
from torchlift.dependencies.pin import Clause, Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.strength import Strength, strength_of
from torchlift.dependencies.version_values import version_values
from torchlift.dependencies.yaml_blocks import row_of
from torchlift.finding import Finding, Fix, Safety, Severity
from torchlift.rules.dependencies.installed.pythons import AskedPython, of_stage, pythons_for, required
from torchlift.rules.dependencies.installed.reading import (
    SETUP,
    is_expectation,
    script_of,
    sets_of,
    setup_of,
    severity_in,
    stage_sets,
    torch_of,
)
from torchlift.rules.dependencies.moves.holding import holds
from torchlift.rules.dependencies.wheels.builds import (
    allowed,
    minors_in,
    newest_of,
    pythons_of,
    reaches_beyond,
    spelled,
    target_line,
)
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext
from torchlift.view import Use
from torchlift.view.text import TextKind, TextView

_KINDS: frozenset[TextKind] = frozenset({
    "toml", "ini", "yaml", "dockerfile", "shell", "batch", "powershell", "makefile", "markdown"
})  # fmt: skip

RULE = Rule(
    code="TL307",
    name="python-bound",
    summary="A Python is asked for that the torch beside it, or the one the project moves to, has no wheel for",
    why=(
        "Each release of torch has wheels for some Pythons only: 2.9 to 2.14 for 3.10 to 3.14, 2.15 for 3.11 to 3.15. Where "
        "the metadata allows more, uv and Poetry refuse to lock, and pip fails on the Pythons that are left out."
    ),
    fix=(
        "Needs review: where the lower bound of torch leaves the lowest Pythons without any wheel, `>=3.8` in the metadata "
        "becomes the first that has one. Nothing could be installed below it, unless torch is built from source. The Python of "
        "an image, an environment or a job goes up together with the torch that is pinned for it (TL309), or not at all."
    ),
    targets=SETUP,
    triggers=("python_requires & torch", "/// script & torch"),
    text_triggers=(
        "requires-python & torch",
        "python_requires & torch",
        "poetry & torch",
        "dependencies & torch",
        "python-version & torch",
        "python: & torch",
        "python_version & torch",
        "python= & torch",
        "FROM & python:",
        "FROM & ubuntu",
        "FROM & debian",
        "FROM & nvidia/cuda",
        "FROM & miniconda3",
        "ARG & python3",
    ),
    text_kinds=_KINDS,
    sources=("File lists and METADATA of torch on PyPI, 2026-11-21",),
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    found = list(_rows(view, context)) if view.kind == "yaml" else []
    for item in sets_of(view):
        yield from _bounds(view, item, context.settings)
        found += _installed(view, item, context)
    found += _copied(view, context) if view.kind == "dockerfile" else []
    yield from {finding.span: finding for finding in reversed(found)}.values()


def check(use: Use, context: Context) -> Iterable[Finding]:
    read = setup_of(use, context)
    if read is not None:
        view = TextView(context.view.path, "cmake", context.view.source)
        yield from _bounds(view, read, context.settings)


def whole(context: Context) -> Iterator[Finding]:
    """What a script of one file asks for in a comment."""
    script = script_of(context)
    if script is not None:
        yield from _bounds(*script, context.settings)


def _bounds(view: TextView, item: PinSet, settings: Settings) -> Iterator[Finding]:
    """Metadata: every Python it allows should find a torch, and some Python the one the project moves to."""
    lists = (group for name, group in item.groups.items() if strength_of(name) is Strength.RUNTIME)
    torch = next(filter(None, map(torch_of, lists)), None)
    if torch is None or torch.conditional or torch.specifier is None:
        return
    for python in item.python:
        if python.clauses and python.specifier is not None and not python.conditional:
            yield from _bound(view, python, torch, settings)


def _bound(view: TextView, python: Pin, torch: Pin, settings: Settings) -> Iterator[Finding]:
    text, span = python.text, python.span
    wanted = minors_in(python.specifier)
    target = target_line(settings.target)
    there = pythons_of(newest_of(target))
    if not wanted or not there:
        return
    if not set(wanted) & there and wanted[-1] < min(there):
        yield Finding(
            "TL307",
            view.path,
            span,
            f"No Python that `{text}` allows has a wheel of torch {spelled(target)}, which needs {_range(there)}.",
            Severity.WARNING,
            f"Raise the bounds so that Python 3.{min(there)} is among them.",
        )
        return
    found = allowed(torch.specifier)
    if not found or not torch.clauses or reaches_beyond(torch.specifier)[0]:
        return  # torch 1 has wheels for older Pythons
    possible = set().union(*(pythons_of(version) for version in found))
    barred = [minor for minor in wanted if minor < min(possible)]
    if not barred:
        return
    lowest = min(possible)
    asked = required(python)
    edit = asked.raised(view, lowest) if asked is not None and lowest in wanted else None
    fix = Fix(f"Ask for Python 3.{lowest} or newer", Safety.UNSAFE, (edit,)) if edit is not None else None
    yield Finding(
        "TL307",
        view.path,
        span,
        f"`{text}` allows Python {_range(set(barred))}, for which no torch {torch.specifier} has a wheel: it can be installed "
        f"from Python 3.{lowest} on.",
        Severity.WARNING,
        ("Needs review: torch is taken to come from PyTorch's wheels. " if fix else "")
        + f"Ask for Python >=3.{lowest}, or allow an older torch.",
        fix,
    )


def _rows(view: TextView, context: TextContext) -> Iterator[Finding]:
    """The rows of a matrix that name a torch and a Python that has none of it; one for an older torch may stay."""
    for value in version_values(view):
        row = row_of(view, value.span)
        if value.package == "torch" and row is not None:
            torch = Pin("torch", value.value, value.span, ((Clause("==", value.value, value.span),),))
            yield from _pythons(view, PinSet(row, pins=[torch]), torch, context, row=True)


def _installed(view: TextView, item: PinSet, context: TextContext) -> Iterator[Finding]:
    """Environments, images and jobs: the Python that torch is installed into."""
    pip = [pin for pin in item.pins if pin.name == "torch" and pin.notation == "pip"]
    torch = pip[0] if len(pip) == 1 else torch_of([pin for pin in item.pins if pin.is_torch])
    if torch is None or is_expectation(view):
        return
    yield from _pythons(view, item, torch, context)


def _copied(view: TextView, context: TextContext) -> Iterator[Finding]:
    """Images in which torch is installed from a file, or by a script, of the project."""
    for image in read_images(view):
        if of_stage(view, image, image.span, context.project) is not None:
            sets = stage_sets(view, spans_on(view, image), context.project)
            if any(pin.is_torch for item in sets for pin in item.pins):
                yield from _pythons(view, PinSet(image.span), Pin("torch", "torch", image.span), context)


def _pythons(view: TextView, item: PinSet, torch: Pin, context: TextContext, *, row: bool = False) -> Iterator[Finding]:
    """Findings at the Pythons that have no wheel of the torch beside them, or of the one that the project moves to."""
    asked = pythons_for(view, item, torch.span, context.project)
    asked = _environment(view, item, [python for python in asked if not python.floor])
    target = target_line(context.settings.target)
    there = pythons_of(newest_of(target))
    found = allowed(torch.specifier) if torch.specifier is not None and not torch.opaque else ()
    possible: set[int] = set().union(*(pythons_of(version) for version in found))
    known = bool(torch.clauses and possible and not torch.conditional) and not reaches_beyond(torch.specifier)[0]
    old = [python for python in asked if there and python.minors[0] < min(there)]
    if len(old) < len(asked) and any(python.listed for python in asked):
        old = []  # others of the list try the target
    if row and (known or holds(torch, target)):
        old = []
    # Of a list one finding tells all: where its newest entry goes up, so may the others.
    newest = max((python.minors[0] for python in old if python.listed), default=0)
    old = [python for python in old if not python.listed or python.minors[0] == newest]
    for python in asked:
        minor = python.minors[0]
        if known and minor not in possible:
            message = (
                f"torch {torch.specifier} has no wheel for {python.text.rstrip(',')}; it needs {_range(possible)}."
            )
            help = "Take another Python, or another torch."
            yield Finding("TL307", view.path, python.span, message, severity_in(view, Severity.ERROR), help)
        elif python in old:
            severity = severity_in(view, Severity.WARNING)
            if view.kind == "yaml" and not item.conda:
                severity = Severity.INFO
            message = f"{python.text} has no wheel of torch {spelled(target)}, which needs {_range(there)}."
            help = f"Take Python 3.{min(there)} or newer."
            if holds(torch, target) or any(value.package == "torch" for value in version_values(view)):
                help = f"Take Python 3.{min(there)} or newer where the torch that this file asks for moves to {spelled(target)}."
            yield Finding("TL307", view.path, python.span, message, severity, help)


def _environment(view: TextView, item: PinSet, asked: list[AskedPython]) -> list[AskedPython]:
    """The Pythons of the environment of a command; where a script or a page makes several, which one is meant is open."""
    if view.kind == "yaml" or len(asked) < 2:
        return asked
    return [python for python in asked if item.span.contains(python.span)]


def _range(minors: Iterable[int]) -> str:
    ordered = sorted(minors)
    return f"3.{ordered[0]}" if len(ordered) == 1 else f"3.{ordered[0]} to 3.{ordered[-1]}"


EXAMPLES = (
    Bad(
        "conda create -n a python=3.8 -y\nconda activate a\npip install torch>=2.1\n",
        why="the environment that a script makes",
        path="install.sh",
    ),
    Bad(
        "FROM continuumio/miniconda3\nRUN conda create -n a python=3.9 pytorch -c conda-forge\n",
        why="the environment of an image",
        path="Dockerfile",
    ),
    Ok("conda create -n a python=3.9\nconda create -n b python=3.12\npip install torch\n", "two environments", "b.sh"),
    Bad(
        '[project]\nname = "a"\nrequires-python = ">=3.8"  # for now\ndependencies = ["torch>=2.9"]\n',
        '[project]\nname = "a"\nrequires-python = ">=3.10"  # for now\ndependencies = ["torch>=2.9"]\n',
        "unsafe",
        why="a lower bound of torch that needs a newer Python",
        path="pyproject.toml",
    ),
    Bad(
        "[options]\npython_requires = >=3.9,<4\ninstall_requires =\n    torch >= 2.15\n",
        "[options]\npython_requires = >=3.11,<4\ninstall_requires =\n    torch >= 2.15\n",
        "unsafe",
        why="the same in setup.cfg",
        path="setup.cfg",
    ),
    Bad(
        'from setuptools import setup\n\nsetup(name="a", python_requires=">=3.8", install_requires=["torch>=2.10"])\n',
        'from setuptools import setup\n\nsetup(name="a", python_requires=">=3.10", install_requires=["torch>=2.10"])\n',
        "unsafe",
        why="the same in setup.py",
        path="setup.py",
    ),
    Bad(
        '[tool.poetry.dependencies]\npython = "^3.9"\ntorch = "^2.10"\n',
        '[tool.poetry.dependencies]\npython = "^3.10"\ntorch = "^2.10"\n',
        "unsafe",
        why="a bound in Poetry's notation",
        path="pyproject.toml",
    ),
    Bad(
        '[project]\nname = "a"\nrequires-python = ">=3.8,<3.11"\ndependencies = ["torch"]\n',
        why="an upper bound that leaves the target out",
        path="pyproject.toml",
    ),
    Bad(
        "name: a\ndependencies:\n  - python=3.9\n  - pip:\n    - torch==2.10.0\n",
        "name: a\ndependencies:\n  - python=3.11\n  - pip:\n    - torch==2.15.0\n",
        "unsafe",
        why="a conda environment",
        path="environment.yaml",
    ),
    Bad("FROM python:3.9-slim\nRUN pip install torch\n", why="an image of Python", path="Dockerfile"),
    Bad(
        "jobs:\n  test:\n    steps:\n      - uses: actions/setup-python@v5\n        with:\n          python-version: '3.9'\n"
        "      - run: pip install torch\n",
        why="the Python of a job",
        path=".github/workflows/test.yml",
    ),
    Ok(
        '[project]\nname = "a"\nrequires-python = ">=3.8"\ndependencies = ["torch>=2.0"]\n',
        "an older torch for older Pythons",
        "pyproject.toml",
    ),
    Ok(
        '[project]\nname = "a"\nrequires-python = ">=3.7"\ndependencies = ["torch>=1.12"]\n',
        "torch 1.12 and 1.13 for Python 3.7",
        "pyproject.toml",
    ),
    Ok(
        '[project]\nname = "a"\nrequires-python = ">=3.8"\ndependencies = ["torch"]\n',
        "any torch",
        "pyproject.toml",
    ),
    Ok(
        '[project]\nname = "a"\nrequires-python = ">=3.8"\ndependencies = []\n'
        '[project.optional-dependencies]\ngpu = ["torch>=2.15"]\n',
        "a torch that is optional",
        "pyproject.toml",
    ),
    Ok(
        '[project]\nname = "a"\nrequires-python = ">=3.8"\n'
        "dependencies = [\"torch>=2.15; python_version >= '3.11'\"]\n",
        "a torch under a condition",
        "pyproject.toml",
    ),
    Ok("FROM python:3.12\nRUN pip install torch\n", "a Python that fits", "Dockerfile"),
    Ok(
        "jobs:\n  test:\n    strategy:\n      matrix:\n        python-version: ['3.9', '3.12']\n    steps:\n"
        "      - run: pip install torch\n  lint:\n    steps:\n      - with: {python-version: '3.9'}\n",
        "a job with other Pythons too, and one without torch",
        ".github/workflows/test.yml",
    ),
    Ok(
        "FROM python:3.9 AS docs\nRUN pip install sphinx\nFROM ubuntu\nRUN pip install torch\n",
        "another stage",
        "Dockerfile",
    ),
)
