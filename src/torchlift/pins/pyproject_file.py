"""`pyproject.toml`, `uv.toml` and `Pipfile`: PEP 621, dependency groups, Poetry, PDM, uv, build requirements.

Sources: PEP 621 and PEP 735; "Dependency specification" and "Repositories" of Poetry's documentation; "Configuring
projects" of PDM's; "Dependency sources" and "Package indexes" of uv's; "Pipfile & Pipfile.lock" of Pipenv's.
"""

from __future__ import annotations

import re
from dataclasses import replace

from torchlift.pins.pin import Draft, PinSet, read_pin, read_versions
from torchlift.pins.toml_strings import Path, TomlString, toml_strings
from torchlift.source import Span
from torchlift.view.text import TextView

# Lists of requirements in pip's notation, as keys; `*` is any one key or number.
_LISTS: tuple[tuple[str, ...], ...] = (
    ("project", "dependencies", "*"),
    ("project", "optional-dependencies", "*", "*"),
    ("dependency-groups", "*", "*"),
    ("build-system", "requires", "*"),
    ("tool", "uv", "dev-dependencies", "*"),
    ("tool", "pdm", "dev-dependencies", "*", "*"),
    ("tool", "hatch", "envs", "*", "dependencies", "*"),
    ("tool", "hatch", "envs", "*", "extra-dependencies", "*"),
)
_POETRY: tuple[tuple[str, ...], ...] = (
    ("tool", "poetry", "dependencies"),
    ("tool", "poetry", "dev-dependencies"),
    ("tool", "poetry", "group", "*", "dependencies"),
    ("packages",),
    ("dev-packages",),
)
_ADDRESSES: tuple[tuple[str, ...], ...] = (
    ("tool", "uv", "index", "*", "url"),
    ("tool", "uv", "index-url"),
    ("tool", "uv", "extra-index-url", "*"),
    ("tool", "uv", "find-links", "*"),
    ("tool", "uv", "pip", "index-url"),
    ("tool", "uv", "pip", "extra-index-url", "*"),
    ("tool", "poetry", "source", "*", "url"),
    ("tool", "pdm", "source", "*", "url"),
    ("source", "*", "url"),
    ("index", "*", "url"),
    ("index-url",),
    ("extra-index-url", "*"),
)
_NAMES_CUDA = re.compile(r"cu\d{2,3}(?!\d)")
PYTHON_PLACES: tuple[tuple[str, ...], ...] = (
    ("project", "requires-python"),
    ("tool", "poetry", "dependencies", "python"),
)


def read_pyproject(view: TextView) -> tuple[PinSet, list[TomlString]]:
    """All requirements as one set with a group for each list, and the places that say which Python is wanted."""
    strings, _ = toml_strings(view.source.text)
    draft = Draft("this file", Span(0, len(view.source.text)))
    python = []
    markers = {item.path[:-1] for item in strings if item.path[-1] in {"markers", "platform", "python", "sys_platform"}}
    pdm = ("tool", "pdm", "source")
    find_links = {item.path[:-1] for item in strings if item.path[-1] == "type" and item.value == "find_links"}
    for item in strings:
        path = item.path
        if any(_fits(path, place) for place in PYTHON_PLACES):
            python.append(item)
        elif any(_fits(path, place) for place in _LISTS):
            pin = read_pin(item.value, item.span.start, group=_group(path[:-1]))
            if pin is not None:
                draft.pins.append(pin)
        elif any(_fits(path, place) for place in _ADDRESSES):
            links = "find-links" in path or (path[:3] == pdm and path[:-1] in find_links)
            draft.source(item.value, item.span.start, find_links=links)
        else:
            _poetry(draft, item, markers)
        match = _NAMES_CUDA.search(item.value)
        named = path[-1] in {"name", "index", "source"} and path[0] != "project" and path[-2:] != ("poetry", "name")
        if match is not None and named:
            place = Span(item.span.start + match.start(), item.span.start + match.end())
            draft.names.append((match[0], place))
    return draft.done(), python


def _poetry(draft: Draft, item: TomlString, markers: set[Path]) -> None:
    for place in _POETRY:
        length = len(place) + 1
        if not _fits(item.path[: length - 1], place) or len(item.path) < length:
            continue
        name, rest = str(item.path[length - 1]), item.path[length:]
        if rest and rest[-1] != "version":
            return
        pin = read_versions(name, item.value, item.span.start, "poetry", _group(place))
        under_condition = bool(rest) and (item.path[:-1] in markers or len(rest) > 1)
        draft.pins.append(replace(pin, conditional=True) if under_condition else pin)
        return


def _group(path: Path) -> str:
    return ".".join(str(part) for part in path if not isinstance(part, int))


def _fits(path: Path, place: tuple[str, ...]) -> bool:
    return len(path) == len(place) and all(wanted in ("*", part) for part, wanted in zip(path, place, strict=True))
