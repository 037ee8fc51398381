"""The table of a fleet for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from torchlift.doctor.fleet.aspects import driver, gpu_models, torch_version
from torchlift.doctor.fleet.differences import Deviation
from torchlift.doctor.fleet.exchange import Collective
from torchlift.doctor.fleet.fleet import Fleet, FleetMember
from torchlift.doctor.report.rates import shown
from torchlift.doctor.report.words import count, listed, sentence
from torchlift.terminal.columns import one_line
from torchlift.terminal.style import Style

_SHOWN_NAMES = 6


def render(fleet: Fleet, style: Style, *, verbose: bool = False) -> str:
    """The whole report, ending in a line feed: verdict, one line a machine, what differs, what is wrong where."""
    status = "problem" if fleet.health == "problems" else "warning" if fleet.serious_differences else "ok"
    blocks = [[style.verdict(verdict(fleet), status)], list(_table(fleet, style))]
    blocks.append(list(_differences(fleet, style, verbose)))
    blocks.append(list(_problems(fleet, style, verbose)))
    blocks.append(list(_ranks(fleet, style)))
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def verdict(fleet: Fleet) -> str:
    """One sentence about all machines."""
    number = len(fleet.machines)
    all_of_them = count(number, "machine")
    wrong = []
    bad = [machine for machine in fleet.machines if machine.is_bad]
    if bad:
        wrong.append(
            f"{len(bad)} of {all_of_them} {'has' if len(bad) == 1 else 'have'} problems ({_names([m.name for m in bad])})"
        )
    if fleet.missing:
        wrong.append(
            f"{count(len(fleet.missing), 'rank')} missing ({_names([str(rank) for rank in sorted(fleet.missing)])})"
        )
    wrong += [f"all_reduce on {tried.backend} failed" for tried in fleet.collectives if tried.failed]
    serious = fleet.serious_differences
    if serious:
        titles = list(dict.fromkeys(difference.aspect.title for difference in serious))
        more = [count(len(titles) - 3, "thing") + " more"] if len(titles) > 4 else []
        wrong.append(f"machines differ in {listed([*(titles[:3] if more else titles), *more])}")
    if fleet.error:
        wrong.append(fleet.error)
    if not wrong:
        return f"Healthy: {all_of_them}, all alike." if number > 1 else "Healthy: 1 machine."
    text = "; ".join(wrong)
    lead = "" if fleet.health == "problems" else f"Healthy, but of {all_of_them} not all are alike: "
    return sentence(lead + text)


def _table(fleet: Fleet, style: Style) -> Iterator[str]:
    ranked = any(machine.ranks for machine in fleet.machines)
    smoked = any(machine.smokes for machine in fleet.machines)
    head = ["", "machine", *(["ranks"] if ranked else []), "GPUs", "driver", "torch", *(["smokes"] if smoked else [])]
    rows = []
    for machine in fleet.machines:
        facts = None if machine.examination is None else machine.examination.facts
        cells = [machine.name, *([ranges(machine.ranks)] if ranked else [])]
        readers = (gpu_models, driver, torch_version)
        cells += [(None if facts is None else read(facts)) or "unknown" for read in readers]
        if smoked:
            cells.append(smoke_counts(machine))
        rows.append((machine, [one_line(cell) for cell in cells]))
    widths = [
        max(len(cells[index]) for cells in [head[1:], *(row for _, row in rows)]) for index in range(len(head) - 1)
    ]
    lead = style.mark_width("problem")
    yield style.heading(
        (
            " " * (lead + 1) + "  ".join(f"{cell:<{width}}" for cell, width in zip(head[1:], widths, strict=True))
        ).rstrip()
    )
    for machine, row in rows:
        status = "problem" if machine.is_bad else "ok"
        mark = style.mark(status) + " " * (lead - style.mark_width(status))
        yield f"{mark} {'  '.join(f'{cell:<{width}}' for cell, width in zip(row, widths, strict=True))}".rstrip()


def smoke_counts(machine: FleetMember) -> str:
    """ "12 passed, 1 failed" of the smokes that ran on a machine."""
    if not machine.smokes:
        return "none"
    passed = sum(smoke.get("outcome") == "pass" for _, smoke in machine.smokes)
    failed = len(machine.failed_smokes)
    return f"{passed} passed" + (f", {failed} failed" if failed else "")


def _differences(fleet: Fleet, style: Style, verbose: bool) -> Iterator[str]:
    shown = fleet.differences if verbose else fleet.serious_differences
    if shown:
        yield style.heading("What differs")
    for difference in shown:
        status = "warning" if difference.aspect.weight == "warning" else "note"
        yield from _hanging(style, status, _difference(difference))
    left = len(fleet.differences) - len(shown)
    if left:
        yield style.faint(f"  {count(left, 'difference')} of less weight (-v shows all)")


def _difference(difference: Deviation) -> str:
    parts = [f"{value} on {_names(names)}" for value, names in difference.others]
    if difference.majority is not None:
        share = f"{len(difference.machines)} of {len(difference.machines) + len(difference.deviating)}"
        return f"{difference.aspect.title}: {'; '.join(parts)}; {share} have {difference.majority}"
    return f"{difference.aspect.title}: {'; '.join(parts)}"


def _problems(fleet: Fleet, style: Style, verbose: bool) -> Iterator[str]:
    # The same trouble on a hundred machines is one line.
    seen: dict[tuple[str, str, str | None], list[str]] = {}
    for machine in fleet.machines:
        for status, text, remedy in _troubles(machine, verbose):
            seen.setdefault((status, text, remedy), []).append(machine.name)
    if seen:
        yield style.heading(
            "On single machines"
            if any(len(names) < len(fleet.machines) for names in seen.values())
            else "On all machines"
        )
    for (status, text, remedy), names in sorted(seen.items(), key=lambda item: item[0][0] != "problem"):
        yield from _hanging(style, status, f"{_names(names)}: {text}")
        if remedy is not None:
            yield f"      fix: {style.command(one_line(remedy))}"


def _troubles(machine: FleetMember, verbose: bool) -> Iterator[tuple[str, str, str | None]]:
    if machine.examination is None:
        yield "problem", machine.error or "its facts are not known", None
        return
    for status in ("problem", "failed", "warning"):
        for result in machine.examination.independent(status):
            if status == "warning" and not verbose and len(machine.examination.independent("problem")):
                continue
            remedy = None if result.remedy is None else result.remedy.command or result.remedy.text
            yield status, one_line(result.summary), remedy
    for _, smoke in machine.failed_smokes:
        text = f"smoke {smoke.get('id')} on {smoke.get('device')}: {smoke.get('outcome')}"
        yield "problem", one_line(f"{text}: {smoke['reason']}" if smoke.get("reason") else text), smoke.get("remedy")


def _ranks(fleet: Fleet, style: Style) -> Iterator[str]:
    for tried in fleet.collectives:
        if not tried.failed:
            yield from _hanging(
                style,
                "ok",
                f"all_reduce on {tried.backend} over {count(tried.ranks, 'rank')}: right, {tried.seconds:.2f} s{_bus(tried)}",
                "",
            )
            continue
        by_reason: dict[str, list[int]] = {}
        for rank, why in sorted(tried.failed.items()):
            by_reason.setdefault(why, []).append(rank)
        for why, ranks in by_reason.items():
            yield from _hanging(
                style, "problem", f"all_reduce on {tried.backend} failed on rank {ranges(ranks)}: {why}", ""
            )
    for why, ranks in _by_reason(fleet).items():
        yield from _hanging(
            style, "problem", f"rank {ranges(ranks)} {why}; look at what that process printed itself", ""
        )
    if fleet.skipped_collectives:
        yield from _hanging(style, "skipped", f"all_reduce over all ranks: {fleet.skipped_collectives}", "")
    if fleet.error:
        yield from _hanging(style, "problem", fleet.error, "")


def _bus(tried: Collective) -> str:
    return "" if tried.bus_bandwidth is None else f", {shown(tried.bus_bandwidth, 'B/s')} of bus bandwidth"


def _by_reason(fleet: Fleet) -> dict[str, list[int]]:
    reasons: dict[str, list[int]] = {}
    for rank, why in sorted(fleet.missing.items()):
        reasons.setdefault(why, []).append(rank)
    return reasons


def _hanging(style: Style, status: str, text: str, indent: str = "  ") -> list[str]:
    inside = indent + " " * (style.mark_width(status) + 1)
    wrapper = textwrap.TextWrapper(
        max(style.width, 40),
        initial_indent=inside,
        subsequent_indent=inside,
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = wrapper.wrap(one_line(text)) or [inside]
    return [f"{indent}{style.mark(status)} {lines[0].lstrip()}", *lines[1:]]


def _names(names: Sequence[str]) -> str:
    shown = list(names[:_SHOWN_NAMES])
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def ranges(ranks: Sequence[int]) -> str:
    """ "0-3, 7" of 0, 1, 2, 3 and 7."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][-1] + 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
