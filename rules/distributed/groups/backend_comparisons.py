"""Where a project compares the name of a group's backend."""

from __future__ import annotations

import ast

from torchlift.project import Collector, Project
from torchlift.rules.distributed.groups.group_identity import is_default_group
from torchlift.view import ModuleView

_GET_BACKEND = frozenset({"torch.distributed.get_backend"})
# The answer "undefined" makes a difference only where one of the backends that a group without a name has is asked for.
_NAMES = frozenset({"nccl", "gloo", "mpi"})
_CONSTANTS = frozenset(f"torch.distributed.Backend.{name.upper()}" for name in _NAMES)


def _collect(view: ModuleView) -> tuple[int, ...] | None:
    lines: list[int] = []
    for use in view.uses(_GET_BACKEND):
        if use.call is None or use.kind != "call" or not _asks_default_group(view, use.call):
            continue
        parent = view.parent(use.call)
        if _is_telling(view, parent):
            lines.append(use.call.lineno)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            for binding in view.scope_at(parent).bindings.get(parent.targets[0].id, ()):
                if binding.value is use.call:
                    lines += [read.lineno for read, _ in view.reads_of(binding) if _is_telling(view, view.parent(read))]
    return tuple(sorted(set(lines))) or None


def _asks_default_group(view: ModuleView, call: ast.Call) -> bool:
    """Whether a `get_backend` call asks for the backend of the group that `init_process_group` makes."""
    group = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "group"), None)
    return is_default_group(view, group)


def _is_telling(view: ModuleView, test: ast.AST | None) -> bool:
    """Whether `test` compares with the name of a backend, or a constant for it, which "undefined" is not."""
    if not isinstance(test, ast.Compare):
        return False
    for side in (test.left, *test.comparators):
        for item in side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else (side,):
            if isinstance(item, ast.Constant) and isinstance(item.value, str) and item.value.lower() in _NAMES:
                return True
            if view.possible_name(item) in _CONSTANTS:
                return True
    return False


BACKEND_COMPARISONS = Collector("distributed.backend_comparisons", ("get_backend",), _collect)
"""Rules that call `backend_comparisons` list it among their collectors."""


def backend_comparisons(project: Project) -> list[str]:
    """`path:line` of every comparison of `get_backend()` of the default group that "undefined" changes."""
    return [f"{path}:{line}" for path, lines in sorted(project.records(BACKEND_COMPARISONS).items()) for line in lines]
