"""Where a project compares the name of a group's backend."""

from __future__ import annotations

import ast

from torchlift.project import Collector, Project
from torchlift.view import ModuleView

_GET_BACKEND = frozenset({"torch.distributed.get_backend"})


def _collect(view: ModuleView) -> tuple[int, ...] | None:
    lines: list[int] = []
    for use in view.uses(_GET_BACKEND):
        if use.call is None or use.kind != "call":
            continue
        parent = view.parent(use.call)
        if isinstance(parent, ast.Compare):
            lines.append(parent.lineno)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            for binding in view.scope_at(parent).bindings.get(parent.targets[0].id, ()):
                if binding.value is use.call:
                    lines += [
                        read.lineno for read, _ in view.reads_of(binding) if isinstance(view.parent(read), ast.Compare)
                    ]
    return tuple(sorted(set(lines))) or None


BACKEND_COMPARISONS = Collector("distributed.backend_comparisons", ("get_backend",), _collect)
"""Rules that call `backend_comparisons` list it among their collectors."""


def backend_comparisons(project: Project) -> list[str]:
    """`path:line` of every comparison with the result of `get_backend()`."""
    return [f"{path}:{line}" for path, lines in sorted(project.records(BACKEND_COMPARISONS).items()) for line in lines]
