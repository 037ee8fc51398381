"""What pages are made of: the frame, a trouble with its remedy, rates as bars."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from torchlift import __version__
from torchlift.doctor.check import Evidence, Result
from torchlift.doctor.diagnose import Diagnosed
from torchlift.doctor.report.rates import Pair, Rate, shown
from torchlift.doctor.report.words import data_age, sentence
from torchlift.page.frame import link
from torchlift.page.markup import Child, Markup, element, table

WORDS = {
    "ok": "well",
    "note": "note",
    "warning": "warning",
    "problem": "problem",
    "skipped": "not checked",
    "failed": "torchlift failed",
}
_MOST_BARS = 16
"""More devices than these are shown from the slowest, and the others when somebody asks."""

_WARN_BELOW, _FAIL_BELOW = 0.5, 0.2
"""Shares of a full rate below which a bar changes its colour: as the smokes judge."""


def foot(taken: str) -> str:
    """The last line of a page about what was `taken` at a time, and how old the tables are that judge it."""
    return f"torchlift {__version__}, looked at {taken or 'an unknown time'}. {data_age()}"


def trouble(status: str, text: str, *details: Child, where: str | None = None) -> Markup:
    """Something that is wrong: how bad, in one sentence, with what belongs to it."""
    return element(
        "article",
        element("span", WORDS[status], class_="kind"),
        element("h3", sentence(text)),
        element("p", where, class_="where") if where else None,
        *details,
        class_=f"trouble {status}",
    )


def finding(found: Diagnosed) -> Markup:
    """A result of a check, what it rests on, what to do, and what follows from it."""
    result = found.result
    below = [finding(inner) for inner in found.consequences if inner.result.status not in ("ok", "skipped")]
    return trouble(result.status, result.summary, *result_details(result), *below, where=found.check.id)


def result_details(result: Result) -> list[Child]:
    """The remedy first, then the evidence and the page that says more."""
    parts: list[Child] = []
    if result.remedy is not None:
        parts.append(element("p", sentence(result.remedy.text)) if result.remedy.text else None)
        parts.append(command(result.remedy.command) if result.remedy.command is not None else None)
    if result.evidence:
        parts.append(element("ul", *(element("li", _evidence(item)) for item in result.evidence)))
    if result.link:
        parts.append(element("p", link(result.link), class_="where"))
    return parts


def command(text: str) -> Markup:
    """Something to paste into a shell."""
    return element("pre", element("code", text))


def bars(rates: Sequence[Rate], titles: dict[str, str]) -> list[Markup]:
    """A table for each measure: every device's rate, beside the full one, or beside the best where none is known."""
    order = {rate.what: number for number, rate in reversed(list(enumerate(rates)))}
    ordered = sorted(rates, key=lambda rate: order[rate.what])
    tables = []
    for what, group in groupby(ordered, key=lambda rate: rate.what):
        members = list(group)
        best = max(rate.value for rate in members)
        title = f"{what[:1].upper()}{what[1:]}"
        if len(members) <= _MOST_BARS:
            tables.append(_bars(title, members, titles, best))
            continue
        members.sort(key=lambda rate: rate.share if rate.share is not None else rate.value / best)
        slowest, rest = members[: _MOST_BARS // 2], members[_MOST_BARS // 2 :]
        tables.append(_bars(f"{title}, the slowest of {len(members)} devices", slowest, titles, best))
        more = element("summary", f"{len(rest)} more, up to {shown(best, members[0].unit)}")
        tables.append(element("details", more, _bars(f"{title}, the others", rest, titles, best)))
    return tables


def _bars(title: str, rates: Sequence[Rate], titles: dict[str, str], best: float) -> Markup:
    rows = [
        (
            titles.get(rate.device) or rate.device or "all devices",
            element("span", shown(rate.value, rate.unit), class_="number"),
            _bar(rate, best),
        )
        for rate in rates
    ]
    return table(title, ("device", "rate", "share"), rows, class_="rates")


def pair_table(pairs: Sequence[Pair]) -> Markup:
    """From each GPU (rows) to each other (columns), in GB/s."""
    numbers = sorted({pair.source for pair in pairs} | {pair.target for pair in pairs})
    by_place = {(pair.source, pair.target): pair for pair in pairs}
    rows = []
    for source in numbers:
        cells: list[Child] = [f"GPU {source}"]
        for target in numbers:
            pair = by_place.get((source, target))
            text = "-" if pair is None else f"{pair.rate / 1e9:.0f}{'' if pair.direct else ' *'}"
            cells.append(element("span", text, class_="number"))
        rows.append(cells)
    note = "" if all(pair.direct for pair in pairs) else "; * through the host, without peer-to-peer access"
    head = ("from \\ to", *(f"GPU {number}" for number in numbers))
    return table(f"Copies between GPUs, GB/s one way{note}", head, rows, class_="pairs")


def _bar(rate: Rate, best: float) -> Markup:
    share = rate.share
    if share is None:
        width, kind = rate.value / best if best else 0.0, "alone"
        text = "the best here" if rate.value == best else f"{width:.0%} of the best here"
        text = f"{text}; no datasheet"
    else:
        width = min(share, 1.0)
        kind = "low" if share < _FAIL_BELOW else "mid" if share < _WARN_BELOW else ""
        text = f"{share:.0%} of {shown(rate.full or 0.0, rate.unit)}"
    fill = element("div", class_=f"fill {kind}".strip(), style=f"width: {width * 100:.1f}%")
    track = element("div", fill, class_="track", aria_hidden="true")
    return element("div", track, element("span", text, class_="share"), class_="barline")


def _evidence(item: Evidence) -> str:
    needed = f"; needed: {item.needed}" if item.needed is not None else ""
    source = f" [{item.source}]" if item.source else ""
    return f"{item.what}: {item.seen}{needed}{source}"
