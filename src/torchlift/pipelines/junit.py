"""JUnit XML, which Jenkins, GitLab, Azure and CircleCI show as tests.

Elements and attributes are those of the schema of Jenkins' xUnit plugin, `junit-10.xsd`, which refuses a document with any other
(read 2026-11-26): a case has no file and no line of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern

_NO_XML = lazy_pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class JunitCase:
    """A test.

    Attributes:
        name: what was tried.
        classname: what it belongs to.
        outcome: None where it passed.
        message: why it did not, in a sentence.
        text: all that there is to say about it.
        kind: of failures: what sort it is.
    """

    name: str
    classname: str
    outcome: Literal["failure", "error", "skipped"] | None = None
    message: str = ""
    text: str = ""
    kind: str | None = None


def document(suites: Sequence[tuple[str, Sequence[JunitCase]]], nothing: JunitCase) -> str:
    """The whole document; of cases with one name the second is called `name (2)`, since readers know a case by its name.

    Args:
        suites: names with their cases.
        nothing: the case that passed where there is nothing to say.
    """
    suites = suites or [("torchlift", (nothing,))]
    everything = [case for _, cases in suites for case in cases]
    counts = _counts(everything)
    del counts["skipped"]
    top = Element("testsuites", {"name": "torchlift", **counts})
    for name, cases in suites:
        suite = SubElement(top, "testsuite", {"name": _fit(name), **_counts(cases)})
        seen: Counter[tuple[str, str]] = Counter()
        for case in cases:
            seen[case.classname, case.name] += 1
            number = seen[case.classname, case.name]
            _add(suite, case if number == 1 else replace(case, name=f"{case.name} ({number})"))
    indent(top)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(top, encoding="unicode")}\n'


def _counts(cases: Sequence[JunitCase]) -> dict[str, str]:
    found = Counter(case.outcome for case in cases)
    numbers = {"failures": found["failure"], "errors": found["error"], "skipped": found["skipped"]}
    return {"tests": str(len(cases)), **{name: str(number) for name, number in numbers.items()}}


def _add(suite: Element, case: JunitCase) -> None:
    one = SubElement(suite, "testcase", {"name": _fit(case.name), "classname": _fit(case.classname)})
    if case.outcome is None:
        if case.text:
            SubElement(one, "system-out").text = _fit(case.text)
    else:
        kind = {} if case.kind is None else {"type": case.kind}
        SubElement(one, case.outcome, {"message": _fit(case.message), **kind}).text = _fit(case.text) or None


def _fit(text: str) -> str:
    """Text without what no XML document may hold."""
    return _NO_XML.sub("\ufffd", text)
