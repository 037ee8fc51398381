"""Changes of one file that contradict each other are found without building all of them again for each one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from torchlift.finding import ReplaceText, Rewrite, TextEdit
from torchlift.migrate.document import PythonDocument, open_document
from torchlift.migrate.find.check import Dispatcher
from torchlift.migrate.fix.conflicts import Wish, agree
from torchlift.project import Project
from torchlift.rules.registry import all_rules
from torchlift.rules.rule import Bad, Settings
from torchlift.source import SourceText, Span
from torchlift.versions import TorchVersion

FIXED = [e.before for rule in all_rules().values() for e in rule.examples if isinstance(e, Bad) and e.after]
SETTINGS = Settings(min_torch=TorchVersion(2, 13))


def one_by_one(wishes: Sequence[Wish], document: PythonDocument) -> tuple[list[Rewrite], dict[int, str]]:
    """What `agree` means: every wish that goes together with those taken before it."""
    taken: list[Rewrite] = []
    refused: dict[int, str] = {}
    for index, wish in enumerate(wishes):
        try:
            document.edits([*taken, *wish])
            taken += wish
        except Exception as error:
            refused[index] = str(error)
    return taken, refused


def replaced(start: int, end: int, text: str) -> Wish:
    return (ReplaceText(Span(start, end), text),)


@pytest.mark.parametrize("seed", range(60))
def test_the_same_changes_are_taken_as_one_by_one(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    text = "".join(source.sample(FIXED, 4))
    project = Project(tmp_path, ("a.py",), {"a.py": SourceText(text)})
    view = project.view("a.py")
    if view is None:
        return  # one of them has to begin the file
    document = open_document(project, "a.py")
    assert isinstance(document, PythonDocument)
    findings = Dispatcher(list(all_rules().values())).check(project, view, SETTINGS).findings
    wishes = [finding.fix.rewrites for finding in findings if finding.fix is not None]
    for _ in range(source.randint(0, 6)):  # and some that get in their way
        start = source.randrange(len(text))
        wishes.insert(source.randint(0, len(wishes)), replaced(start, start + source.randint(1, 60), "None"))
    agreed = agree(wishes, document.edits)
    taken, refused = one_by_one(wishes, document)
    assert list(agreed.rewrites) == taken
    assert {index: str(error) for index, error in agreed.refused.items()} == refused
    assert list(agreed.edits) == (document.edits(taken) if taken else [])


def built(wishes: Sequence[Wish], refuse: frozenset[int] = frozenset()) -> int:
    """How many times changes were built until it was known which can be carried out."""
    calls = 0

    def build(rewrites: Sequence[Rewrite]) -> list[TextEdit]:
        nonlocal calls
        calls += 1
        spans = [rewrite.span for rewrite in rewrites if isinstance(rewrite, ReplaceText)]
        if any(span.start in refuse for span in spans):
            raise ValueError("by design")
        return []

    assert set(agree(wishes, build).refused) == {number for number, wish in enumerate(wishes) if number * 10 in refuse}
    return calls


def test_changes_that_have_no_code_in_common_are_built_once() -> None:
    assert built([replaced(number * 10, number * 10 + 5, "x") for number in range(1000)]) == 1


def test_a_change_that_cannot_be_made_is_found_by_halves() -> None:
    assert built([replaced(number * 10, number * 10 + 5, "x") for number in range(1000)], frozenset((770,))) < 30


def test_a_change_that_many_findings_ask_for_is_built_once() -> None:
    assert built([(*replaced(0, 5, "x"), *replaced(10, 15, "y"))] * 1000) == 1


def test_equal_changes_of_several_findings_are_built_once_more() -> None:
    assert built([(*replaced(0, 5, "x"), *replaced(10, 15, "y")) for _ in range(1000)]) == 2


def test_what_is_refused_of_a_shared_change_is_refused_of_all_who_ask_for_it() -> None:
    shared = replaced(0, 5, "x")

    def build(rewrites: Sequence[Rewrite]) -> list[TextEdit]:
        if shared[0] in rewrites:
            raise ValueError("by design")
        return []

    agreed = agree([shared, replaced(10, 15, "y"), shared], build)
    assert set(agreed.refused) == {0, 2} and agreed.rewrites == replaced(10, 15, "y")
