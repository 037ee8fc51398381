"""Whether a project touches the weight cache of autocast, which the old context managers switch on and the new one does not."""

from __future__ import annotations

from torchlift.project import Collector, Project
from torchlift.source import SourceText

_WORDS = ("cache_enabled", "set_autocast_cache_enabled")


def _collect(source: SourceText) -> bool | None:
    return any(word in source.text for word in _WORDS) or None


CACHE = Collector("autocast_cache", tuple(f"{word}" for word in _WORDS), _collect, reads_text=True)


def touches_cache(project: Project) -> bool:
    """Whether any file of the project names the setting."""
    return bool(project.records(CACHE))
