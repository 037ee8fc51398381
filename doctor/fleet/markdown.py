"""Many machines to paste into an issue."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift import __version__
from torchlift.doctor.fleet.aspects import driver, gpu_models, torch_version
from torchlift.doctor.fleet.fleet import Fleet
from torchlift.doctor.fleet.text_report import ranges, smoke_counts, verdict
from torchlift.doctor.fleet.text_report import render as as_text
from torchlift.doctor.report import words
from torchlift.doctor.report.markdown import rate_table
from torchlift.doctor.report.rates import Rate, rates_of
from torchlift.terminal.markdown import folded, prose, table
from torchlift.terminal.style import Style


def render(fleet: Fleet) -> str:
    """Verdict, a line a machine, what differs, rates; the whole report as text is folded away below.

    The fleet must have been redacted before, see `redact.redacted`.
    """
    parts = [
        [f"### torchlift doctor: {prose(verdict(fleet))}"],
        table(("machine", "fit", "ranks", "GPUs", "driver", "torch", "smokes"), _machines(fleet)),
        list(_differences(fleet)),
        rate_table(list(_rates(fleet))),
        folded("The whole report", as_text(fleet, Style(width=100), verbose=True)),
        [f"<sub>torchlift {__version__}, redacted. {words.data_age()}</sub>"],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _machines(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    for machine in fleet.machines:
        facts = None if machine.examination is None else machine.examination.facts
        told = [(None if facts is None else read(facts)) or "unknown" for read in (gpu_models, driver, torch_version)]
        ranks = ranges(machine.ranks) if machine.ranks else ""
        cells = (machine.name, "no" if machine.is_bad else "yes", ranks, *told, smoke_counts(machine))
        yield tuple(map(prose, cells))


def _differences(fleet: Fleet) -> Iterator[str]:
    if not fleet.differences:
        return
    yield "#### What differs"
    yield ""
    rows = []
    for each in fleet.differences:
        most = "" if each.majority is None else prose(each.majority)
        others = "<br>".join(f"{prose(value)}: {prose(', '.join(names))}" for value, names in each.others)
        rows.append((prose(each.aspect.title), most, others))
    yield from table(("", "most have", "others"), rows)


def _rates(fleet: Fleet) -> Iterator[Rate]:
    for machine in fleet.machines:
        for rate in rates_of([dict(smoke) for _, smoke in machine.smokes]):
            yield Rate(f"{machine.name} {rate.device}".strip(), rate.what, rate.value, rate.unit, rate.full)
