"""Many machines as one page: what is wrong first, then rates side by side, and in what machines differ."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.doctor.fleet.aspects import driver, gpu_models, torch_version
from torchlift.doctor.fleet.differences import Deviation
from torchlift.doctor.fleet.fleet import Fleet, FleetMember
from torchlift.doctor.fleet.text_report import ranges, smoke_counts, verdict
from torchlift.doctor.report.alike import alike
from torchlift.doctor.report.page.machine import body, failed_smoke
from torchlift.doctor.report.page.parts import bars, finding, foot, pair_table, trouble
from torchlift.doctor.report.rates import Rate, pairs_of, rates_of, shown
from torchlift.doctor.report.words import count
from torchlift.page.frame import page, section
from torchlift.page.markup import Child, Markup, element, table

_MOST_COLUMNS = 10
"""More machines than these are named in groups by value, not in a column each."""

_WRONG = ("problem", "failed", "warning")


def render(fleet: Fleet) -> str:
    """The whole document."""
    status = "problem" if fleet.health == "problems" else "warning" if fleet.serious_differences else "ok"
    taken = min((each.examination.facts.taken for each in fleet.machines if each.examination is not None), default="")
    head = element("p", f"{count(len(fleet.machines), 'machine')}.", class_="where")
    return page("torchlift doctor, many machines", verdict(fleet), status, head, _body(fleet), foot=foot(taken))


def _body(fleet: Fleet) -> Iterator[Child]:
    wrong = [*_ranks(fleet), *_troubles(fleet)]
    yield section(
        "wrong", "What is wrong", *(wrong or [element("p", "Nothing that torchlift looks for.", class_="ok")])
    )
    if fleet.differences:
        yield section("differences", "What differs", _differences(fleet))
    yield from _rates(fleet)
    yield section("machines", "Machines", _machines(fleet), *(_each(machine) for machine in fleet.machines))


def _ranks(fleet: Fleet) -> Iterator[Child]:
    if fleet.error is not None:
        yield trouble("problem", fleet.error)
    by_reason: dict[str, list[int]] = {}
    for rank, why in sorted(fleet.missing.items()):
        by_reason.setdefault(f"missing: it {why}", []).append(rank)
    for tried in fleet.collectives:
        for rank, why in sorted(tried.failed.items()):
            by_reason.setdefault(f"all_reduce on {tried.backend} failed: {why}", []).append(rank)
    for why, ranks in by_reason.items():
        yield trouble("problem", f"Rank {ranges(ranks)} {why}")


def _troubles(fleet: Fleet) -> Iterator[Child]:
    """The same trouble on a hundred machines stands once, with their names."""
    seen: dict[tuple[int, Markup], list[str]] = {}
    for machine in fleet.machines:
        for weight, found in _of(machine):
            seen.setdefault((weight, found), []).append(machine.name)
    before: list[str] = []
    for (_, found), names in sorted(seen.items(), key=lambda item: (item[0][0], item[1])):
        if names != before:
            yield element("p", element("strong", f"On {', '.join(names)}"))
        yield found
        before = names


def _of(machine: FleetMember) -> Iterator[tuple[int, Markup]]:
    if machine.examination is None:
        yield 0, trouble("problem", machine.error or "Its facts are not known")
        return
    for _, smoke in machine.smokes:
        failed = smoke in [each for _, each in machine.failed_smokes]
        details = smoke.get("details")
        if failed or (isinstance(details, dict) and details.get("warning")):
            yield 0 if failed else 2, failed_smoke(dict(smoke), f"smoke on {smoke.get('device')}")
    for each in alike(machine.examination.findings):
        if each.result.status in _WRONG:
            yield _WRONG.index(each.result.status), finding(each)


def _differences(fleet: Fleet) -> Markup:
    names = [machine.name for machine in fleet.machines]
    rows: list[tuple[Child, ...]]
    if len(names) > _MOST_COLUMNS:
        rows = [
            (
                each.aspect.title,
                "none" if each.majority is None else f"{each.majority} ({count(len(each.machines), 'machine')})",
                element("ul", *(element("li", f"{value}: {', '.join(where)}") for value, where in each.others)),
            )
            for each in fleet.differences
        ]
        return table("In what machines differ", ("", "most have", "others"), rows)
    rows = [(each.aspect.title, *(_cell(each, name) for name in names)) for each in fleet.differences]
    return table("In what machines differ; what most do not have is set off", ("", *names), rows, class_="differences")


def _cell(difference: Deviation, name: str) -> Child:
    if name in difference.machines:
        return difference.majority
    value = next((value for value, names in difference.others if name in names), None)
    return Markup("") if value is None else element("span", value, class_="other")


def _rates(fleet: Fleet) -> Iterator[Child]:
    rates: list[Rate] = []
    tables: list[Child] = []
    for machine in fleet.machines:
        smokes = [dict(smoke) for _, smoke in machine.smokes]
        for rate in rates_of(smokes):
            rates.append(Rate(f"{machine.name} {rate.device}".strip(), rate.what, rate.value, rate.unit, rate.full))
        pairs = pairs_of(smokes)
        if pairs:
            tables.append(element("h3", machine.name))
            tables.append(pair_table(pairs))
    for tried in fleet.collectives:
        if tried.bus_bandwidth:
            text = f"all_reduce on {tried.backend} over {count(tried.ranks, 'rank')}: {shown(tried.bus_bandwidth, 'B/s')} of bus bandwidth"
            tables.insert(0, element("p", text))
    if rates or tables:
        yield section("rates", "Rates", *bars(rates, {}), *tables)


def _machines(fleet: Fleet) -> Markup:
    rows = []
    for machine in fleet.machines:
        facts = None if machine.examination is None else machine.examination.facts
        told = [(None if facts is None else read(facts)) or "unknown" for read in (gpu_models, driver, torch_version)]
        fit = element("span", "not fit" if machine.is_bad else "fit", class_="problem" if machine.is_bad else "ok")
        rows.append((machine.name, fit, ranges(machine.ranks) if machine.ranks else "", *told, smoke_counts(machine)))
    return table("One line a machine", ("machine", "", "ranks", "GPUs", "driver", "torch", "smokes"), rows)


def _each(machine: FleetMember) -> Child:
    if machine.examination is None:
        return None
    return element("details", element("summary", f"{machine.name} alone"), *_without_ids(machine))


def _without_ids(machine: FleetMember) -> Iterator[Child]:
    """The body of the page of this machine alone; its headings name themselves on that page only."""
    assert machine.examination is not None
    for part in body(machine.examination):
        if isinstance(part, Markup):
            yield Markup(
                part.replace(' id="', f' id="{_id(machine.name)}-').replace(
                    'labelledby="', f'labelledby="{_id(machine.name)}-'
                )
            )


def _id(name: str) -> str:
    return "m" + name.encode().hex()
