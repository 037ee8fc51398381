"""All checks. A check is one file in a folder of its group that binds `CHECK`; nothing else needs to be told."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from torchlift.doctor.check import GROUPS, Check


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, in the order of `GROUPS` and then by id."""
    found = []
    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        if not module.ispkg:
            check = getattr(importlib.import_module(module.name), "CHECK", None)
            if check is not None:
                found.append(check)
    return tuple(sorted(found, key=lambda check: (GROUPS.index(check.group), check.id)))
