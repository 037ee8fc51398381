"""What came of the files, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.convert.inspection.show import printable
from torchlift.convert.road.record import Conversion
from torchlift.terminal.style import Style

_MARKS = {"converted": "ok", "same": "ok", "differs": "problem", "refused": "warning", "failed": "problem"}
_SAME = "same"
_SHOWN = 3


def shown(done: list[Conversion], style: Style) -> Iterator[str]:
    """The lines of a report, and a summary where there are several files."""
    for one in map(printable, done):
        yield from _one(one, style)
    if len(done) > 1:
        good = sum(one.outcome in ("converted", "same") for one in done)
        words = [f"{good} of {len(done)} do the same"]
        words += [
            f"{count} {outcome}"
            for outcome in ("differs", "refused", "failed")
            if (count := sum(one.outcome == outcome for one in done))
        ]
        yield style.heading(", ".join(words))


def _one(one: Conversion, style: Style) -> Iterator[str]:
    method = f" ({one.method})" if one.method not in ("", "forward") else ""
    mark = style.mark(_MARKS[one.outcome])
    if one.outcome == "refused":
        yield f"{mark} {one.said}"
        return
    yield f"{mark} {one.path}{method}: {one.said}"
    if one.inputs:
        yield f"    inputs, from {_FROM[one.inputs_from]}: {one.inputs}"
    if one.assumption:
        yield f"    {one.assumption}"
    if one.way not in ("", "python") and one.outcome in ("converted", "same"):
        yield f"    exported {one.way}"
    unequal = [case for case in one.cases if case.verdict != _SAME]
    for case in unequal[:_SHOWN]:
        yield f"    {case.name} ({case.inputs}): {case.verdict}: {case.differences[0]}"
    if unequal and not any(case.name == "inputs as given" for case in unequal) and one.outcome == "differs":
        allowed = " ".join(f"--allow '{case.name}'" for case in unequal)
        yield f"    {allowed} writes the program all the same"
    if one.outcome == "failed":
        yield from (f"    {tried.way}: {tried.failed}" for tried in one.tried)
    yield from (f"    {also.way}: {also.failed or 'does the same'}" for also in one.also)
    for path, sizes in one.fixed_sizes.items():
        if sizes and one.outcome in ("converted", "same"):
            yield f"    {path} has a fixed size in dimension {', '.join(map(str, sizes))}"
    yield from (f"    wrote {path}" for path in one.written)


_FROM = {"user": "you", "evidence": "evidence", "trace": "the trace", "search": "a search"}
