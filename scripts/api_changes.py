"""What changed between neighbouring releases, from their surfaces."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from api_names import is_another_modules, is_listed, is_offered, is_public, is_setting
from api_signatures import changes_of_signature
from api_surface import Names, Thing

from torchlift.torch_names import public_name

_HANDING_ON = frozenset(f"torchaudio.backend.{name}" for name in ("no_backend", "soundfile_backend", "sox_io_backend"))
"""Modules whose `__getattr__` warns and hands whatever name on to another module: torchaudio 2.1.2 to 2.8.0."""


def gone(releases: Sequence[Names]) -> list[list[Any]]:
    """Names that a release no longer has: name, last release, first without, kind, relation, successor, evidence.

    A successor that later went too has a row of its own, which leads on; one that has none is left out.
    """
    rows = list(_gone(releases))
    known = {row[0] for row in rows}
    for row in rows:
        if row[6] and row[6] not in known and not _has(releases[-1], row[6]):
            row[5] = row[6] = ""
    return rows


def _gone(releases: Sequence[Names]) -> Iterator[list[Any]]:
    last = releases[-1]
    for old, new in pairwise(releases):
        missing = {
            name
            for name in old.names
            if name not in new.names and is_listed(name) and not _comes_back(name, new, releases)
        }
        modules = {name for name in missing if old.things[old.names[name]].kind == "module" and old.names[name] == name}
        index = _Index(old, new)
        spelled = {public_name(name): name for name in new.names}
        for name in sorted(missing):
            module = name.rpartition(".")[0]
            thing = old.things[old.names[name]]
            if is_another_modules(name, old) and not is_offered(name, old):
                continue
            if thing.stub and thing.home == f"torch._C.{name.removeprefix('torch.')}":
                continue  # that stub is written by hand and lists names that torch never offered
            relation, successor = index.successor(name, thing)
            if public_name(name) in spelled:
                relation, successor = "re-exported", spelled[public_name(name)]
            if _inside(name, modules) and (not successor or not is_public(name)):
                continue
            owner = new.things.get(new.names.get(module, ""))
            if thing.kind == "value" and not relation and not is_setting(name, old):
                continue
            if owner is not None and owner.open and module in _HANDING_ON:
                continue
            if owner is not None and owner.open and thing.kind == "value" and not _taken_off_the_list(name, old, new):
                continue
            yield [name, old.version, new.version, "gone", thing.kind, relation, successor, thing.at]
        for name in sorted(old.names):
            home = new.names.get(name)
            if home is None or not is_listed(name):
                continue
            message = new.things[home].raises
            if message and not old.things[old.names[name]].raises:
                yield [
                    name,
                    old.version,
                    new.version,
                    "raises",
                    "function",
                    "",
                    "",
                    f"{new.things[home].at} raises: {message[:200]}",
                ]
    for name in sorted(releases[0].names):
        thing = releases[0].things[releases[0].names[name]]
        if thing.raises and is_listed(name) and name in last.names:
            yield [
                name,
                "",
                releases[0].version,
                "raises",
                "function",
                "",
                "",
                f"{thing.at} raises: {thing.raises[:200]}",
            ]


def gone_members(releases: Sequence[Names]) -> Iterator[list[Any]]:
    """Members of public classes that a release no longer has, in the columns of `gone`."""
    for old, new in pairwise(releases):
        for home, names in _groups(old).items():
            thing = old.things[home]
            shown = [name for name in names if name in new.names]
            if thing.kind != "class" or thing.open or not shown or (thing.stub and not home.endswith("TensorBase")):
                continue
            later = new.things[new.names[shown[0]]]
            if later.kind != "class" or later.open or later.stub != thing.stub:
                continue
            for member in sorted(thing.members):
                if member.startswith("_") or member in later.members or _member_back(shown[0], member, new, releases):
                    continue
                for name in shown:
                    yield [
                        f"{name}.{member}",
                        old.version,
                        new.version,
                        "gone",
                        "member",
                        "",
                        "",
                        thing.members[member].at,
                    ]


def deprecated(releases: Sequence[Names]) -> Iterator[list[Any]]:
    """Deprecated names: names, since, last release that says so, evidence."""
    since: dict[str, str] = {}
    until: dict[str, str] = {}
    names: dict[str, set[str]] = defaultdict(set)
    says: dict[str, str] = {}
    for release in releases:
        for name, home in release.names.items():
            thing = release.things[home]
            if not is_listed(name) or (is_another_modules(name, release) and not is_offered(name, release)):
                continue
            if thing.deprecated and not thing.raises:
                key = thing.home
                if until.get(key, release.version) not in {release.version, _before(release.version, releases)}:
                    since.pop(key, None)  # it was taken back in between
                since.setdefault(key, release.version)
                until[key] = release.version
                names[key].add(name)
                says[key] = thing.deprecated
            if thing.kind != "class":
                continue
            for member, inner in thing.members.items():
                if inner.deprecated and not member.startswith("_") and inner.home.startswith(thing.home + "."):
                    since.setdefault(inner.home, release.version)
                    until[inner.home] = release.version
                    names[inner.home].add(f"{name}.{member}")
                    says[inner.home] = inner.deprecated
    rows: dict[str, list[Any]] = {}
    for home in sorted(names):
        shown = sorted(names[home], key=lambda name: (name.count("."), name))
        if shown[0] in rows:  # it was defined elsewhere for a while
            row = rows[shown[0]]
            if _order(since[home]) < _order(row[1]):
                row[1] = since[home]
            else:
                row[3] = says[home]
            row[0] = sorted({*row[0], *shown}, key=lambda name: (name.count("."), name))
            row[2] = max(row[2], until[home], key=_order)
        else:
            rows[shown[0]] = [shown, since[home], until[home], says[home]]
    last = releases[-1]
    for row in rows.values():
        if row[2] == last.version or not any(_has(last, name) for name in row[0]):
            row[2] = ""
        yield row


def arguments(releases: Sequence[Names]) -> Iterator[list[Any]]:
    """Changed parameters: names, release, change, parameter, before, after, evidence."""
    for old, new in pairwise(releases):
        for home, names in _groups(old).items():
            shown = [name for name in names if name in new.names and is_public(name)]
            if not shown:
                continue
            before, after = old.things[home], new.things[new.names[shown[0]]]
            if before.kind != after.kind or before.raises or after.raises:
                continue
            for change in changes_of_signature(before, after):
                yield [shown, new.version, *change, after.at]
            for member in sorted(before.members.keys() & after.members.keys()) if before.kind == "class" else ():
                one, other = before.members[member], after.members[member]
                if (
                    member.startswith("_")
                    or one.kind != "function"
                    or other.kind != "function"
                    or not one.home.startswith(home + ".")
                ):
                    continue
                for change in changes_of_signature(one, other):
                    yield [[f"{name}.{member}" for name in shown], new.version, *change, other.at]


def added(releases: Sequence[Names], lost: Collection[str]) -> dict[str, dict[str, list[str]]]:
    """Public names that a release is the first to have, by release and module.

    What came and went without being worth a row of `lost` (inner values of modules) is left out here as well.
    """
    known = _known(releases[0])
    last = releases[-1]
    found: dict[str, dict[str, list[str]]] = {}
    for release in releases[1:]:
        modules: dict[str, list[str]] = {}
        for name in sorted(release.names.keys() - known):
            stays = name in last.names or name in lost or _inside(name, lost)
            if stays and is_public(name) and is_listed(name) and is_offered(name, release):
                module, _, word = name.rpartition(".")
                modules.setdefault(module, []).append(word)
        found[release.version] = modules
        known |= _known(release)
    return found


def _known(release: Names) -> set[str]:
    """The names of a release, those included that only its `__all__` shows: what C code defines has no source."""
    listed = {f"{module}.{name}" for module, names in release.exported.items() for name in names}
    return listed | release.names.keys()


def missing_successors(
    releases: Sequence[Names], rows: Iterable[Sequence[Any]], advice: Mapping[str, tuple[str, str]], package: str
) -> Iterator[str]:
    """Names that users are sent to and that some release lacks in which they are said to be there.

    Args:
        releases: surfaces, oldest first.
        rows: rows of `gone`. A successor that went later is no error where it has a row of its own.
        advice: text and first release, empty for the oldest, by the name that it is about.
        package: only names of it are looked for.
    """
    lost = {row[0]: row[2] for row in rows}
    sent = [(row[0], row[6], row[2], lost.get(row[6], "")) for row in rows if row[6].startswith(f"{package}.")]
    named = re.compile(rf"`({package}(?:\.[A-Za-z_]\w*)+)")
    sent += [(old, new, since, "") for old, (text, since) in advice.items() for new in named.findall(text)]
    for old, new, since, until in sent:
        for release in releases:
            here = not since or _order(release.version) >= _order(since)
            if here and (not until or _order(release.version) < _order(until)) and not _has(release, new):
                yield f"{old} leads to {new}, which {package} {release.version} lacks"


def _groups(release: Names) -> dict[str, list[str]]:
    """The listed names of every home, shortest first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, home in release.names.items():
        if is_listed(name) and (not is_another_modules(name, release) or is_offered(name, release)):
            groups[home].append(name)
    return {home: sorted(names, key=lambda name: (name.count("."), name)) for home, names in groups.items()}


def _taken_off_the_list(name: str, old: Names, new: Names) -> bool:
    """Whether the module had the name in its `__all__`, and has it there no longer."""
    module, _, last = name.rpartition(".")
    return last in old.exported.get(module, ()) and module in new.exported and last not in new.exported[module]


def _inside(name: str, modules: Collection[str]) -> bool:
    module = name.rpartition(".")[0]
    while module:
        if module in modules:
            return True
        module = module.rpartition(".")[0]
    return False


def _comes_back(name: str, new: Names, releases: Sequence[Names]) -> bool:
    later = releases[[release.version for release in releases].index(new.version) :]
    return any(name in release.names for release in later)


def _member_back(name: str, member: str, new: Names, releases: Sequence[Names]) -> bool:
    later = releases[[release.version for release in releases].index(new.version) :]
    return any(name in release.names and member in release.things[release.names[name]].members for release in later)


def _before(version: str, releases: Sequence[Names]) -> str:
    versions = [release.version for release in releases]
    return versions[max(0, versions.index(version) - 1)]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _has(release: Names, name: str) -> bool:
    owner, _, member = name.rpartition(".")
    return name in release.names or (owner in release.names and member in release.things[release.names[owner]].members)


class _Index:
    """Where the things of an old release are in the next."""

    def __init__(self, old: Names, new: Names) -> None:
        self._old, self._new = old, new
        self._names = defaultdict(list)
        for name, home in new.names.items():
            self._names[home].append(name)
        self._bodies: dict[str, list[str]] = defaultdict(list)
        for home, thing in new.things.items():
            if thing.body:
                self._bodies[thing.body].append(home)
        self._fresh: dict[tuple[str, str], list[str]] = defaultdict(list)
        for home, thing in new.things.items():
            if home not in old.things and thing.kind in {"function", "class"}:
                self._fresh[home.rpartition(".")[2], thing.kind].append(home)

    def shown(self, home: str) -> str:
        """The name to write for what is defined at `home`."""
        names = self._names[home]
        module = home.rpartition(".")[0]

        def cost(name: str) -> tuple[bool, bool, int, str]:
            return (not is_public(name), not name.startswith(module.partition("._")[0]), name.count("."), name)

        offered = [name for name in names if not is_another_modules(name, self._new) or is_offered(name, self._new)]
        return min(offered or names, key=cost)

    def successor(self, name: str, thing: Thing) -> tuple[str, str]:
        """How the thing is related to what replaces it in the new release, and the name of that."""
        if thing.kind == "module":
            return "", ""
        last = name.rpartition(".")[2]
        if thing.home in self._new.things and self._names[thing.home]:
            return "re-exported", self.shown(thing.home)
        same = (
            [home for home in self._bodies.get(thing.body, ()) if self._new.things[home].kind == thing.kind]
            if thing.body
            else []
        )
        named = [home for home in same if home.rpartition(".")[2] == last]
        if len(named) == 1:
            return "moved", self.shown(named[0])
        if len(same) == 1 and not named and same[0] not in self._old.things:
            return "renamed", self.shown(same[0])
        fresh = [home for home in self._fresh.get((last, thing.kind), ()) if self._alike(thing, self._new.things[home])]
        if len(fresh) == 1:
            return "moved", self.shown(fresh[0])
        return "", ""

    @staticmethod
    def _alike(one: Thing, other: Thing) -> bool:
        if one.kind == "class":
            mine = {member for member, inner in one.members.items() if inner.home.startswith(one.home + ".")}
            theirs = {member for member, inner in other.members.items() if inner.home.startswith(other.home + ".")}
            return len(mine) > 2 and len(mine & theirs) >= 0.8 * len(mine)
        names = [parameter.name for parameter in (one.signatures or ((),))[0]]
        return len(names) > 1 and names == [parameter.name for parameter in (other.signatures or ((),))[0]]
