"""Which groups of fixes change code that ran in a test: by what was recorded of it, and by what was noted of its functions."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from torchlift.evidence.known import KnownRuns, KnownSite
from torchlift.migrate.verification.clusters import Cluster, FixedFile, functions_in
from torchlift.migrate.verification.search import Groups
from torchlift.project import Project

Function = tuple[str, str]
"""Module and qualified name; no name for what runs as the module is imported."""


class ChangedCode:
    """What the fixes change, as it was before.

    Args:
        clusters: all fixes.
        project: the project as it was read.
        modules: file by name of the modules that the command imports.
        folder: the project in the tree that they are imported from.
    """

    def __init__(self, clusters: Sequence[Cluster], project: Project, modules: Mapping[str, str], folder: str) -> None:
        self._clusters = clusters
        self._project = project
        self._modules = {os.path.realpath(file): name for name, file in modules.items()}
        self._folder = folder
        self._files: dict[str, FixedFile] = {}

    @cached_property
    def functions(self) -> Sequence[frozenset[Function]]:
        """The functions of imported modules that each cluster changes."""
        found: list[set[Function]] = [set() for _ in self._clusters]
        for path in {path for cluster in self._clusters for path, _ in cluster.rewrites()}:
            module = self._modules.get(os.path.realpath(os.path.join(self._folder, path)))
            if module is None:
                continue
            file = self._file(path)
            inside = functions_in(file.before.text)
            for cluster, lines in file.changed_lines():
                around = [name for name, within, _ in inside if lines.start in within]
                found[cluster].add((module, around[-1] if around else ""))
        return [frozenset(functions) for functions in found]

    def run_in(self, tests: Collection[str], seen: Collection[tuple[str, str, str]]) -> Groups:
        """Clusters that change a function that one of the tests ran; `seen` are tests with module and function."""
        ran = {(module, function) for test, module, function in seen if test in tests}
        return frozenset(index for index, functions in enumerate(self.functions) if not ran.isdisjoint(functions))

    def recorded_in(self, tests: Collection[str], runs: KnownRuns) -> Groups:
        """Clusters that change a place that was recorded in one of the tests."""
        found: set[int] = set()
        for known in runs:
            if known.place is not None and not _tests_of(known).isdisjoint(tests):
                found |= self._file(known.site.file).changing(range(known.place.line, known.place.end_line + 1))
        return frozenset(found)

    def _file(self, path: str) -> FixedFile:
        if path not in self._files:
            self._files[path] = FixedFile(path, self._project.source(path), None, self._clusters)
        return self._files[path]


def _tests_of(known: KnownSite) -> set[str]:
    return {*known.site.tests, *(test for value in known.site.values for call in value.calls for test in call.tests)}
