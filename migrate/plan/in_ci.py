"""A plan as CI systems show it: questions without a place, and what is left where it stands."""

from __future__ import annotations

from pathlib import Path

from torchlift.migrate.plan.questions import counted, what_it_decides
from torchlift.migrate.plan.report import PlanReport, Question
from torchlift.migrate.tell.report.paths import shown_path
from torchlift.pipelines import junit
from torchlift.pipelines.github import annotation
from torchlift.pipelines.junit import JunitCase

_TITLE = "torchlift plan"


def as_annotations(plan: PlanReport, root: Path) -> str:
    """Workflow commands of GitHub: what failed, questions, then places, with paths as seen from the working directory."""
    lines = [annotation("error", {"title": _TITLE}, failure) for failure in plan.failures]
    if not plan.has_work:
        return "".join(lines)
    lines += [annotation("notice", {"title": _TITLE}, _asked(question)) for question in plan.questions]
    if plan.fixable:
        lines.append(annotation("notice", {"title": _TITLE}, _automatic(plan)))
    for row in plan.left:
        path, _, line = row.place.rpartition(":")
        where: dict[str, object] = {"title": row.code, "file": shown_path(root, path), "line": line}
        lines.append(annotation("warning", where, row.message))
    return "".join(lines)


def as_junit(plan: PlanReport, root: Path) -> str:
    """JUnit XML: a failed case is a question, a place that is left, or what a run of `torchlift migrate` would do."""
    suites = []
    if plan.failures:
        suites.append((_TITLE, [JunitCase("read the project", _TITLE, "error", text, text) for text in plan.failures]))
    asked = [
        JunitCase(q.text, "questions", "failure", f"Nobody said {_choice(q)} yet.", _asked(q), q.about)
        for q in plan.questions
    ]
    if asked and plan.has_work:
        suites.append(("questions", asked))
    if plan.fixable and plan.has_work:
        text = _automatic(plan)
        suites.append(("fixes", [JunitCase("what has a fix is fixed", "fixes", "failure", text, text, "fixes")]))
    left = []
    for row in plan.left:
        path, _, line = row.place.rpartition(":")
        seen = shown_path(root, path)
        text = f"{seen}:{line}: {row.message}"
        left.append(JunitCase(f"{row.code} {row.message}", seen, "failure", row.message, text, row.code))
    if left and plan.has_work:
        suites.append(("left", left))
    return junit.document(suites, JunitCase("plan", "torchlift"))


def _asked(question: Question) -> str:
    answers = "\n".join(f"{answer.lines[0]}: {answer.effect}" for answer in question.answers)
    return f"{question.text} It {what_it_decides(question)}.\n{answers}"


def _choice(question: Question) -> str:
    return " or ".join(f"`{answer.lines[0]}`" for answer in question.answers)


def _automatic(plan: PlanReport) -> str:
    have = "has" if plan.fixable == 1 else "have"
    return f"{counted(plan.fixable, 'finding')} about TorchScript {have} a fix: `torchlift migrate --diff` shows it."
