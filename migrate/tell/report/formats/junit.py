"""JUnit XML, which Jenkins, GitLab, Azure and CircleCI show as tests: a suite a file, a failed case a finding.

Elements as in the schema of Jenkins' xUnit plugin, `junit-10.xsd`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from torchlift.migrate.tell.report.formats.listing import ListedFinding, Trouble
from torchlift.terminal.columns import one_line

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(entries: Sequence[ListedFinding], troubles: Sequence[Trouble]) -> str:
    """The whole document; one case that passed if there is nothing to say."""
    total = {"tests": str(max(1, len(entries) + len(troubles)))}
    top = Element("testsuites", {"name": "torchlift", **total, **_counts(len(entries), len(troubles))})
    if troubles:
        suite = _suite(top, "torchlift", 0, len(troubles))
        for trouble in troubles:
            case = SubElement(suite, "testcase", {"name": _fit(trouble.stage), "classname": _fit(trouble.path)})
            SubElement(case, "error", {"message": _fit(trouble.text)}).text = _fit(trouble.text)
    for path, found in groupby(entries, key=lambda entry: entry.path):
        listed = list(found)
        suite = _suite(top, path, len(listed), 0)
        for entry in listed:
            _case(suite, entry)
    if not len(top):
        SubElement(_suite(top, "torchlift", 1, 0, failed=0), "testcase", {"name": "migrate", "classname": "torchlift"})
    indent(top)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(top, encoding="unicode")}\n'


def _suite(top: Element, name: str, cases: int, errors: int, failed: int | None = None) -> Element:
    failures = cases if failed is None else failed
    return SubElement(
        top,
        "testsuite",
        {"name": _fit(name), "tests": str(cases + errors), **_counts(failures, errors), "skipped": "0"},
    )


def _counts(failures: int, errors: int) -> dict[str, str]:
    return {"failures": str(failures), "errors": str(errors)}


def _case(suite: Element, entry: ListedFinding) -> None:
    place = f"{entry.place.row}:{entry.place.column}"
    named = {"name": f"{entry.code} {entry.name} at {place}", "classname": _fit(entry.path)}
    case = SubElement(suite, "testcase", {**named, "file": _fit(entry.path), "line": str(entry.place.row)})
    failure = SubElement(case, "failure", {"message": _fit(entry.message), "type": entry.code})
    failure.text = _fit(f"{one_line(entry.path)}:{place}: {entry.text}" + (f"\n{entry.url}" if entry.url else ""))


def _fit(text: str) -> str:
    """Text without what no XML document may hold."""
    return _NO_XML.sub("\ufffd", text)
