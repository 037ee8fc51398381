"""What a report of a defect should name: `torchlift --version --verbose`."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from torchlift import __version__

_PACKAGES = ("click", "libcst", "packaging", "pathspec", "nvidia-ml-py")


def what_it_runs_on() -> str:
    """torchlift's version and what it runs on, a line each; the home of the user is `~`."""
    lines = [
        ("torchlift", f"{__version__} ({_shortened(Path(__file__).parents[1])})"),
        (
            "python",
            f"{platform.python_implementation()} {platform.python_version()} ({_shortened(Path(sys.executable))})",
        ),
        ("platform", platform.platform()),
        ("git", _git()),
        *((name, _installed(name)) for name in _PACKAGES),
        ("torch", f"{_installed('torch')} (not imported)"),
    ]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {value}" for name, value in lines)


def _shortened(path: Path) -> str:
    try:
        return str(Path("~", path.relative_to(Path.home())))
    except (RuntimeError, ValueError):  # nobody's home, or another's folder
        return str(path)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _git() -> str:
    path = shutil.which("git")
    if path is None:
        return "not found"
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"found, and does not run: {error}"
    return said.stdout.strip().removeprefix("git version ")
