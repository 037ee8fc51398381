"""The evidence that a run was given, tied to the source of the project as it is on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePath, PurePosixPath

from torchlift.evidence.file import EvidenceError, read_evidence
from torchlift.evidence.known import KnownRuns, known_runs
from torchlift.evidence.rebase import seen_from
from torchlift.evidence.records import RecordedEvidence
from torchlift.file_bytes import file_bytes
from torchlift.migrate.workspace.config import Config, ConfigError
from torchlift.migrate.workspace.root import find_root
from torchlift.source import SourceText, UnreadableSource


def evidence_of(config: Config, root: Path, overlay: Mapping[str, SourceText]) -> KnownRuns | None:
    """What the file says that `config` names; None if it names none.

    Args:
        config: the configuration.
        root: the project.
        overlay: texts to take in the place of those on disk, by path.

    Raises:
        ConfigError: the file cannot be used.
    """
    if config.evidence is None:
        return None
    path = evidence_path(config)
    try:
        evidence = read_evidence(path)
    except EvidenceError as error:
        raise ConfigError(str(error)) from None
    return known_runs(
        seen_from_project(evidence, root), path.name, lambda name: overlay.get(name) or text_of(root, name)
    )


def seen_from_project(evidence: RecordedEvidence, root: Path) -> RecordedEvidence:
    """The evidence with paths relative to the project `root`.

    `torchlift record` names files from the top of the repository, of which the project may be one folder. The reading
    under which more of the files are there is taken.
    """
    folder = os.path.relpath(root.resolve(), find_root([root]))
    if folder == os.curdir:
        return evidence
    below = seen_from(evidence, PurePath(folder).as_posix())
    return below if _files_there(below, root) > _files_there(evidence, root) else evidence


def _files_there(evidence: RecordedEvidence, root: Path) -> int:
    named = {site.file for site in evidence.sites}
    named.update(load.site.partition(":")[0] for load in evidence.loads)
    named.update(job.site.partition(":")[0] for job in evidence.distributed if job.site is not None)
    return sum(".." not in PurePosixPath(name).parts and (root / name).is_file() for name in named)


def evidence_path(config: Config) -> Path:
    """The file that a configuration names; a name that is relative is meant from where the configuration stands."""
    assert config.evidence is not None
    return config.path_of(config.evidence)


def text_of(root: Path, path: str) -> SourceText | None:
    """The text of a file of the project; None if it cannot be read, or is none of the project."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        return None
    try:
        return SourceText.from_bytes(file_bytes(root / path))
    except (OSError, ValueError, UnreadableSource):
        return None
