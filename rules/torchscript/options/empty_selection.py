"""Commands and settings of pytest that name a marker of tests of scripting which no test has any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlift.finding import Finding
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Project
from torchlift.rules.rule import TextContext
from torchlift.source import Span
from torchlift.view.text import TextView

_NAME = r"\w*(?:jit|torch_?script|scripting|scriptable)\w*"
_COMMAND = lazy_pattern(
    rf"\bpy\.?test\b[^\n|;&]*?\s-m[ =]\s*(?P<quote>[\"']?)(?P<mark>{_NAME})(?P=quote)(?=[\s\"']|\Z)"
)
_DECLARED = lazy_pattern(r"^markers\s*=\s*\[(?P<inside>[^\]]*)\]", re.MULTILINE)
_MARKER = lazy_pattern(rf"[\"'](?P<mark>{_NAME})\s*(?::[^\"']*)?[\"']")


def empty_selections(view: TextView, context: TextContext, code: str) -> Iterator[Finding]:
    """Findings in one script, CI configuration or pyproject.toml."""
    if view.kind == "toml":
        for declared in _DECLARED.finditer(view.code):
            for marker in _MARKER.finditer(declared["inside"]):
                if not _is_had(context.project, marker["mark"]):
                    start = declared.start("inside") + marker.start()
                    message = f"The marker `{marker['mark']}` is declared, and no test has it any more."
                    yield Finding(code, view.path, Span(start, start + len(marker[0])), message, help="Delete it.")
        return
    for command in _COMMAND.finditer(view.code):
        if not _is_had(context.project, command["mark"]):
            yield Finding(
                code,
                view.path,
                Span(*command.span()),
                f"No test has the marker `{command['mark']}` any more, so this runs none, and pytest exits with 5.",
                help="Delete the command, and the step or job that does nothing else.",
            )


def _is_had(project: Project, mark: str) -> bool:
    """Whether a test, or a line that gives markers to tests, names a marker."""
    named = re.compile(rf"\bmark\s*\.\s*{mark}\b|[\"']{mark}[\"']".encode())
    return any(named.search(project.data(path)) for path in project.files_holding(mark))
