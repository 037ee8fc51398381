"""The questions of a plan, each with what its answers lead to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from torchlift.migrate.plan.counting import Found, gone_in, left_in
from torchlift.migrate.plan.folders_of_tests import tests_by_folder
from torchlift.migrate.plan.report import PlannedAnswer, PlannedArtifact, Question, Unlocked
from torchlift.migrate.result import RunResult
from torchlift.torchscript_intent import Tests


def counted(number: int, noun: str) -> str:
    """`1 hint`, `2 hints`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
    drop = f"{' and '.join(parts)} go, {how} ({lines})."
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


def tests_question(before: RunResult, after: RunResult, tried: Mapping[Tests, RunResult]) -> list[Question]:
    """What becomes of tests that test nothing but scripting; nothing where the answer makes no difference.

    Args:
        before: the project as it stands.
        after: the project without TorchScript, this question not answered.
        tried: the files of tests alone, by answer.
    """
    if not tried:
        return []
    paths = {outcome.path for result in tried.values() for outcome in result.outcomes}
    found = [item for item in left_in(before) if item.finding.path in paths]
    texts = {answer: _texts(result) for answer, result in tried.items()}
    if texts["delete"] == texts["successor"]:
        return []
    left = sum(item.finding.path in paths for item in left_in(after))
    answers, decides = [], 0
    for answer, result in tried.items():
        gone = gone_in(result, found)
        folders = tests_by_folder(before, found, result)
        deleted, changed = (sum(getattr(row, name) for row in folders) for name in ("deleted", "changed"))
        effect = f"{counted(deleted, 'test function')} go, {changed} go on without TorchScript."
        answers.append(PlannedAnswer(answer, (f'tests = "{answer}"',), effect, gone))
        decides = max(decides, left - len(left_in(result)))
    text = "What becomes of a test that tests nothing but scripting and has no twin without?"
    return [Question("tests", text, max(0, decides), None, tuple(answers))]


def _texts(result: RunResult) -> dict[str, str | None]:
    return {outcome.path: outcome.new_text for outcome in result.outcomes}


def artifact_questions(artifacts: Sequence[PlannedArtifact], left: Sequence[Found]) -> list[Question]:
    """One question for each artifact of which something is left when support is dropped.

    Args:
        artifacts: those of the project.
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
        text = f"Does {artifact.name} stay TorchScript, for readers outside this project or in another language?"
        questions.append(
            Question("artifact", text, number, artifact.name, (PlannedAnswer("keep", (keep,), effect, None),))
        )
    return questions
