"""Fixes that are kept or left out together, and which of them a line of a changed file points at."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from torchlift.finding import AddImport, DroppedFix, Finding, Rewrite
from torchlift.lazy_dataclass import dataclass
from torchlift.migrate.fix.line_moves import LineMoves
from torchlift.migrate.fix.settle import components
from torchlift.migrate.fix.withheld import Withheld
from torchlift.source import SourceText


@dataclass(frozen=True)
class Cluster:
    """Fixes that are applied together or not at all; what they make possible follows them.

    Attributes:
        findings: those they belong to; the spans are in the files as they were read.
    """

    findings: tuple[Finding, ...]

    def rewrites(self) -> Iterator[tuple[str, Rewrite]]:
        """What they change, with the file."""
        for finding in self.findings:
            if finding.fix is not None:
                yield from ((finding.path, rewrite) for rewrite in finding.fix.rewrites)
                yield from ((other.path, other.rewrite) for other in finding.fix.elsewhere)


def clusters_of(first_fixes: Mapping[str, Sequence[Finding]]) -> list[Cluster]:
    """All fixes as clusters, those of one rule in a row: what is wrong with one is likely wrong with its neighbours."""
    clusters = []
    taken = set()
    for members in components(first_fixes):
        taken.update(members)
        clusters.append(Cluster(tuple(first_fixes[path][index] for path, index in members)))
    for path, findings in first_fixes.items():
        clusters += [Cluster((one,)) for index, one in enumerate(findings) if (path, index) not in taken]
    return sorted(clusters, key=lambda cluster: min((finding.code, finding.sort_key()) for finding in cluster.findings))


def withheld(clusters: Sequence[Cluster], dropped: Mapping[int, DroppedFix]) -> Withheld:
    """The clusters `dropped` as fixes to leave out."""
    by_path: dict[str, list[tuple[Finding, DroppedFix]]] = {}
    for index, why in dropped.items():
        for finding in clusters[index].findings:
            by_path.setdefault(finding.path, []).append((finding, why))
    return Withheld(by_path)


class FixedFile:
    """One file before and after some fixes, and the lines that they change in it.

    Args:
        path: relative to the project.
        before: its text as it was read.
        after: its text after the fixes; None if it goes.
        clusters: all fixes.
    """

    def __init__(self, path: str, before: SourceText, after: SourceText | None, clusters: Sequence[Cluster]) -> None:
        self.path = path
        self.before = before
        self._after = after
        self._clusters = clusters

    @cached_property
    def _lines(self) -> list[tuple[int, range, str]]:
        """Cluster, lines as they were, and the statement where it is an import to add."""
        found = []
        for index, cluster in enumerate(self._clusters):
            for path, rewrite in cluster.rewrites():
                if path == self.path:
                    span = rewrite.anchor if isinstance(rewrite, AddImport) else rewrite.span
                    first, last = self.before.location(span.start)[0], self.before.location(span.end)[0]
                    statement = rewrite.statement if isinstance(rewrite, AddImport) else ""
                    found.append((index, range(first, last + 1), statement))
        return found

    @cached_property
    def _moves(self) -> LineMoves:
        return LineMoves(self.before, self._after or SourceText(""))

    @property
    def all_clusters(self) -> frozenset[int]:
        """Those that change the file."""
        return frozenset(index for index, _, _ in self._lines)

    def changing(self, lines: range) -> frozenset[int]:
        """Clusters that change any of the `lines` of the file as it was read, imports apart."""
        return frozenset(
            index for index, own in self.changed_lines() if own.start < lines.stop and lines.start < own.stop
        )

    def changed_lines(self) -> Iterator[tuple[int, range]]:
        """Each cluster with lines of the file as it was read that it changes, imports apart."""
        return ((index, lines) for index, lines, statement in self._lines if not statement)

    def import_at(self, line: int) -> str:
        """The import that fixes added as this line of the changed file; empty if they did not."""
        if self._after is None or self._moves.above(line) is None:
            return ""
        text = self._after.line(line).strip()
        return text if self.adding(text) else ""

    def adding(self, statement: str) -> frozenset[int]:
        """Clusters that each add an import."""
        return frozenset(index for index, _, added in self._lines if added and added.strip() == statement)

    def behind(self, line: int) -> list[frozenset[int]]:
        """Clusters that a line of the changed file points at, which is no import that was added; the likeliest first."""
        if self._after is None:
            return []
        above = self._moves.above(line)
        if above is not None:
            return [self.changing(range(above, above + 1))]
        twin = self._moves.twin(line)
        exact = [self.changing(range(twin, twin + 1))] if twin is not None else []
        return [*exact, self.changing(self._moves.before(line))]


def functions_in(text: str) -> list[tuple[str, range, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions with their qualified names, as Python gives them, and their lines, decorators included; outer ones first."""
    found = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                found.append((prefix + child.name, range(first, (child.end_lineno or first) + 1), child))
                visit(child, f"{prefix}{child.name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")
            else:
                visit(child, prefix)

    try:
        visit(ast.parse(text), "")
    except (SyntaxError, ValueError, RecursionError):
        return []
    return found
