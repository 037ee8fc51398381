"""All checks, found by their files, and those that a user names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType

from torchlift.doctor import checks as package
from torchlift.doctor.check import GROUPS, Check, unbound


class CheckFileError(Exception):
    """A file of a check that cannot be used; the message names the file and says why."""


class UnknownName(ValueError):
    """There is no such check or group; the text is a sentence with the closest names."""


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, in the order of `GROUPS` and then by id."""
    groups = [info.name for info in pkgutil.iter_modules(package.__path__, package.__name__ + ".") if info.ispkg]
    found = [
        check_in(importlib.import_module(info.name))
        for group in groups
        for info in pkgutil.iter_modules(importlib.import_module(group).__path__, group + ".")
    ]
    return tuple(sorted(found, key=lambda check: (GROUPS.index(check.group), check.id)))


def check_in(module: ModuleType) -> Check:
    """The check that `module` declares, with the function `look` that stands below its `CHECK`.

    Raises:
        CheckFileError: one of the two is missing.
    """
    check, look = getattr(module, "CHECK", None), getattr(module, "look", unbound)
    if not isinstance(check, Check):
        raise CheckFileError(f"{module.__file__} declares no check: it needs `CHECK = Check(...)`.")
    if look is unbound:
        raise CheckFileError(f"{module.__file__} has no function `look`: nothing would find {check.id}.")
    return replace(check, look=look)


def split_names(values: Sequence[str]) -> tuple[str, ...]:
    """Names of a repeatable option whose values are lists separated by commas."""
    return tuple(name.strip().lower() for value in values for name in value.split(",") if name.strip())


def selected(checks: Sequence[Check], only: Sequence[str], skip: Sequence[str]) -> tuple[Check, ...]:
    """The checks whose id or group is in `only` (all if that is empty) and not in `skip`.

    Raises:
        UnknownName: a name is neither.
    """
    for name in (*only, *skip):
        _known(checks, name)
    return tuple(
        check
        for check in checks
        if (not only or check.id in only or check.group in only) and check.id not in skip and check.group not in skip
    )


def check_named(checks: Sequence[Check], name: str, others: Sequence[str] = ()) -> Check:
    """The check with this id; `others` are further names that a user may have meant.

    Raises:
        UnknownName: there is none.
    """
    wanted = name.strip().lower()
    for check in checks:
        if check.id == wanted:
            return check
    raise UnknownName(_sentence(wanted, [*(check.id for check in checks), *others], "check"))


def _known(checks: Sequence[Check], name: str) -> None:
    ids = [check.id for check in checks]
    if name not in ids and name not in GROUPS:
        raise UnknownName(_sentence(name, [*ids, *GROUPS], "check or group"))


def _sentence(name: str, names: Sequence[str], noun: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=3) or [other for other in names if name in other][:3]
    hint = f"Did you mean {', '.join(close)}?" if close else "`torchlift doctor --list-checks` lists them all."
    return f"There is no {noun} {name!r}. {hint}"
