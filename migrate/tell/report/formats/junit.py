"""JUnit XML: a suite a file, a failed case a finding, an error what could not be done.

Readers know a case from earlier runs by its name, so that has the code of the line, which moves with it, and no number of a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.pipelines.junit import JunitCase, document
from torchlift.terminal.columns import one_line

_LONGEST_LINE = 100
"""Characters of a line that a name has."""


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """The whole document; one case that passed if there is nothing to say."""
    stopped = [JunitCase(each.stage, each.path, "error", each.text, each.text) for each in troubles]
    suites = [("torchlift", stopped)] if stopped else []
    suites += [(path, [_case(each) for each in found]) for path, found in groupby(entries, key=lambda each: each.path)]
    return document(suites, JunitCase("migrate", "torchlift"))


def _case(entry: ListedFinding) -> JunitCase:
    line = " ".join(
        entry.source.line(entry.source.location(entry.span.start)[0]).split()
    )  # a notebook's JSON has others
    name = one_line(f"{entry.code} {entry.name}: {line[:_LONGEST_LINE]}")
    place = f"{one_line(entry.path)}:{entry.place.row}:{entry.place.column}"
    text = f"{place}: {entry.text}" + (f"\n{entry.url}" if entry.url else "")
    return JunitCase(name, entry.path, "failure", entry.message, text, entry.code)
