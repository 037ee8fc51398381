"""JUnit XML: a suite a file, a failed case a finding, an error what could not be done."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.pipelines.junit import JunitCase, document
from torchlift.terminal.columns import one_line


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """The whole document; one case that passed if there is nothing to say."""
    stopped = [JunitCase(each.stage, each.path, "error", each.text, each.text) for each in troubles]
    suites = [("torchlift", stopped)] if stopped else []
    suites += [(path, [_case(each) for each in found]) for path, found in groupby(entries, key=lambda each: each.path)]
    return document(suites, JunitCase("migrate", "torchlift"))


def _case(entry: ListedFinding) -> JunitCase:
    place = f"{entry.place.row}:{entry.place.column}"
    text = f"{one_line(entry.path)}:{place}: {entry.text}" + (f"\n{entry.url}" if entry.url else "")
    return JunitCase(f"{entry.code} {entry.name} at {place}", entry.path, "failure", entry.message, text, entry.code)
