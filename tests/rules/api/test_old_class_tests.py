"""Old classes that somebody asks for keep being made until the question names the base class."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import analyse_files

MADE = {
    "autocast": ("torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")'),
    "GradScaler": ("torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")'),
}
QUESTIONS = [
    "isinstance(value, torch.cuda.amp.{0})",
    "isinstance(value, (int, torch.cuda.amp.{0}))",
    "isinstance(value, int | torch.cuda.amp.{0})",
    "type(value) is torch.cuda.amp.{0}",
    "issubclass(type(value), torch.cuda.amp.{0})",
]


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_object_is_made_anew_only_together_with_the_question_for_its_class(
    tmp_path: Path, name: str, question: str
) -> None:
    old, new = MADE[name]
    maker = f"import torch\n\n\ndef make():\n    return {old}\n"
    files = {"make.py": maker, "ask.py": f"import torch\n\n\ndef ask(value):\n    return {question.format(name)}\n"}
    safe = analyse_files(tmp_path, files)
    assert all(outcome.new_text is None for outcome in safe.outcomes)
    (waiting,) = (finding for outcome in safe.outcomes if outcome.path == "make.py" for finding in outcome.left)
    assert waiting.help is not None and waiting.help.startswith("Not rewritten: ask.py:5 asks for the old class")
    everything = {o.path: o.new_text for o in analyse_files(tmp_path, files, unsafe=True).outcomes}
    assert everything["make.py"] == maker.replace(old, new)
    assert everything["ask.py"] == files["ask.py"].replace("torch.cuda.amp", "torch.amp")


def test_what_only_a_with_statement_gets_to_see_is_not_held_back(tmp_path: Path) -> None:
    source = (
        "import torch\n\n\ndef f(x, value):\n    with torch.cuda.amp.autocast():\n"
        "        return isinstance(value, torch.cuda.amp.autocast)\n"
    )
    (outcome,) = analyse_files(tmp_path, {"a.py": source}).outcomes
    assert outcome.new_text == source.replace("torch.cuda.amp.autocast()", 'torch.amp.autocast("cuda")')


@pytest.mark.parametrize(
    ("question", "waits"),
    [
        ("isinstance(value, (torch.cuda.amp.GradScaler, torch.amp.GradScaler))", False),
        ("type(value) in (torch.amp.GradScaler, torch.cuda.amp.GradScaler)", False),
        ("isinstance(value, torch.cuda.amp.GradScaler if old else torch.amp.GradScaler)", True),
        ("isinstance(value, (torch.cuda.amp.GradScaler,) + ((torch.amp.GradScaler,) if new else ()))", True),
        ("isinstance(value, torch.cuda.amp.GradScaler) and isinstance(old, torch.amp.GradScaler)", True),
        ("isinstance(value, (torch.cuda.amp.GradScaler, torch.amp.autocast))", True),
        ("KINDS\n\n\nKINDS = (torch.cuda.amp.GradScaler, dict)", True),
        ("isinstance(value, torch.cuda.amp.GradScaler) == isinstance(old, torch.amp.GradScaler)", True),
    ],
)
def test_a_question_that_lets_the_new_class_in_holds_nothing_back(question: str, waits: bool, tmp_path: Path) -> None:
    ask = f"import torch\n\n\ndef ask(value, old, new):\n    return {question}\n"
    maker = "import torch\n\n\ndef make():\n    return torch.cuda.amp.GradScaler()\n"
    outcomes = {
        outcome.path: outcome for outcome in analyse_files(tmp_path, {"make.py": maker, "ask.py": ask}).outcomes
    }
    assert (outcomes["make.py"].new_text is None) == waits
    assert ("ask.py" in outcomes) == waits


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.amp.GradScaler(enabled=not isinstance(s, torch.amp.GradScaler))",
        "register(torch.cuda.amp.GradScaler, torch.amp.GradScaler)",
        "partial(torch.cuda.amp.GradScaler, enabled=isinstance(s, torch.amp.GradScaler))",
    ],
)
def test_a_call_beside_a_question_for_the_new_class_is_told(line: str, tmp_path: Path) -> None:
    (outcome,) = analyse_files(tmp_path, {"a.py": f"import torch\n\n\ndef f(s):\n    return {line}\n"}).outcomes
    assert [item.code for item in (*outcome.left, *outcome.fixed)] == ["TL428"]
