"""Files with TorchScript in them, options that speak of it, and programs in other languages that read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from torchlift.migrate.plan.counting import Found
from torchlift.migrate.plan.report import OtherReader, PlannedArtifact, PlannedOption
from torchlift.project import Project
from torchlift.rules.torchscript.facts.foreign_readers import foreign_readers

_READING = frozenset({"TL103", "TL138"})
_DECLARES = re.compile(r"add_argument\(|\b[oO]ption\(|\bDEFINE_\w+\(|\bArgument\(")
# `--script` alone is the path of a script more often than not.
_NAME = re.compile(r"""["'](-{0,2}(?:[\w-]*[-_])?(?:torch[-_]?script|jit|jitted|torchjit)(?:[-_][\w-]*)?)["']""")


def artifacts_of(found: Iterable[Found]) -> tuple[PlannedArtifact, ...]:
    """The artifacts by name, each with the places that write and read it."""
    places: dict[str, tuple[list[str], list[str]]] = {}
    for item in found:
        for group in item.finding.groups:
            if group.artifact:
                writers, readers = places.setdefault(group.artifact, ([], []))
                ends = readers if item.finding.code in _READING else writers
                if item.place not in ends:
                    ends.append(item.place)
    return tuple(PlannedArtifact(name, tuple(ends[0]), tuple(ends[1])) for name, ends in sorted(places.items()))


def options_in(project: Project) -> tuple[PlannedOption, ...]:
    """Options that are declared on one line, or on the line behind the bracket of the call that declares them."""
    return tuple(
        option for path in sorted(project.files_holding("jit", "script")) for option in _options(project, path)
    )


def _options(project: Project, path: str) -> Iterator[PlannedOption]:
    before = ""
    for number, line in enumerate(project.data(path).decode("utf-8", "replace").splitlines(), 1):
        name = _NAME.search(line)
        if name is not None and (_DECLARES.search(line) or _DECLARES.search(before)):
            yield PlannedOption(name[1], f"{path}:{number}")
        before = line


def other_readers(project: Project) -> tuple[OtherReader, ...]:
    """Programs in other languages, and servers, that read TorchScript files."""
    return tuple(OtherReader(reader.place, reader.title, reader.advice) for reader in foreign_readers(project))
