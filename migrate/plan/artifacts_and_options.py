"""Files with TorchScript in them, options that speak of it, and programs in other languages that read it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.plan.counting import Found
from torchlift.migrate.plan.report import OtherReader, PlannedArtifact, PlannedOption
from torchlift.project import Project
from torchlift.rules.analysis.project.torchscript_elsewhere import foreign_readers
from torchlift.view.text import is_document

# Sources, read 2026-11-23: the documentation of actions/upload-artifact, gh release, aws s3, gsutil, az storage and hf.
_UPLOADS = lazy_pattern(
    r"upload-artifact|upload-release-asset|action-gh-release|\bgh release (?:create|upload)\b|\baws s3 (?:cp|mv|sync)\b"
    r"|\bgsutil\b.*\b(?:cp|rsync)\b|\bgcloud storage cp\b|\baz storage blob upload|\b(?:hf|huggingface-cli) upload\b"
    r"|\bupload_(?:file|folder|fileobj)\(|\bpush_to_hub\("
)
# Folders with a dot are not among those in which a project is searched for words.
_JOBS = (".github/**/*.y*ml", ".gitlab-ci.yml", ".gitlab/**/*.y*ml", ".circleci/*.y*ml", ".travis.yml")
_STEP = 8
"""Lines of one step of a job: what is uploaded stands below the name of the action."""
_READING = frozenset({"TL103", "TL138"})
_DECLARES = lazy_pattern(r"add_argument\(|\b[oO]ption\(|\bDEFINE_\w+\(|\bArgument\(")
# `--script` alone is the path of a script more often than not.
_NAME = lazy_pattern(r"""["'](-{0,2}(?:[\w-]*[-_])?(?:torch[-_]?script|jit|jitted|torchjit)(?:[-_][\w-]*)?)["']""")


def artifacts_of(found: Iterable[Found], project: Project) -> tuple[PlannedArtifact, ...]:
    """The artifacts by name, each with the places that write, read and upload it."""
    places: dict[str, tuple[list[str], list[str]]] = {}
    for item in found:
        for group in item.finding.groups:
            if group.artifact:
                writers, readers = places.setdefault(group.artifact, ([], []))
                ends = readers if item.finding.code in _READING else writers
                if item.place not in ends:
                    ends.append(item.place)
    for reader in foreign_readers(project):
        for name, (_, readers) in places.items():
            if (
                reader.file
                and posixpath.basename(reader.file) == posixpath.basename(name)
                and reader.place not in readers
            ):
                readers.append(reader.place)
    return tuple(
        PlannedArtifact(name, tuple(ends[0]), tuple(ends[1]), tuple(_uploads(project, name)))
        for name, ends in sorted(places.items())
    )


def _uploads(project: Project, artifact: str) -> Iterator[str]:
    """Places in scripts and CI jobs that name a file, or all with its suffix, on a line of an upload or shortly below one."""
    name = posixpath.basename(artifact)
    stem, dot, suffix = name.rpartition(".")
    wanted = [word for word in (name, f"*.{suffix}" if stem and dot else "") if len(word) > 3]
    paths = {place.rpartition(":")[0] for word in wanted for place in project.mentions(word)}
    paths |= {path.relative_to(project.root).as_posix() for pattern in _JOBS for path in project.root.glob(pattern)}
    for path in sorted(paths):
        if is_document(path):
            continue
        try:
            lines = project.data(path).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        for at, line in enumerate(lines):
            step = lines[max(0, at + 1 - _STEP) : at + 1]
            if any(word in line for word in wanted) and any(map(_UPLOADS.search, step)):
                yield f"{path}:{at + 1}"


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
