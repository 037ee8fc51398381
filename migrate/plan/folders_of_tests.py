"""Test functions that script, trace, save or load, by folder, and what becomes of them."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from torchlift.migrate.plan.counting import Found
from torchlift.migrate.plan.report import FolderOfTests
from torchlift.migrate.result import FileOutcome, RunResult
from torchlift.rules.analysis.places.purpose import is_test_file

_Functions = Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]


def tests_by_folder(before: RunResult, found: Sequence[Found], after: RunResult | None) -> tuple[FolderOfTests, ...]:
    """Folders with tests of scripting.

    Args:
        before: the project as it stands.
        found: what is about TorchScript there.
        after: the project without TorchScript, if it was tried.
    """
    changed = {outcome.path: outcome for outcome in after.outcomes} if after is not None else {}
    lines: dict[str, list[int]] = {}
    for item in found:
        if not item.is_hint and is_test_file(item.finding.path):
            lines.setdefault(item.finding.path, []).append(int(item.place.rpartition(":")[2]))
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for outcome in before.outcomes:
        if outcome.path in lines:
            row = _row(outcome, lines[outcome.path], changed.get(outcome.path))
            rows.setdefault(posixpath.dirname(outcome.path), []).append(row)
    return tuple(
        FolderOfTests(folder, len(files), *(sum(row[column] for row in files) for column in range(3)))
        for folder, files in sorted(rows.items())
    )


def _row(outcome: FileOutcome, lines: Sequence[int], after: FileOutcome | None) -> tuple[int, int, int]:
    """Test functions of one file: those with one of the lines in them, deleted ones, changed ones."""
    old = _functions(outcome.source.text)
    about = [
        name for name, node in old.items() if any(_first(node) <= line <= (node.end_lineno or 0) for line in lines)
    ]
    if after is None or after.new_text is None:
        return len(about), 0, 0
    new = _functions(after.new_text)
    renamed = sum(name not in old for name in new)  # what a fix adds to tests is a test under another name
    deleted = sum(name not in new for name in old) - renamed
    changed = sum(name in new and ast.dump(new[name]) != ast.dump(old[name]) for name in about)
    return len(about), deleted, changed + renamed


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _functions(text: str) -> _Functions:
    try:
        return dict(_named(ast.parse(text), ""))
    except (SyntaxError, ValueError, RecursionError):
        return {}


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _named(child, f"{prefix}{child.name}.")
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and child.name.startswith("test"):
            yield f"{prefix}{child.name}", child
