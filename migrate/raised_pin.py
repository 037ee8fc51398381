"""An exact pin that holds fixes back, and that the same run raises: both move together."""

from __future__ import annotations

from dataclasses import replace

from torchlift.lazy_pattern import lazy_pattern
from torchlift.migrate.options import RunOptions
from torchlift.migrate.result import Mode, RunResult
from torchlift.versions import TorchVersion

_PIN_RULE = "TL309"
_RELEASE = lazy_pattern(r"torch\b[^\d\n]{0,12}=\s*[\"']?=?\s*[\"']?(\d+(?:\.\d+)+)")


def with_raised_pin(options: RunOptions, result: RunResult) -> RunOptions | None:
    """What to do once more, with the release that the pin names then as the lowest; None where the pin stays, or another one holds.

    Args:
        options: what was done.
        result: what it came to.
    """
    place = options.settings.min_torch_pinned
    if not place or options.mode is Mode.CHECK:
        return None
    path, _, line = place.rpartition(":")
    outcomes = {outcome.path: outcome for outcome in result.outcomes}
    outcome = outcomes.get(path)
    if outcome is None or outcome.new_text is None or outcome.refused is not None:
        return None
    raised = any(
        finding.code == _PIN_RULE and outcome.source.location(finding.span.start)[0] == int(line)
        for finding in outcome.fixed
    )
    held = any(finding.code == _PIN_RULE for outcome in result.outcomes for finding in outcome.left)
    named = _RELEASE.search(outcome.new_text.splitlines()[int(line) - 1]) if raised and not held else None
    release = TorchVersion.parse(named[1]) if named is not None else options.settings.min_torch
    if release <= options.settings.min_torch:
        return None
    why = f"{place} pinned torch {options.settings.min_torch}; the pin moves to {release} in this run, and fixes count with that."
    settings = replace(options.settings, min_torch=release)
    return replace(options, settings=settings, min_torch_why=(*options.min_torch_why, why), memory=None)
