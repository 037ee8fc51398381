"""Which fixes may be applied: safety asked for, files that may be written, fixes that only go together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from torchlift.finding import Finding, Group, Safety

Held = Mapping[tuple[str, tuple[str, int, int, str, str]], str]
"""Reasons why the fix of a finding cannot be carried out, by path and `Finding.sort_key()`."""


def settle(
    findings: Mapping[str, Sequence[Finding]], blocked: Mapping[str, str], held: Held
) -> dict[str, list[Finding]]:
    """Findings with every fix that cannot be applied taken out, and the reason in its place.

    Args:
        findings: by path.
        blocked: files that will not be written, with the reason as the end of a sentence about the file.
        held: fixes that turned out impossible.

    A fix that goes together with others gets the least safety among them; if one of them is missing or its file is
    blocked, all of them are held back.
    """
    settled: dict[str, list[Finding]] = {}
    for path, items in findings.items():
        settled[path] = []
        for item in items:
            reason = held.get((path, item.sort_key()))
            settled[path].append(item.without_fix(reason) if reason and item.fix else item)
    for component in components(settled):
        members = [(path, index, settled[path][index]) for path, index in component]
        reason = _obstacle(members, settled, blocked)
        least = max((member.safety for _, _, member in members), key=lambda safety: safety.rank)
        deciding = [member for _, _, member in members if member.safety is least]
        for path, index, member in members:
            if member.fix is None:
                continue
            if reason is not None:
                settled[path][index] = member.without_fix(reason)
            elif member.safety.rank < least.rank:
                other = min(deciding, key=Finding.sort_key)
                need = "rests on recorded runs" if least is Safety.PROVEN else "needs review"
                why = f"It is applied only together with {other.code} in {other.path}, which {need}."
                settled[path][index] = replace(
                    member,
                    fix=replace(member.fix, safety=least),
                    help=f"{member.help} {why}" if member.help else why,
                )
    return settled


def components(findings: Mapping[str, Sequence[Finding]]) -> list[list[tuple[str, int]]]:
    """Findings that share a group, directly or through others, by path and index, in report order."""
    by_key: dict[str, list[tuple[str, int]]] = {}
    for path in sorted(findings):
        for index, item in enumerate(findings[path]):
            for group in item.groups:
                by_key.setdefault(group.key, []).append((path, index))
    components: list[list[tuple[str, int]]] = []
    seen: set[tuple[str, int]] = set()
    for start in sorted({member for members in by_key.values() for member in members}):
        if start in seen:
            continue
        component, pending = [], [start]
        seen.add(start)
        while pending:
            path, index = pending.pop()
            component.append((path, index))
            for group in findings[path][index].groups:
                for member in by_key[group.key]:
                    if member not in seen:
                        seen.add(member)
                        pending.append(member)
        components.append(sorted(component))
    return components


def _obstacle(
    members: Sequence[tuple[str, int, Finding]], findings: Mapping[str, Sequence[Finding]], blocked: Mapping[str, str]
) -> str | None:
    groups: set[Group] = {group for _, _, member in members for group in member.groups}
    key = " and ".join(sorted({group.key for group in groups}))
    for path in sorted({path for group in groups for path in group.paths} | {path for path, _, _ in members}):
        if path in blocked:
            return f"The fixes for {key} are applied together or not at all, and {path} {blocked[path]}."
        if path not in findings:
            return f"The fixes for {key} are applied together or not at all, and {path} is not among the given paths."
    for path, _, member in members:
        if member.fix is None:
            return (
                f"The fixes for {key} are applied together or not at all, and the {member.code} finding in {path} "
                "has none that can be applied."
            )
    for name in sorted({group.key for group in groups}):
        carried = [group for _, _, member in members for group in member.groups if group.key == name]
        if sum(group.covers for group in carried) < max(group.sites for group in carried):
            return (
                f"The fixes for {name} are applied together or not at all, and one of its sites is suppressed, not "
                "selected or not understood."
            )
    return None


def applicable(
    findings: Mapping[str, Sequence[Finding]], allowed: Collection[Safety], blocked: Mapping[str, str]
) -> dict[str, list[Finding]]:
    """The findings whose fix is to be applied, by path; files without any are absent.

    `findings` are settled, so fixes that go together all have the same safety.
    """
    chosen: dict[str, list[Finding]] = {}
    for path, items in findings.items():
        if path in blocked:
            continue
        take = [item for item in items if item.fix is not None and item.fix.safety in allowed]
        if take:
            chosen[path] = take
    return chosen
