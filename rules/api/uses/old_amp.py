"""What the rules about torch.cuda.amp and torch.cpu.amp share: how files spell them, and who touches autocast's weight cache."""

from __future__ import annotations

from collections.abc import Iterable

from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Collector, Project
from torchlift.rules.analysis.project.foreign_packages import foreign_packages
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.source import SourceText

_SPELLINGS = tuple(
    spelling.format(device) for device in ("cuda", "cpu") for spelling in ("{}.amp", "torch.{} import", "torch.{} as")
)
# A dtype in words, or where a call that names no parameter has one.
_DTYPE = lazy_pattern(r"dtype|float16|\*\*|autocast\((?:[^()=]|\([^()]*\))*,(?:[^()=]|\([^()]*\))*\)")
_SET_DTYPE = tuple(f"set_autocast_{device}dtype" for device in ("", "cpu_", "gpu_"))
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


def _collect_dtypes(source: SourceText) -> bool | None:
    return _DTYPE.search(source.text) is not None or None


DTYPES = Collector("autocast_dtypes", ("autocast", *_SET_DTYPE), _collect_dtypes, reads_text=True)


def may_choose_dtype(project: Project, path: str) -> bool:
    """Whether autocast may have another dtype than its default, anywhere around the code of a file.

    Not where nothing but this project runs it, no file that speaks of autocast speaks of dtypes, and no package is imported
    that may set one.
    """
    return bool(packaging_of(project, path) or project.records(DTYPES) or foreign_packages(project))
