"""The installed torch, read from its files and never imported."""

# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from typing import Any

from torchlift.doctor.facts import Package, Torch
from torchlift.doctor.probes.text import printable
from torchlift.file_bytes import without_waiting

_LINE = re.compile(r"""^(\w+)\s*(?::[^=]+)?=\s*(None|True|False|'[^']*'|"[^"]*")""", re.MULTILINE)
_FIELDS = ("__version__", "cuda", "hip", "xpu", "debug", "git_version")


def read_torch(place: str, copies: Iterable[str], packages: Iterable[Package]) -> Torch:
    """The torch of the folder (or single file) `place`; `copies` are all folders on the path that hold one."""
    values = _version_file(os.path.join(place, "version.py"))
    real = os.path.realpath(place)
    parent = os.path.dirname(real)
    named = [package for package in packages if package.name == "torch"]
    beside = (one for one in named if os.path.realpath(os.path.dirname(one.metadata_path)) == parent)
    own = next(beside, named[0] if named else None)
    others = [printable(copy) for copy in copies if os.path.realpath(copy) != real]
    metadata_version = own.version if own else None
    return Torch(
        path=printable(place),
        version=_string(values, "__version__") or metadata_version or "",
        metadata_version=metadata_version,
        cuda=_string(values, "cuda"),
        hip=_string(values, "hip"),
        xpu=_string(values, "xpu"),
        debug=values["debug"] if isinstance(values.get("debug"), bool) else None,
        git_version=_string(values, "git_version"),
        other_copies=others,
    )


def _string(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    return printable(value) if isinstance(value, str) else None


def version_problem(place: str) -> str | None:
    """What is wrong with version.py in torch's folder, without which `import torch` fails; None if nothing."""
    path = os.path.join(place, "version.py")
    text = _text(path)
    if text is None:
        return f"{printable(path)} is missing or cannot be read"
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"{printable(path)} is no Python (line {error.lineno}: {printable(error.msg)})"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{printable(path)} is no Python ({printable(str(error))})"
    return None if _string(_version_file(path), "__version__") else f"{printable(path)} says no version"


def _text(path: str) -> str | None:
    try:
        with open(path, "rb", opener=without_waiting) as stream:
            return stream.read(1 << 20).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def _version_file(path: str) -> dict[str, Any]:
    text = _text(path)
    if text is None:
        return {}
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # A newer Python's syntax or a damaged file: the lines that still look right are taken.
        return {name: ast.literal_eval(value) for name, value in _LINE.findall(text) if name in _FIELDS}
    values: dict[str, Any] = {}
    for statement in module.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        value = getattr(statement, "value", None)
        # torch built from source may wrap it: TorchVersion("2.15.0a0").
        if isinstance(value, ast.Call) and len(value.args) == 1:
            value = value.args[0]
        for target in targets:
            if isinstance(target, ast.Name) and target.id in _FIELDS and isinstance(value, ast.Constant):
                values[target.id] = value.value
    return values
