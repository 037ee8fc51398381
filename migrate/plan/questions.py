"""The questions of a plan, each with what its answers lead to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from torchlift.finding import DeleteStatement, Finding
from torchlift.migrate.plan.counting import Found, gone_in, left_in
from torchlift.migrate.plan.folders_of_tests import tests_by_folder
from torchlift.migrate.plan.report import OtherReader, PlannedAnswer, PlannedArtifact, Question, Unlocked
from torchlift.migrate.result import RunResult
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.torchscript_intent import UNDECIDED

_CAPTURES = frozenset({"TL101", "TL102"})


def go(number: int) -> str:
    """`goes` or `go`, for so many."""
    return "goes" if number == 1 else "go"


def counted(number: int, noun: str) -> str:
    """`1 hint`, `2 hints`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def what_it_decides(question: Question) -> str:
    """What hangs on a question, as the words after it."""
    if not question.decides:
        return "chooses between fixes"
    return (
        f"decides {counted(question.decides, 'finding')} that {'has' if question.decides == 1 else 'have'} no fix yet"
    )


def ranked(questions: Sequence[Question]) -> tuple[Question, ...]:
    """What settles most comes first, but for the question of support, without which no other one arises."""
    return tuple(sorted(questions, key=lambda question: (question.about != "support", -question.decides)))


def support_question(found: Sequence[Found], gone: Unlocked) -> Question:
    """Whether anybody still needs TorchScript.

    Args:
        found: what is about TorchScript in the project.
        gone: what goes without it.
    """
    number = gone.roots + gone.hints
    fixable = sum(item.finding.fix is not None for item in found)
    parts = [counted(gone.roots, "root"), counted(gone.hints, "hint")]
    how = f"{gone.safe} by safe fixes, {gone.review} after review"
    effort = gone.effort
    lines = f"{counted(effort.files, 'file')}, +{effort.added} -{effort.removed} lines"
    also = f", and {counted(gone.options, 'option')} that chose TorchScript with them" if gone.options else ""
    drop = f"{' and '.join(parts)} go, {how}{also} ({lines})."
    if not number:
        drop = "no fix follows from it alone."
    become = "becomes" if len(found) == 1 else "become"
    keep = f"nothing is rewritten; {counted(len(found), 'finding')} {become} a note for each artifact."
    return Question(
        "support",
        "Does anybody still script, trace or load TorchScript from this project, in it or outside?",
        max(0, number - fixable),
        None,
        (
            PlannedAnswer("drop", ('support = "drop"',), drop, gone),
            PlannedAnswer("keep", ('support = "keep"',), keep, None),
        ),
    )


def files_with_undecided_tests(after: RunResult) -> frozenset[str]:
    """Files in which a test goes for review that tests nothing but scripting, as nobody said what becomes of it."""
    return frozenset(outcome.path for outcome in after.outcomes if any(map(_is_undecided, outcome.fixed)))


def _is_undecided(finding: Finding) -> bool:
    return UNDECIDED in (finding.help or "")


def tests_question(before: RunResult, after: RunResult, successors: RunResult) -> list[Question]:
    """What becomes of tests that test nothing but scripting; nothing where the answer makes no difference.

    Args:
        before: the project as it stands.
        after: the project without TorchScript, this question not answered: such tests are deleted, for review.
        successors: the files with such tests, where tests of the successor take their place.
    """
    paths = {outcome.path for outcome in successors.outcomes}
    deleted = replace(after, outcomes=tuple(outcome for outcome in after.outcomes if outcome.path in paths))
    if _texts(deleted) == _texts(successors):
        return []
    found = [item for item in left_in(before) if item.finding.path in paths]
    sure = sum(_is_undecided(finding) for outcome in deleted.outcomes for finding in outcome.fixed)
    answers = []
    for answer, result in (("delete", deleted), ("successor", successors)):
        gone = gone_in(result, found)
        if answer == "delete":  # it is the answer that makes them safe
            gone = replace(gone, safe=gone.safe + min(sure, gone.review), review=max(0, gone.review - sure))
        folders = tests_by_folder(before, found, result)
        numbers = [sum(getattr(row, name) for row in folders) for name in ("deleted", "changed")]
        first, second = numbers
        effect = f"{counted(first, 'test function')} {go(first)}, {second} {go(second)} on without TorchScript."
        answers.append(PlannedAnswer(answer, (f'tests = "{answer}"',), effect, gone))
    text = "What becomes of a test that tests nothing but scripting and has no twin without?"
    return [Question("tests", text, sure, None, tuple(answers))]


def _texts(result: RunResult) -> dict[str, str | None]:
    return {outcome.path: outcome.new_text for outcome in result.outcomes}


def speed_question(after: RunResult) -> list[Question]:
    """What takes the place of scripting and tracing for speed; nothing where no fix does.

    Args:
        after: the project without TorchScript.
    """
    places = [
        finding
        for outcome in after.outcomes
        for finding in outcome.fixed
        if finding.code in _CAPTURES and not is_test_file(outcome.path) and not _is_mere_check(finding)
    ]
    if not places:
        return []
    number = counted(len(places), "place")
    eager = f"the plain code runs in {number}."
    compiled = f"`torch.compile` takes the place of scripting in {number}, and compiles anew for new shapes."
    answers = (
        PlannedAnswer("eager", ('speed = "eager"',), eager, None),
        PlannedAnswer("compile", ('speed = "compile"',), compiled, None),
    )
    return [Question("speed", "Was the code scripted for speed, so that it has to be compiled?", 0, None, answers)]


def _is_mere_check(finding: Finding) -> bool:
    """Whether a capture went whose value nothing used."""
    return finding.fix is not None and all(isinstance(item, DeleteStatement) for item in finding.fix.rewrites)


def artifact_questions(
    artifacts: Sequence[PlannedArtifact], readers: Sequence[OtherReader], left: Sequence[Found]
) -> list[Question]:
    """One question for each artifact of which something is left when support is dropped.

    Args:
        artifacts: those of the project.
        readers: programs of the project in other languages that read TorchScript.
        left: what is left without TorchScript.
    """
    questions = []
    for artifact in artifacts:
        about = [item for item in left if any(group.artifact == artifact.name for group in item.finding.groups)]
        places = {item.place for item in about}
        number = len(about) + sum(item.finding.waits_for in places for item in left)
        if not about:
            continue
        keep = f"keep = [{json.dumps(artifact.name, ensure_ascii=False)}]"
        effect = "it stays TorchScript, with what it reaches; its findings become one note."
        known = [f"{title} reads TorchScript at {places}" for title, places in _by_title(readers).items()]
        known += [f"{place} uploads it" for place in artifact.uploads]
        if not artifact.writers:
            known.append(
                "nothing in the project writes it: `torchlift convert FILE` makes a .pt2 of it, without its source"
            )
        seen = f" {'; '.join(known)}." if known else ""
        text = f"Does {artifact.name} stay TorchScript, for readers outside this project or in another language?{seen}"
        questions.append(
            Question("artifact", text, number, artifact.name, (PlannedAnswer("keep", (keep,), effect, None),))
        )
    return questions


def _by_title(readers: Sequence[OtherReader]) -> dict[str, str]:
    """Places by who reads there, C++ first."""
    places: dict[str, list[str]] = {}
    for reader in sorted(readers, key=lambda reader: not reader.title.startswith("C++")):
        places.setdefault(reader.title, []).append(reader.place)
    return {title: ", ".join(found) for title, found in places.items()}
