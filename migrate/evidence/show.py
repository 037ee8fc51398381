"""Evidence as people read it: first what no run reached, then what no longer holds, then what is known."""

from __future__ import annotations

from collections.abc import Sequence

from torchlift.evidence.conclusions import Conclusion, eager, exported
from torchlift.evidence.known import KnownRuns, KnownSite
from torchlift.evidence.records import RecordedCall, RecordedEvidence, RecordedSite, RecordedValue
from torchlift.migrate.evidence.reach import KnownPlace, lost

_MOST_CALLS = 8


def overview(evidence: RecordedEvidence, places: Sequence[KnownPlace], runs: KnownRuns) -> str:
    """The whole of the evidence."""
    lines = [headline(evidence, places), ""]
    lines += unreached(places)
    lines += outdated(runs)
    reached = [place for place in places if place.known is not None and not place.known.changed]
    if reached:
        lines.append("Recorded:")
        lines += [f"  {place.place}  {place.api}{_in(place.function)}: {verdict(_site(place))}" for place in reached]
        lines.append("")
    broken = [known.site for known in runs if known.site.failed]
    if broken:
        lines.append("Broken in the recorded runs:")
        lines += [
            f"  {site.file}:{site.line}  {site.api}: {site.failed[0].error}: {site.failed[0].message}"
            for site in broken
        ]
        lines.append("")
    if evidence.problems:
        lines.append("The recorder could not see:")
        for problem in evidence.problems:
            lines.append(
                f"  {problem.site or 'somewhere'}: {problem.what}{f' ({problem.error})' if problem.error else ''}"
            )
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def headline(evidence: RecordedEvidence, places: Sequence[KnownPlace]) -> str:
    """How much was reached, by what."""
    reached = sum(place.reached for place in places)
    number = f"{reached} of {len(places)} known places were reached" if places else "The project has no place to record"
    commands = [evidence.command, *(run.command for run in evidence.further)]
    said = " and ".join(f"`{' '.join(command)}`" for command in commands if command)
    when = f", {evidence.recorded_at}" if evidence.recorded_at else ""
    return f"{number}{f' by {said}' if said else ''} (torch {evidence.torch or 'unknown'}{when})."


def unreached(places: Sequence[KnownPlace]) -> list[str]:
    """Lines about places that no run reached."""
    missing = [place for place in places if not place.reached]
    if not missing:
        return []
    return [
        f"Not reached ({len(missing)}):",
        *(f"  {place.place}  {place.api}{_in(place.function)}" for place in missing),
        "",
    ]


def outdated(runs: KnownRuns) -> list[str]:
    """Lines about recorded sites whose source is another now."""
    changed = [known for known in runs if known.changed and known.place is not None]
    gone = list(lost(runs))
    if not changed and not gone:
        return []
    lines = [f"Recorded before the source changed ({len(changed) + len(gone)}), and not used:"]
    lines += [f"  {known.site.file}:{_line(known)}  {known.site.api}: {known.changed} is another" for known in changed]
    lines += [
        f"  {known.site.file}  {known.site.api}, then on line {known.site.line}: {known.changed} is gone"
        for known in gone
    ]
    return [*lines, ""]


def verdict(site: RecordedSite) -> str:
    """What follows from the record of a site, in a few words."""
    calls = sum(call.count for value in site.values for call in value.calls)
    counted = f"{calls} calls of {len(site.values)} values" if len(site.values) != 1 else f"{calls} calls"
    said = [_said("export", exported(site)), _said("Python object", eager(site))]
    return f"{counted}; {'; '.join(said)}"


def details(known: KnownSite) -> str:
    """Everything that is known of one site."""
    site = known.site
    lines = [f"{site.file}:{_line(known)}:{site.column}  {site.api}{_in(site.qualname)}"]
    if known.changed:
        lines.append(f"Recorded before {known.changed} changed, and not used.")
    if site.tests:
        lines.append(f"Tests that reach it: {', '.join(site.tests)}")
    for failed in site.failed:
        lines.append(f"It raised {failed.error}: {failed.message} ({failed.count} times)")
    for value in site.values:
        lines += ["", *_value(value)]
    for what, conclusion in (
        ("An exported program in its place", exported(site)),
        ("The Python object itself", eager(site)),
    ):
        lines += ["", f"{what}: {_said('', conclusion)}"]
        lines += [f"  {text}" for text in (conclusion.basis, *conclusion.doubts) if text]
    return "\n".join(lines) + "\n"


def _value(value: RecordedValue) -> list[str]:
    mode = "train" if value.training else "eval"
    lines = [f"Value {value.id}: {value.kind} {value.of.name}, captured in {mode} mode"]
    for call in value.calls[:_MOST_CALLS]:
        lines.append(f"  {_call(call)}")
    if len(value.calls) > _MOST_CALLS:
        lines.append(f"  and {len(value.calls) - _MOST_CALLS} other kinds of calls")
    for touch in (*value.operations, *value.attributes):
        lines.append(
            f"  .{touch.name}{f'({touch.detail})' if touch.detail else ''} at {', '.join(touch.sites) or 'unknown'}"
        )
    for archive in value.wrote:
        lines.append(f"  written to {archive.path or 'a buffer'} ({archive.content[:12]})")
    proof = value.proof
    if proof is not None and proof.export is not None:
        lines += [f"  export {tried.variant}: {tried.failed or 'equal'}" for tried in proof.export.tried]
    if proof is not None and proof.eager is not None:
        lines.append(f"  Python object: {'equal' if proof.eager.equal else proof.eager.failed or 'differs'}")
    if proof is not None:
        lines += [f"  probe {name}: {came}" for name, came in sorted(proof.probes.items())]
        if proof.unproved:
            lines.append(f"  nothing was tried: {proof.unproved}")
    return lines


def _call(call: RecordedCall) -> str:
    given = ", ".join(
        [*map(shown_tree, call.args), *(f"{key}={shown_tree(item)}" for key, item in call.kwargs.items())]
    )
    via = " on a loaded copy" if call.via == "load" else ""
    return f"{call.count}x {call.method}({given}){via}{f' at {call.site}' if call.site else ''}"


def shown_tree(tree: object) -> str:
    """A recorded value as a person would write it."""
    match tree:
        case str():
            return tree
        case list():
            return f"[{', '.join(map(shown_tree, tree))}]"
        case {"tuple": list() as items}:
            return f"({', '.join(map(shown_tree, items))})"
        case {"dict": dict() as items}:
            return f"{{{', '.join(f'{key}: {shown_tree(item)}' for key, item in items.items())}}}"
        case {"str": str() as text}:
            return repr(text)
        case {"str": int() as length}:
            return f"a string of {length} characters"
        case {"namedtuple": name, "items": list() as items}:
            return f"{name}({', '.join(map(shown_tree, items))})"
        case {"object": name}:
            return f"<{name}>"
        case _:
            return repr(tree)


def _said(what: str, conclusion: Conclusion) -> str:
    before = f"{what} " if what else ""
    if conclusion.refuted:
        return f"{before}no, {conclusion.refuted}"
    if conclusion.unknown:
        return f"{before}not known, {conclusion.unknown}"
    form = f" ({conclusion.variant})" if conclusion.variant != "eager" else ""
    return f"{before}proven{form}" if not conclusion.doubts else f"{before}for review{form}, {conclusion.doubts[0]}"


def _site(place: KnownPlace) -> RecordedSite:
    assert place.known is not None
    return place.known.site


def _in(function: str) -> str:
    return f" in {function}" if function else ""


def _line(known: KnownSite) -> int:
    return known.place.line if known.place is not None else known.site.line
