"""`pyproject.toml`, `uv.toml`, `pixi.toml`, `tox.toml` and `Pipfile`: PEP 621, dependency groups, setuptools, Poetry, PDM, uv, pixi;
and what scripts of one file ask for in a comment (PEP 723).

Sources: PEP 621, PEP 723 and PEP 735; "Configuration" of tox's documentation; "Dynamic Metadata" of setuptools' documentation; "Dependency specification" and
"Repositories" of Poetry's; "The pixi.toml manifest" of pixi's; "Configuring projects" of PDM's; "Dependency sources" and "Package indexes" of uv's; "Pipfile
& Pipfile.lock" of Pipenv's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from torchlift.dependencies.grammar import read_pin, read_versions
from torchlift.dependencies.pin import Notation, Pin
from torchlift.dependencies.pin_set import Include, PackageSource, PinSet
from torchlift.dependencies.toml_strings import Path, TomlString, toml_strings
from torchlift.lazy_pattern import lazy_pattern
from torchlift.source import SourceText, Span
from torchlift.view.text import TextView

_SCRIPT = lazy_pattern(r"^# /// script[ \t]*\r?\n(?P<content>(?:^#(?: [^\n]*)?\n)+?)^# ///[ \t]*\r?$", re.MULTILINE)


def _places(*dotted: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(place.split(".")) for place in dotted)


# Places are keys; `*` is any one key or number. First lists of requirements in pip's notation.
_LISTS = _places(
    "project.dependencies.*",
    "project.optional-dependencies.*.*",
    "dependency-groups.*.*",
    "build-system.requires.*",
    "tool.uv.dev-dependencies.*",
    "tool.pdm.dev-dependencies.*.*",
    "tool.hatch.envs.*.dependencies.*",
    "tool.hatch.envs.*.extra-dependencies.*",
    "env_run_base.deps.*",
    "env.*.deps.*",
    "tool.tox.env_run_base.deps.*",
    "tool.tox.env.*.deps.*",
    "tool.uv.constraint-dependencies.*",
    "tool.uv.override-dependencies.*",
)
_POETRY = _places(
    "tool.poetry.dependencies",
    "tool.poetry.dev-dependencies",
    "tool.poetry.group.*.dependencies",
    "packages",
    "dev-packages",
    "pypi-dependencies",
    "feature.*.pypi-dependencies",
    "tool.pixi.pypi-dependencies",
    "tool.pixi.feature.*.pypi-dependencies",
)
_CONDA = _places("dependencies", "feature.*.dependencies", "tool.pixi.dependencies", "tool.pixi.feature.*.dependencies")
_ADDRESSES = _places(
    "tool.uv.index.*.url",
    "tool.uv.index-url",
    "tool.uv.extra-index-url.*",
    "tool.uv.find-links.*",
    "tool.uv.pip.index-url",
    "tool.uv.pip.extra-index-url.*",
    "tool.poetry.source.*.url",
    "tool.pdm.source.*.url",
    "source.*.url",
    "index.*.url",
    "index-url",
    "extra-index-url.*",
)
_PYTHON = _places("project.requires-python", "tool.poetry.dependencies.python")
_FILES = _places(
    "dependencies.file", "dependencies.file.*", "optional-dependencies.*.file", "optional-dependencies.*.file.*"
)
_DYNAMIC = ("tool", "setuptools", "dynamic")
_ROOTS = {
    place[: 2 if place[0] == "tool" else 1] for place in (*_LISTS, *_POETRY, *_CONDA, *_ADDRESSES, *_PYTHON, _DYNAMIC)
}
_PDM_SOURCE = ("tool", "pdm", "source")
_NAMES_CUDA = lazy_pattern(r"cu\d{2,3}(?!\d)")


def read_script(path: str, text: str) -> PinSet | None:
    """What a script of one file asks for in the comment at its head, as a project would; None where it has none."""
    block = _SCRIPT.search(text)
    if block is None:
        return None
    toml = re.sub(r"(?m)^#", " ", block["content"])
    blank = re.sub(r"[^\n]", " ", text[: block.start("content")])
    return read_pyproject(TextView(path, "toml", SourceText(blank + toml)), ("project",))


def read_pyproject(view: TextView, above: Path = ()) -> PinSet:
    """All requirements as one set with a group for each list; `above` are keys that stand in front of all but those of tools."""
    found = PinSet(Span(0, len(view.source.text)))
    try:
        strings = toml_strings(view.source.text)
    except ValueError as error:
        found.problem = str(error)
        return found
    markers = {item.path[:-1] for item in strings if item.path[-1] in {"markers", "platform", "python", "sys_platform"}}
    find_links = {item.path[:-1] for item in strings if item.path[-1] == "type" and item.value == "find_links"}
    for item in strings:
        path = item.path if item.path[0] == "tool" else (*above, *item.path)
        # The project's own name is none of an index.
        named = path[-1] in {"name", "index", "source"} and path[0] != "project" and path[-2:] != ("poetry", "name")
        match = _NAMES_CUDA.search(item.value) if named and item.plain else None
        if match is not None:
            found.names.append((match[0], Span(item.span.start + match.start(), item.span.start + match.end())))
        if path[:1] not in _ROOTS and path[:2] not in _ROOTS:
            continue
        if _fits(path, _PYTHON):
            found.python.append(_placed(read_versions("python", item.value, item.span.start), item))
        elif _fits(path, _LISTS):
            pin = read_pin(item.value, item.span.start, group=_group(path[:-1]))
            found.add(pin and _placed(pin, item))
        elif _fits(path, _ADDRESSES):
            links = "find-links" in path or (path[:3] == _PDM_SOURCE and path[:-1] in find_links)
            found.sources.append(PackageSource(item.value, item.span, links))
        elif path[:3] == _DYNAMIC and _fits(path[3:], _FILES):
            group = _group(("project", *path[3 : path.index("file")]))
            found.includes.append(Include(item.value.strip(), item.span, group))
        else:
            found.add(_poetry(item, markers))
    return found


def _poetry(item: TomlString, markers: set[Path]) -> Pin | None:
    """The requirement in a table of Poetry: versions, or where the package itself is."""
    place = next((place for place in (*_POETRY, *_CONDA) if _fits(item.path[: len(place)], (place,))), ())
    if not place or len(item.path) == len(place):
        return None
    name, rest = str(item.path[len(place)]), item.path[len(place) + 1 :]
    under_condition = bool(rest) and (item.path[:-1] in markers or len(rest) > 1)
    if not rest or rest[-1] == "version":
        notation: Notation = "conda" if place in _CONDA else "poetry"
        pin = _placed(read_versions(name, item.value, item.span.start, notation, _group(place)), item)
    elif rest[-1] in {"url", "path", "file", "git"}:
        address = read_pin(f"{name} @ {item.value}", item.span.start, group=_group(place))
        if address is None:
            return None
        pin = address.at(item.span)
    else:
        return None
    return replace(pin, conditional=pin.conditional or under_condition)


def _placed(pin: Pin, item: TomlString) -> Pin:
    return pin if item.plain else pin.at(item.span)


def _group(path: Path) -> str:
    return ".".join(str(part) for part in path if not isinstance(part, int))


def _fits(path: Path, places: Iterable[tuple[str, ...]]) -> bool:
    return any(
        len(path) == len(place) and all(wanted in ("*", part) for part, wanted in zip(path, place, strict=True))
        for place in places
    )
