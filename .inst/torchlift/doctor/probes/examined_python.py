"""Which Python is examined: the one whose torch is meant, which need not be the one that torchlift runs under."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

_WINDOWS = os.name == "nt"
_COMMANDS = ("python3.exe", "python.exe") if _WINDOWS else ("python3", "python")
_TOOL_FOLDERS = frozenset(
    [("pipx", "venvs"), (".cache", "pipx"), ("pipx", ".cache"), ("uv", "tools"), ("uv", "archive-v0")]
)


class PythonError(ValueError):
    """What was given is no interpreter; the text is a sentence that says why and what to give instead."""


def default_python(
    environment: Mapping[str, str] | None = None, *, executable: str = sys.executable, prefix: str = sys.prefix
) -> str:
    """The active environment's interpreter; else torchlift's own, unless torchlift lives apart.

    Active is what VIRTUAL_ENV or CONDA_PREFIX name, of both the one that comes first on PATH. A torchlift in an
    environment of its own (pipx, uv tool, uvx) knows nothing of the user's torch: then it is the first `python3` or
    `python` on PATH that is not torchlift's. Never raises: without any of these it is `executable`.
    """
    environment = os.environ if environment is None else environment
    folders = [Path(folder) for folder in environment.get("PATH", "").split(os.pathsep) if folder]
    isolated = _is_isolated(Path(prefix))
    active = [environment.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    pythons = [python for folder in filter(None, active) for python in _of_environment(Path(folder))]
    if isolated:
        pythons = [python for python in pythons if not _is_below(python, prefix)]
    if pythons:
        return str(min(pythons, key=lambda python: _position(python.parent, folders)))
    if isolated or not executable:
        for folder in folders:
            for name in _COMMANDS:
                python = folder / name
                if _is_program(python) and not _is_below(python, prefix):
                    return str(python)
    return executable


def python_of(given: str, environment: Mapping[str, str] | None = None) -> str:
    """The interpreter a user means: a file, an environment's folder, or a command on PATH.

    Raises `PythonError` when there is none.
    """
    environment = os.environ if environment is None else environment
    advice = "Give a Python executable, a command on PATH, or the folder of an environment"
    if not given:
        raise PythonError(f"There is no Python at an empty path. {advice}.")
    try:
        path = Path(given).expanduser()
        if path.is_dir():
            found = next(_of_environment(path), None)
            if found is None:
                raise PythonError(f"The folder {given} holds no Python (looked for {_COMMANDS[-1]} in it). {advice}.")
            return str(found)
        if path.parent == Path() and not given.startswith("."):
            for folder in environment.get("PATH", "").split(os.pathsep):
                for name in (given, f"{given}.exe") if _WINDOWS else (given,):
                    if folder and _is_program(Path(folder) / name):
                        return str(Path(folder) / name)
        if not path.exists():
            raise PythonError(f"There is no Python at {given}. {advice}.")
        if not _is_program(path):
            raise PythonError(f"{given} is not a program that can be run. {advice}.")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, PythonError):
            raise
        raise PythonError(f"{given!r} cannot be looked at: {error}. {advice}.") from None
    # Absolute, links kept: a virtual environment's python is a link, and following it would leave the environment.
    return str(path.absolute())


def _is_isolated(prefix: Path) -> bool:
    """Whether an environment was made for one tool: by its maker's mark, or by where uvx and pipx keep theirs."""
    if not _TOOL_FOLDERS.isdisjoint(pairwise(prefix.parts)):
        return True
    try:
        return any((prefix / mark).exists() for mark in ("pipx_metadata.json", "uv-receipt.toml"))
    except OSError:
        return False


def _of_environment(folder: Path) -> Iterator[Path]:
    # conda puts python.exe into the folder itself on Windows.
    for inner in (folder / "Scripts", folder) if _WINDOWS else (folder / "bin",):
        for name in _COMMANDS[::-1]:
            if _is_program(inner / name):
                yield inner / name
                return


def _is_program(path: Path) -> bool:
    try:
        # Windows has an empty python.exe on PATH that opens its shop.
        return path.is_file() and os.access(path, os.X_OK) and path.stat().st_size > 0
    except (OSError, ValueError):
        return False


def _is_below(path: Path, folder: str) -> bool:
    """Whether the unresolved path is in the folder: an environment's python is a link to somewhere else."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder))


def _position(folder: Path, folders: list[Path]) -> int:
    return folders.index(folder) if folder in folders else len(folders)
