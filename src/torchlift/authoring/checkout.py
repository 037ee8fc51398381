"""A checkout of torchlift, whose files are used in the place of the installed ones."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

# As in setup.py.
_FOLDERS = {
    "torchlift": "src/torchlift",
    "torchlift.migrate": "migrate",
    "torchlift.rules": "rules",
    "torchlift.doctor": "doctor",
    "torchlift.testing": "testing",
}
_FAMILIES = {
    "TL1": "torchscript",
    "TL2": "distributed",
    "TL3": "dependencies",
    "TL4": "api",
    "TL5": "behaviour",
    "TL6": "cpp",
    "TL9": "housekeeping",
}


def checkout_around(path: Path) -> Path | None:
    """The checkout of torchlift that `path` lies in, None if it lies in none."""
    folder = path.resolve()
    return next((above for above in (folder, *folder.parents) if (above / "rules/registry.py").is_file()), None)


def use_checkout_of(meant: str, here: Path) -> None:
    """Import what is not imported yet from the checkout that has the rule `meant`, as if that were installed.

    Args:
        meant: a file, or the code of a rule, whose file is looked for in the checkout around `here`.
        here: the current folder.
    """
    file = Path(meant)
    root = checkout_around(file if file.is_file() else here)
    if root is None or not (code_of(file) is not None if file.is_file() else _has_rule(root, meant)):
        return
    packages = [(importlib.import_module(name), root / folder) for name, folder in _FOLDERS.items()]
    for package, folder in packages:
        package.__path__[:] = [str(folder)]


def family_folder(root: Path, code: str) -> Path | None:
    """Where the rules of the family of `code` stand in the checkout at `root`; None if there is no such family."""
    family = _FAMILIES.get(code[:3])
    return root / "rules" / family if family is not None else None


def code_of(file: Path) -> str | None:
    """The code of the rule in `file` of a checkout, None if it is no rule of torchlift."""
    start = file.name.partition("_")[0].upper()
    return start if file.suffix == ".py" and start.startswith("TL") and start[2:].isdigit() else None


def families() -> Iterator[str]:
    """The first letters of the codes of each family."""
    yield from _FAMILIES


def _has_rule(root: Path, code: str) -> bool:
    return code.isalnum() and any((root / "rules").glob(f"*/{code.lower()}_*.py"))
