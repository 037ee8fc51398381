"""Which requirements keep torch below a release, and which lists of one project have to hold the same torch."""

from __future__ import annotations

import posixpath

from torchlift.dependencies.pin import Pin
from torchlift.dependencies.pin_set import PinSet
from torchlift.dependencies.setup_file import read_setup, setup_calls
from torchlift.dependencies.strength import is_certain
from torchlift.finding import Group
from torchlift.project import Project
from torchlift.rules.dependencies.installed.reading import sets_of
from torchlift.rules.dependencies.wheels.builds import Line, allows, is_named_in, spelled, target_line
from torchlift.rules.dependencies.wheels.companions import COMPANIONS, can_go_together, known_releases
from torchlift.rules.rule import Settings
from torchlift.source import UnreadableSource
from torchlift.versions import TorchVersion
from torchlift.view.text import SCRIPTS, TextView, read_text, text_kind

_UPPER = frozenset({"=", "==", "===", "<", "<=", "~="})
_SAY_NOTHING = {"markdown", "lock", "cpp", "cmake"}

_WITH_COMMANDS = SCRIPTS | {"batch", "powershell"}
_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "constraints.txt", "Dockerfile")


def lists_of(item: PinSet) -> list[list[Pin]]:
    """The requirements that are installed together: all that share an index, else list by list."""
    return [item.pins] if item.indexes else list(item.groups.values())


def held_in(pins: list[Pin], target: Line) -> list[Pin]:
    """The requirements of a list that leave the target out; no companion that no torch of the list goes with (TL303 tells of it)."""
    held = [pin for pin in pins if holds(pin, target)]
    torch = next((pin for pin in pins if pin.is_torch and pin.clauses), None)
    if torch is None or torch in held:
        return held
    return [pin for pin in held if can_go_together(torch.specifier, pin.name, pin.specifier)]


def holds(pin: Pin, target: Line) -> bool:
    """Whether a requirement leaves out the target and all that comes after it."""
    if pin.file and pin.is_torch:
        return line_in(pin.file) < target
    if not pin.clauses or pin.specifier is None:
        return False
    if pin.is_torch:
        later = [f"{target[0]}.{target[1]}.{patch}" for patch in range(10)]
        return not any(
            allows(pin.specifier, version) for version in (*later, f"{target[0]}.{target[1] + 1}.0", "2.99.0")
        )
    if pin.name not in COMPANIONS:
        return False
    oldest = line_in(known_releases(pin.name)[0])
    if any(clause.operator in _UPPER and line_in(clause.version) < oldest for clause in pin.clauses):
        return True
    if any(clause.operator == "<" and line_in(clause.version) == oldest for clause in pin.clauses):
        return True
    return not can_go_together(f">={spelled(target)}", pin.name, pin.specifier)


def line_in(version: str) -> Line:
    """(2, 15)."""
    found = TorchVersion.parse(version)
    return found.major, found.minor


def newest_of_series(held: list[Pin], item: PinSet, target: Line) -> list[Pin]:
    """`held`, without the older ones of lists that are each named after their torch (an extra `torch2.5`): what is missing is one more."""
    series = [one for pins in lists_of(item) for one in held_in(pins, target) if is_named_after(one)]
    newest = max((line_in(pin.clauses[0].version) for pin in series), default=target)
    return [pin for pin in held if pin not in series or line_in(pin.clauses[0].version) == newest]


def is_named_after(pin: Pin) -> bool:
    """Whether the list of a pin of torch is named after its release."""
    return pin.is_torch and pin.exact is not None and is_named_in(pin.group, pin.exact.public)


def older_under_conditions(held: list[Pin]) -> list[Pin]:
    """Pins whose condition gives them an older version than others of the same package: for a system without newer wheels."""
    newest: dict[str, Line] = {}
    exact = [(pin, pin.exact.public) for pin in held if pin.exact and pin.conditional]
    for pin, version in exact:
        newest[pin.name] = max(newest.get(pin.name, (0, 0)), line_in(version))
    return [pin for pin, version in exact if line_in(version) < newest[pin.name]]


def groups_of(path: str, pins: list[Pin], settings: Settings, project: Project) -> tuple[Group, ...]:
    """What a list of requirements moves together with: all lists of its folder that have to hold one torch, and those of files
    that include it or that it includes.

    An extension is built with the torch of the build requirements, and imported with that of the runtime requirements.
    """
    target = target_line(settings.target)
    around = (path, *(where for where, _ in project.once(installed_with, path)))
    asked = [
        project.once(_group, posixpath.dirname(path), target),
        *(project.once(_in_several_files, where, target) for where in dict.fromkeys(around)),
    ]
    return tuple(
        group for group, starts in asked if group is not None and any((path, pin.span.start) in starts for pin in pins)
    )


def held_beside(project: Project, path: str, target: Line) -> tuple[tuple[str, Pin], ...]:
    """The first requirement that keeps torch below `target` of each list in other files that is installed with a file."""
    return tuple(
        (other, held[0])
        for other, item in project.once(installed_with, path)
        for pins in lists_of(item)
        if (held := held_in(pins, target))
    )


def held_otherwise(project: Project, path: str, own: PinSet, target: Line) -> tuple[tuple[str, Pin], ...]:
    """Other requirements of torch of a distribution, by an extra or in a file beside it, that keep it below `target` in their own way."""
    versions = {pin.exact.public for pin in own.named("torch") if pin.exact}
    certain = any(is_certain(pin.group) for pin in own.named("torch"))
    spans = {pin.span for pin in own.pins}
    beside = [posixpath.join(posixpath.dirname(path), name) for name in _FILES if name != "Dockerfile"]
    return tuple(
        (where, pin)
        for where in beside
        for item in sets_in(project, where)
        for pins in lists_of(item)
        for pin in held_in(pins, target)
        if pin.is_torch and (where != path or pin.span not in spans) and (certain or is_certain(pin.group))
        if not (pin.exact and pin.exact.public in versions)
    )


def installed_with(project: Project, path: str) -> tuple[tuple[str, PinSet], ...]:
    """The lists that include a file of requirements, what else they include, and those that it includes, with their paths."""
    found = {where: sets_in(project, where) for item in sets_in(project, path) for where in _included(path, item)}
    for other in dict.fromkeys(
        place.rpartition(":")[0] for place in project.mentions(posixpath.basename(path), (path,))
    ):
        if text_kind(other) in _SAY_NOTHING or other in found:
            continue
        including = tuple(item for item in sets_in(project, other) if path in _included(other, item))
        if including:
            found[other] = including
            found |= {where: sets_in(project, where) for item in including for where in _included(other, item)}
    found.pop(path, None)
    return tuple((where, item) for where in sorted(found) for item in found[where])


def _included(path: str, item: PinSet) -> set[str]:
    """The files that a list includes: from the folder of its own file, or, by a command, from that of the project."""
    folders = {posixpath.dirname(path)} | ({""} if text_kind(path) in _WITH_COMMANDS else set())
    return {posixpath.normpath(posixpath.join(folder, one.path)) for folder in folders for one in item.includes}


def _in_several_files(project: Project, path: str, target: Line) -> tuple[Group | None, frozenset[tuple[str, int]]]:
    """What moves together with the torch of a file although it stands in others, and where the first pins begin."""
    others = held_beside(project, path, target)
    held = [held_in(pins, target) for item in sets_in(project, path) for pins in lists_of(item)] if others else []
    torch = [(path, pins[0]) for pins in held if any(pin.is_torch for pin in pins)]
    if not torch or any(text_kind(where) is None and not where.endswith(".py") for where, _ in others):
        return None, frozenset()  # no fix is made in a file of another name
    places = [*torch, *others]
    paths = tuple(sorted({where for where, _ in places}))
    starts = frozenset((where, pin.span.start) for where, pin in places)
    return Group(f"torch in {' and '.join(paths)}", paths, len(places)), starts


def _group(project: Project, folder: str, target: Line) -> tuple[Group | None, frozenset[tuple[str, int]]]:
    """What the lists of a folder move together, if there are several, and where the pins of torch in them begin."""
    found = project.once(_places, folder, target)
    paths = tuple(dict.fromkeys(where for where, _, _ in found))
    stages_only = len(paths) == 1 and posixpath.basename(paths[0]) == "Dockerfile"
    if len(found) < 2 or stages_only:
        return None, frozenset()
    group = Group(f"torch {found[0][2]} in {' and '.join(paths)}", paths, len(found))
    return group, frozenset(place[:2] for place in found)


def _places(project: Project, folder: str, target: Line) -> tuple[tuple[str, int, str], ...]:
    """The lists of a folder that hold the same torch back: path, place and version of their pin of torch."""
    found = []
    for name in _FILES:
        path = posixpath.join(folder, name)
        for item in sets_in(project, path):
            for pins in lists_of(item):
                exact = [pin for pin in held_in(pins, target) if pin.is_torch and pin.exact and not pin.conditional]
                found += [
                    (path, pin.span.start, pin.exact.public, is_certain(pin.group)) for pin in exact[:1] if pin.exact
                ]
    first = next((version for _, _, version, certain in found if certain), None)
    first = first or (found[0][2] if found else None)
    return tuple((path, start, version) for path, start, version, _ in found if version == first)


def sets_in(project: Project, path: str) -> tuple[PinSet, ...]:
    """What a file of a project installs or requires; nothing where there is none that can be read."""
    try:
        if path.endswith(".py"):
            source = project.source(path)
            tree = source.parse()
            return tuple(read_setup(tree, source, call) for call in setup_calls(tree))
        # What others include is a list of requirements, whatever its name.
        return sets_of(TextView(path, text_kind(path) or "requirements", read_text(project.data(path))))
    except (OSError, UnreadableSource, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
