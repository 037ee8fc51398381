"""Packages that a project imports and that may run TorchScript of their own in the same process."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project

# Packages that do not use torch, by the names their wheels install.
_WITHOUT_TORCH = frozenset(
    "PIL attr attrs click colorama cv2 filelock h5py hypothesis joblib matplotlib networkx numpy packaging pandas pkg_resources "
    "psutil pydantic pytest redis requests rich scipy setuptools setuptools_rust six sklearn sympy tabulate toml tomli tqdm typing_extensions "
    "urllib3 xmlrunner xxhash yaml".split()
)
_IMPORT = lazy_pattern(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)


def foreign_packages(project: Project) -> tuple[str, ...]:
    """Top-level packages imported anywhere in the project that are not its own, Python's, or known to be without torch.

    Read from the text of all files, comments and strings included, so there may be too many and never too few, except
    for imports by `importlib`.
    """
    return project.once(_foreign)


def _foreign(project: Project) -> tuple[str, ...]:
    own = {part for name in project.modules for part in name.split(".")}
    skipped = own | sys.stdlib_module_names | _WITHOUT_TORCH | {"torch", "__main__"}
    return tuple(sorted(frozenset().union(*project.noted(_imports).values()) - skipped))


def _imports(path: str, data: bytes) -> frozenset[str]:
    return frozenset(_imported(data))


def _imported(data: bytes) -> Iterator[str]:
    for module, modules in _IMPORT.findall(data):
        for item in modules.split(b",") if modules else (module,):
            words = item.split()
            name = words[0].decode().partition(".")[0] if words else ""
            if name:
                yield name


def assumption(project: Project) -> str | None:
    """A clause naming the packages that must not run TorchScript; None if the project imports none that could."""
    packages = foreign_packages(project)
    if not packages:
        return None
    shown = ", ".join(f"`{name}`" for name in packages)
    return f"{shown} must not run TorchScript in the same process"
