"""Pythons that a project asks for and the torch it asks for, or moves to, has no wheel for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from torchlift.dependencies.images import read_images, stages
from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.strength import Strength, strength_of
from torchlift.finding import Finding, Fix, ReplaceText, Safety, Severity
from torchlift.rules.dependencies.builds import (
    allowed,
    minors_in,
    newest_of,
    pythons_of,
    reaches_beyond,
    spelled,
    target_line,
)
from torchlift.rules.dependencies.reading import SETUP, sets_of, setup_of, torch_of
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings, TextContext
from torchlift.source import Span
from torchlift.view import Use
from torchlift.view.text import TextKind, TextView

_KINDS: frozenset[TextKind] = frozenset({"toml", "ini", "yaml", "dockerfile"})

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
        "becomes the first that has one. Nothing could be installed below it, unless torch is built from source. Everything "
        "else is only reported."
    ),
    targets=SETUP,
    triggers=("python_requires & torch",),
    text_triggers=(
        "requires-python & torch",
        "python_requires & torch",
        "poetry & torch",
        "dependencies & torch",
        "FROM & python:3",
    ),
    text_kinds=_KINDS,
    sources=("File lists and METADATA of torch on PyPI, 2026-11-21",),
)


def text(view: TextView, context: TextContext) -> Iterator[Finding]:
    if view.kind == "dockerfile" and "python:" not in view.code:
        return
    sets = sets_of(view)
    for item in sets:
        yield from _bounds(view.path, item, context.settings)
        if item.conda:
            yield from _environment(view, item, context.settings)
    if view.kind == "dockerfile":
        yield from _images(view, sets, context.settings)


def check(use: Use, context: Context) -> Iterable[Finding]:
    read = setup_of(use, context)
    if read is not None:
        yield from _bounds(context.view.path, read, context.settings)


def _bounds(path: str, item: PinSet, settings: Settings) -> Iterator[Finding]:
    """Metadata: every Python it allows should find a torch, and some Python the one the project moves to."""
    lists = (group for name, group in item.groups.items() if strength_of(name) is Strength.RUNTIME)
    torch = next(filter(None, map(torch_of, lists)), None)
    if torch is None or torch.conditional or torch.specifier is None:
        return
    for python in item.python:
        if python.clauses and python.specifier is not None and not python.conditional:
            yield from _bound(path, python, torch, settings)


def _bound(path: str, python: Pin, torch: Pin, settings: Settings) -> Iterator[Finding]:
    text, span = python.text, python.span
    wanted = minors_in(python.specifier)
    target = target_line(settings.target)
    there = pythons_of(newest_of(target))
    if not wanted or not there:
        return
    if not set(wanted) & there and wanted[-1] < min(there):
        yield Finding(
            "TL307",
            path,
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
    fix = None
    lower = [clause for clause in python.clauses if clause.operator in {">=", "^", "~="}]
    if (
        len(lower) == 1
        and not python.opaque
        and lower[0].operator == ">="
        and re.fullmatch(r"3\.\d+(\.\d+)?", lower[0].version)
    ):
        fix = Fix(f"Ask for Python 3.{lowest} or newer", Safety.UNSAFE, (ReplaceText(lower[0].span, f"3.{lowest}"),))
    yield Finding(
        "TL307",
        path,
        span,
        f"`{text}` allows Python {_range(set(barred))}, for which no torch {torch.specifier} has a wheel: it can be installed "
        f"from Python 3.{lowest} on.",
        Severity.WARNING,
        ("Needs review: torch is taken to come from PyTorch's wheels. " if fix else "")
        + f"Ask for Python >=3.{lowest}, or allow an older torch.",
        fix,
    )


def _environment(view: TextView, item: PinSet, settings: Settings) -> Iterator[Finding]:
    for python in item.named("python"):
        exact = re.match(r"==3\.(\d+)", python.specifier or "")
        pip = [pin for pin in item.pins if pin.name == "torch" and pin.notation == "pip"]
        torch = pip[0] if len(pip) == 1 else torch_of([pin for pin in item.pins if pin.notation == "conda"])
        if exact is None or torch is None or python.conditional:
            continue
        yield from _one_python(view, python.span, int(exact[1]), torch, settings)


def _images(view: TextView, sets: tuple[PinSet, ...], settings: Settings) -> Iterator[Finding]:
    starts = stages(view)
    for image in read_images(view):
        if image.kind != "python" or image.python is None:
            continue
        following = [start for start in starts if start > image.span.start]
        end = following[0] if following else len(view.source.text)
        for item in sets:
            torch = torch_of(list(item.pins))
            if image.span.start < item.span.start < end and torch is not None and not item.conda:
                yield from _one_python(view, image.span, int(image.python.partition(".")[2]), torch, settings)
                break


def _one_python(view: TextView, span: Span, minor: int, torch: Pin, settings: Settings) -> Iterator[Finding]:
    target = target_line(settings.target)
    there = pythons_of(newest_of(target))
    found = allowed(torch.specifier) if torch.specifier is not None and not torch.opaque else ()
    possible: set[int] = set().union(*(pythons_of(version) for version in found))
    if torch.clauses and possible and minor not in possible and not torch.conditional:
        message = f"torch {torch.specifier} has no wheel for Python 3.{minor}; it needs {_range(possible)}."
        yield Finding("TL307", view.path, span, message, Severity.ERROR, "Take another Python, or another torch.")
    elif there and minor < min(there):
        message = f"Python 3.{minor} has no wheel of torch {spelled(target)}, which needs {_range(there)}."
        yield Finding("TL307", view.path, span, message, Severity.WARNING, f"Take Python 3.{min(there)} or newer.")


def _range(minors: Iterable[int]) -> str:
    ordered = sorted(minors)
    return f"3.{ordered[0]}" if len(ordered) == 1 else f"3.{ordered[0]} to 3.{ordered[-1]}"


EXAMPLES = (
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
        why="a conda environment",
        path="environment.yaml",
    ),
    Bad("FROM python:3.9-slim\nRUN pip install torch\n", why="an image of Python", path="Dockerfile"),
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
        "FROM python:3.9 AS docs\nRUN pip install sphinx\nFROM ubuntu\nRUN pip install torch\n",
        "another stage",
        "Dockerfile",
    ),
)
