"""Places in source text: found from what an instruction knows, and tied to text that outlives edits elsewhere."""

from __future__ import annotations

import sys
import textwrap

import pytest

from torchlift.evidence.places import PlacesOf, SourcePlace, text_sha

TEXT = """import torch

@torch.jit.script
def f(x):
    return x


class Exporter:
    def run(self, model):
        "ä"; traced = torch.jit.trace(model, torch.ones(2,
            3))
        def late():
            return torch.jit.trace(model, torch.ones(2,
            3))
        return traced, late()
"""


def place(text: str, line: int, *rest: int) -> SourcePlace:
    found = PlacesOf(text).at(line, *rest)
    assert found is not None
    return found


def test_a_call_is_found_by_the_bytes_of_an_instruction_and_told_in_characters() -> None:
    found = place(TEXT, 10, 23, 11, 15)
    assert (found.line, found.column, found.end_line, found.end_column) == (10, 23, 11, 16)
    assert found.qualname == "Exporter.run"


def test_the_end_alone_is_enough_where_the_interpreter_begins_at_the_method() -> None:
    assert place(TEXT, 10, 33, 11, 15) == place(TEXT, 10, 23, 11, 15)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have columns since Python 3.11")
def test_a_running_frame_leads_to_its_call() -> None:
    seen: list[SourcePlace | None] = []

    def spy(*_: object) -> None:
        frame = sys._getframe(1)
        positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        seen.append(PlacesOf(text).at(positions[0], positions[2], positions[1], positions[3]))

    text = "def g():\n    spy(1); spy(\n  2)\n\n@spy\ndef h(): pass\ng()\n"
    exec(compile(text, "example.py", "exec"), {"spy": spy})
    assert [(found.line, found.column, found.qualname) for found in seen if found] == [
        (5, 2, ""),
        (2, 5, "g"),
        (2, 13, "g"),
    ]


def test_two_places_of_one_text_are_told_apart_by_their_order() -> None:
    first, second = place(TEXT, 10, 23, 11, 15), place(TEXT, 13, 19, 14, 14)
    assert (first.qualname, second.qualname) == ("Exporter.run", "Exporter.run.late")
    assert first.scope_sha == second.scope_sha
    assert (first.nth, second.nth) == (0, 1) if first.text_sha == second.text_sha else (0, 0)


def test_a_decorator_stands_for_the_whole_definition() -> None:
    before, after = place(TEXT, 3), place(TEXT.replace("return x", "return x + 1"), 3)
    assert before.line == 3
    assert before.column == 2
    assert before.text_sha != after.text_sha
    assert PlacesOf(TEXT).definition("f") == (3, before.text_sha)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "# a comment\n\n" + text,
        lambda text: text.replace("model):", "model):   "),
        lambda text: "if True:\n" + textwrap.indent(text, "    "),
        lambda text: text.replace("class Exporter", "def other():\n    pass\n\n\nclass Exporter"),
    ],
)
def test_edits_elsewhere_leave_the_hashes_of_call_and_function(edit) -> None:  # type: ignore[no-untyped-def]
    def hashes(text: str) -> set[tuple[str, str]]:
        found = [place for place in PlacesOf(text).all() if place.qualname.endswith("run")]
        return {(place.text_sha, place.scope_sha) for place in found}

    assert hashes(edit(TEXT)) == hashes(TEXT) != set()


def test_an_edit_of_the_function_around_changes_its_hash_and_not_the_calls() -> None:
    edited = place(TEXT.replace("return traced", "return traced, 1"), 10, 23, 11, 15)
    original = place(TEXT, 10, 23, 11, 15)
    assert edited.text_sha == original.text_sha
    assert edited.scope_sha != original.scope_sha


def test_other_indentation_inside_is_another_text() -> None:
    one = "def f():\n    if a:\n        b()\n    c()\n"
    assert text_sha(one) != text_sha(one.replace("    c()", "        c()"))


def test_without_columns_a_line_is_enough_where_one_call_on_it_has_the_name() -> None:
    found = PlacesOf(TEXT).on_line(10, "trace")
    assert found == place(TEXT, 10, 23, 11, 15)
    assert PlacesOf("trace(1); trace(2)\n").on_line(1, "trace") is None
    assert PlacesOf(TEXT).at(10) is None
