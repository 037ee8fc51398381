"""Exact pins that hold fixes back, and that the same run raises: both move together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import Mode, RunResult
from torchlift.versions import TorchVersion

_PIN_RULE = "TL309"
_RELEASE = lazy_pattern(r"torch\b[^\d\n]{0,12}=\s*[\"']?=?\s*[\"']?(\d+(?:\.\d+)+)")


def with_raised_pin(options: RunOptions, result: RunResult) -> RunOptions | None:
    """What to do once more, with the releases that the pins name then as the lowest; None where the pins stay, or others hold.

    Args:
        options: what was done.
        result: what it came to.
    """
    if options.mode is Mode.CHECK:
        return None
    settings = options.settings
    folders = tuple(inner.folder for inner in settings.inner)
    lowest = _raised(result, settings.min_torch_pinned, settings.min_torch, lambda path: not path.startswith(folders))
    inner = tuple(
        replace(one, min_torch=_raised(result, one.place if one.pinned else "", one.min_torch, _below(one.folder)))
        for one in settings.inner
    )
    moved = [(one.place, one.min_torch, new.min_torch) for one, new in zip(settings.inner, inner, strict=True)]
    moved.append((settings.min_torch_pinned, settings.min_torch, lowest))
    why = tuple(
        f"{place} pinned torch {before}; the pin moves to {after} in this run, and fixes count with that."
        for place, before, after in moved
        if after > before
    )
    if not why:
        return None
    settings = replace(settings, min_torch=lowest, inner=inner)
    return replace(options, settings=settings, min_torch_why=(*options.min_torch_why, *why), memory=None)


def _below(folder: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(folder)


def _raised(result: RunResult, place: str, lowest: TorchVersion, about: Callable[[str], bool]) -> TorchVersion:
    """The lowest release after a run that may have raised the pin at `place`; `about` tells the files that it holds for."""
    path, _, line = place.rpartition(":")
    outcome = next((outcome for outcome in result.outcomes if outcome.path == path), None)
    # "requirements.txt:3, the lowest of 2" is not the only one that holds
    if outcome is None or outcome.new_text is None or outcome.refused is not None or not line.isdecimal():
        return lowest
    raised = any(
        finding.code == _PIN_RULE and outcome.source.location(finding.span.start)[0] == int(line)
        for finding in outcome.fixed
    )
    held = any(
        finding.code == _PIN_RULE and (about(outcome.path) or outcome.path == path)
        for outcome in result.outcomes
        for finding in outcome.left
    )
    named = _RELEASE.search(outcome.new_text.splitlines()[int(line) - 1]) if raised and not held else None
    return max(lowest, TorchVersion.parse(named[1])) if named is not None else lowest
