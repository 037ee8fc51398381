"""What the rules about torch.cuda.amp and torch.cpu.amp share: how files spell them, and who touches autocast's weight cache."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.project import Collector, Project
from torchlift.source import SourceText

_SPELLINGS = tuple(
    spelling.format(device) for device in ("cuda", "cpu") for spelling in ("{}.amp", "torch.{} import", "torch.{} as")
)
_CACHE_WORDS = ("cache_enabled", "set_autocast_cache_enabled")


def triggers(names: Iterable[str]) -> tuple[str, ...]:
    """Triggers for names of the two packages, which files that use the device-agnostic torch.amp do not have."""
    return tuple(f"{name} & {spelling}" for name in names for spelling in _SPELLINGS)


def _collect(source: SourceText) -> bool | None:
    return any(word in source.text for word in _CACHE_WORDS) or None


CACHE = Collector("autocast_cache", _CACHE_WORDS, _collect, reads_text=True)


def touches_cache(project: Project) -> bool:
    """Whether any file names the weight cache, which the old context managers switch on and the new one does not."""
    return bool(project.records(CACHE))
