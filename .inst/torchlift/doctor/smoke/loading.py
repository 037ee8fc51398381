"""Which smokes there are: every file in `smokes/` that declares a `SMOKE`, and files in folders that the user names."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import smoke as contract
from . import smokes
from .smoke import TIERS, Smoke, always, unbound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

ALIAS = "torchlift_smoke"
"""Name under which a smoke of the user imports this package: `from torchlift_smoke.smoke import Smoke`."""


def own_smokes() -> dict[str, Smoke]:
    """torchlift's smokes by id, those of a lower tier first."""
    found = {}
    for module in pkgutil.iter_modules(smokes.__path__, smokes.__name__ + "."):
        smoke = smoke_in(importlib.import_module(module.name))
        if smoke is not None:
            found[smoke.id] = smoke
    return _sorted(found)


def smokes_below(folders: Iterable[Path]) -> dict[str, tuple[Smoke, Path]]:
    """The smokes of other folders by id, with the files they are in.

    Raises:
        ValueError: if a file there cannot be imported, or two smokes have the same id; the message says which.
    """
    found: dict[str, tuple[Smoke, Path]] = {}
    for folder in folders:
        for path in sorted(Path(folder).glob("*.py")):
            smoke = _from_file(path)
            if smoke is None:
                continue
            if smoke.id in found:
                raise ValueError(f"{path} and {found[smoke.id][1]} both bind a smoke with the id {smoke.id!r}.")
            found[smoke.id] = (smoke, path)
    return found


def load_smoke(id: str, file: str | None = None) -> Smoke:
    """The smoke with this id, from a file or from torchlift's own; imports no other.

    Raises:
        LookupError: if there is none.
    """
    if file is not None:
        found = _from_file(Path(file))
    else:
        module = f"{smokes.__name__}.{id.replace('-', '_')}"
        found = smoke_in(importlib.import_module(module))
    if found is None or found.id != id:
        raise LookupError(f"There is no smoke {id!r}.")
    return found


def smoke_in(module: ModuleType) -> Smoke | None:
    """The smoke that `module` declares, with the functions `run` and `gate` that stand below its `SMOKE`.

    Raises:
        ValueError: nothing says how it is run.
    """
    smoke = getattr(module, "SMOKE", None)
    if not isinstance(smoke, Smoke):
        return None
    below: dict[str, Any] = {}
    if smoke.run is unbound:
        if not hasattr(module, "run"):
            raise ValueError(f"{module.__file__} has no function `run`: nothing would run {smoke.id}.")
        below["run"] = module.run
    if smoke.gate is always and hasattr(module, "gate"):
        below["gate"] = module.gate
    return replace(smoke, **below)


def _from_file(path: Path) -> Smoke | None:
    sys.modules.setdefault(ALIAS, sys.modules[__package__ or ALIAS])
    sys.modules.setdefault(f"{ALIAS}.smoke", contract)
    spec = importlib.util.spec_from_file_location(f"torchlift_extra_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return smoke_in(module)


def _sorted(found: dict[str, Smoke]) -> dict[str, Smoke]:
    return dict(sorted(found.items(), key=lambda item: (TIERS.index(item[1].tier), item[0])))
