"""What releases of torch and its companions added, deprecated, removed and changed: the tables in data/, read when asked for.

The tables were read from the wheels (scripts/api_table.py has how); names here are spelled as rules see them (`public_name`).
"""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from functools import cache
from pkgutil import get_data
from typing import Any

from torchlift.api_changes.before_the_table import EARLIER_PARAMETERS
from torchlift.api_changes.deprecated_in_c import READ_IN, SAID_IN_C
from torchlift.lazy_dataclass import dataclass
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion


@dataclass(frozen=True, slots=True)
class PackageRelease:
    """A release of torch or of a package that goes with it.

    Attributes:
        package: "torch", "torchvision".
        version: "2.9"; of torchvision "0.24".
        torch: the torch that it goes with.
        of_its_day: whether nothing ties it to that torch, which was the newest when it came out.
    """

    package: str
    version: str
    torch: TorchVersion
    of_its_day: bool = False

    def __str__(self) -> str:
        if self.package == "torch":
            return f"torch {self.version}"
        tie = "of the days of" if self.of_its_day else "for"
        return f"{self.package} {self.version} ({tie} torch {self.torch})"

    @property
    def opening(self) -> str:
        """The same at the start of a sentence."""
        return f"T{str(self)[1:]}" if self.package == "torch" else str(self)


@dataclass(frozen=True, slots=True)
class Gone:
    """A name that a release no longer has.

    Attributes:
        name: qualified name.
        last: last release with it; None where it already failed in the oldest release of the table.
        release: first release without it.
        raises: whether the name is still there and every call fails.
        kind: "module", "function", "class", "value" or "member".
        relation: "moved" (the same definition elsewhere), "renamed", "re-exported" (it was an import of something that is
            still there), or empty.
        successor: the name of that, as of `release`.
        evidence: file and line in the last release with it, or of the function that raises.
    """

    name: str
    last: PackageRelease | None
    release: PackageRelease
    raises: bool
    kind: str
    relation: str
    successor: str
    evidence: str

    @property
    def since(self) -> TorchVersion:
        """The first torch without it, or whose companion is without it."""
        return self.release.torch


@dataclass(frozen=True, slots=True)
class Deprecated:
    """A name that says that it is deprecated.

    Attributes:
        name: qualified name.
        release: first release of the table that says so; the oldest one stands for itself and all before.
        until: last torch in which it says so, where a later one took it back.
        evidence: file, line and text.
        oldest: whether the table has no older release of the package.
    """

    name: str
    release: PackageRelease
    until: TorchVersion | None
    evidence: str
    oldest: bool

    @property
    def since(self) -> TorchVersion:
        """The first torch in which it says so, or whose companion does."""
        return self.release.torch


@dataclass(frozen=True, slots=True)
class ChangedParameter:
    """A parameter that a release removed, renamed, moved or requires.

    Attributes:
        name: qualified name of the function or class.
        release: the one that changed it.
        change: "removed", "renamed", "order", "keyword-only", "positional-only", "required" or "added-required".
        parameter: its name, before the change where it has another one after.
        renamed: its name after the change, or empty.
        before: the parameters before, as in a `def`; empty where only the names are known.
        after: the parameters after.
        evidence: file and line of the new definition.
    """

    name: str
    release: PackageRelease
    change: str
    parameter: str
    renamed: str
    before: str
    after: str
    evidence: str

    @property
    def since(self) -> TorchVersion:
        """The first torch with the change, or whose companion has it."""
        return self.release.torch


_BOUND_AT_RUN_TIME = (("torchaudio.load_wav", "0.8", "0.9", "torchaudio/backend/utils.py:78"),)
"""Names that a package set on itself in a loop, which no source shows: name, last release, first without, where."""


@cache
def gone_names() -> dict[str, Gone]:
    """Names that are gone, by name as rules see it."""
    found: dict[str, Gone] = {}
    for name, last, since, how, kind, relation, successor, evidence in _rows("gone"):
        seen = public_name(name)
        if seen != public_name(successor):
            before = release_of(name, last) if last else None
            removed = release_of(name, since)
            found[seen] = Gone(seen, before, removed, how == "raises", kind, relation, successor, evidence)
    for name, last, since, evidence in _BOUND_AT_RUN_TIME:
        found[name] = Gone(name, release_of(name, last), release_of(name, since), False, "function", "", "", evidence)
    # What was deprecated or changed went with the module or class around it.
    for name in (deprecated_names().keys() | changed_parameters().keys()) - found.keys():
        around, _, rest = name.rpartition(".")
        while around and around not in found:
            around, _, last = around.rpartition(".")
            rest = f"{last}.{rest}"
        if around and not found[around].raises:
            row = found[around]
            successor = f"{row.successor}.{rest}" if row.successor else ""
            found[name] = replace(row, name=name, kind="value", successor=successor)
    return found


@cache
def deprecated_names() -> dict[str, Deprecated]:
    """Names that are deprecated, by name as rules see it."""
    found: dict[str, Deprecated] = {}
    for names, since, until, evidence in _rows("deprecated"):
        for name in names:
            seen = public_name(name)
            ended = release_of(name, until).torch if until else None
            found[seen] = Deprecated(seen, release_of(name, since), ended, evidence, since == _oldest(name))
    for name, evidence in SAID_IN_C.items():
        found.setdefault(name, Deprecated(name, release_of(name, READ_IN), None, evidence, oldest=True))
    return found


_BREAKING = frozenset({"removed", "renamed", "order", "keyword-only", "positional-only", "required", "added-required"})


@cache
def changed_parameters() -> dict[str, tuple[ChangedParameter, ...]]:
    """Changes of parameters that may break a call, by name of the function as rules see it, oldest first."""
    found: dict[str, list[ChangedParameter]] = {}
    for names, since, change, parameter, before, after, evidence in _rows("arguments"):
        if change not in _BREAKING:
            continue
        old, _, new = parameter.partition(" -> ")
        for seen in dict.fromkeys(map(public_name, names)):
            row = ChangedParameter(seen, release_of(seen, since), change, old, new, before, after, evidence)
            found.setdefault(seen, []).append(row)
    for name, since, change, parameter in EARLIER_PARAMETERS:
        old, _, new = parameter.partition(" -> ")
        evidence = "the wheels before torch 2.0"
        found.setdefault(name, []).append(
            ChangedParameter(name, release_of(name, since), change, old, new, "", "", evidence)
        )
    return {name: tuple(sorted(rows, key=lambda row: row.since)) for name, rows in found.items()}


def parameter_history(function: str, parameter: str) -> tuple[ChangedParameter, ...]:
    """Releases that gave a parameter to, or took it from, any function or class whose last word is `function`."""
    found = []
    for names, since, change, changed, before, after, evidence in _rows("arguments"):
        old, _, new = changed.partition(" -> ")
        if change in ("added", "added-required", "removed", "renamed") and old == parameter:
            for name in names:
                if name.rpartition(".")[2] == function:
                    release = release_of(name, since)
                    found.append(
                        ChangedParameter(public_name(name), release, change, old, new, before, after, evidence)
                    )
    return tuple(found)


@cache
def parameters(text: str) -> ast.arguments:
    """Parameters as the table writes them, parsed."""
    function = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.args


def added_names() -> dict[str, TorchVersion]:
    """Public names that a release was the first of the table to have."""
    found: dict[str, TorchVersion] = {}
    for release, module, names in _read("added")["rows"]:
        found.update(dict.fromkeys((f"{module}.{name}" for name in names.split()), TorchVersion.parse(release)))
    return found


@cache
def first_releases() -> dict[str, TorchVersion]:
    """The same by name as rules see it."""
    found: dict[str, TorchVersion] = {}
    for name, since in added_names().items():
        seen = public_name(name)
        found[seen] = min(since, found.get(seen, since))
    return found


def is_there(name: str, target: TorchVersion) -> bool | None:
    """Whether torch `target` has a name; None where the tables do not know it."""
    seen = public_name(name)
    gone, deprecated, first = gone_names().get(seen), deprecated_names().get(seen), first_releases().get(seen)
    if gone is not None and gone.since <= target:
        return gone.raises
    since = first or (deprecated.since if deprecated is not None else None)
    return True if since is not None and since <= target else None


def must_be_newer(needed: TorchVersion | None, name: str, lowest: TorchVersion) -> bool:
    """Whether a release has to be asked for that is newer than all that code which uses `name` runs on.

    Args:
        needed: first release with what takes the place of the name; None where all have it.
        name: the name, as rules see it.
        lowest: lowest release that the project supports.
    """
    if needed is None or needed <= lowest:
        return False
    return needed > first_releases().get(name, lowest)


COMPANIONS = ("torchvision", "torchaudio", "torchtext", "torchdata", "torchao")


def release_of(name: str, version: str) -> PackageRelease:
    """The release `version` of the package that has `name`."""
    return _release(name.partition(".")[0], version)


@cache
def _release(package: str, version: str) -> PackageRelease:
    if package not in COMPANIONS:
        return PackageRelease("torch", version, TorchVersion.parse(version))
    torch, how = _read("companions_gone")["torch"][package][version]
    return PackageRelease(package, version, TorchVersion.parse(torch), how == "of its day")


def _oldest(name: str) -> str:
    """The oldest release in the tables of the package that has `name`."""
    package = name.partition(".")[0]
    wheels = _read("companions_gone")["wheels"][package] if package in COMPANIONS else _read("gone")["wheels"]
    return str(next(iter(wheels)))


def _rows(name: str) -> list[list[Any]]:
    """The rows about torch and its companions."""
    return [*_read(name)["rows"], *_read(f"companions_{name}")["rows"]]


@cache
def _read(name: str) -> dict[str, Any]:
    data = get_data("torchlift.api_changes", f"data/{name}.json")  # importlib.resources takes longer than the reading
    assert data is not None
    content: dict[str, Any] = json.loads(data)
    return content
