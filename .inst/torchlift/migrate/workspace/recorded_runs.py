"""The evidence that a run was given, tied to the source of the project as it is on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from torchlift.evidence.file import EvidenceError, read_evidence
from torchlift.evidence.known import KnownRuns, known_runs
from torchlift.file_bytes import file_bytes
from torchlift.migrate.workspace.config import Config, ConfigError
from torchlift.source import SourceText, UnreadableSource


def evidence_of(config: Config, root: Path, overlay: Mapping[str, SourceText]) -> KnownRuns | None:
    """What the file says that `config` names; None if it names none.

    Args:
        config: the configuration.
        root: the project, which all paths in the file are relative to.
        overlay: texts to take in the place of those on disk, by path.

    Raises:
        ConfigError: the file cannot be used.
    """
    if config.evidence is None:
        return None
    base = config.source.parent if config.source is not None else Path()
    path = base / config.evidence
    try:
        evidence = read_evidence(path)
    except EvidenceError as error:
        raise ConfigError(str(error)) from None
    return known_runs(evidence, path.name, lambda name: overlay.get(name) or text_of(root, name))


def text_of(root: Path, path: str) -> SourceText | None:
    """The text of a file of the project; None if it cannot be read, or is none of the project."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        return None
    try:
        return SourceText.from_bytes(file_bytes(root / path))
    except (OSError, ValueError, UnreadableSource):
        return None
