"""What a project does with process groups that decides whether binding a device at init is harmless before torch 2.15."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlift.project import Collector, Project
from torchlift.view import ModuleView

_POINT_TO_POINT = frozenset(f"torch.distributed.{name}" for name in ("isend", "irecv", "send", "recv"))
_HELPERS = frozenset({"torch.distributed._new_process_group_helper"})
_GROUPS = frozenset({"torch.distributed.new_group"})


@dataclass(frozen=True)
class GroupRecord:
    """Lines of one file with code that an eagerly created communicator can hang; see `sensitive_place`."""

    lines: tuple[tuple[int, str], ...]


def _collect(view: ModuleView) -> GroupRecord | None:
    lines: list[tuple[int, str]] = []
    for use in view.uses(_POINT_TO_POINT | _HELPERS | _GROUPS):
        name = use.target.rpartition(".")[2]
        if use.kind in {"import", "string"}:
            continue
        if use.target in _POINT_TO_POINT:
            if use.call is not None:
                lines.append((use.node.lineno, f"unbatched `{name}`"))
        elif use.target in _HELPERS:
            lines.append((use.node.lineno, f"`{name}`"))
        elif use.call is not None and any(keyword.arg == "use_local_synchronization" for keyword in use.call.keywords):
            lines.append((use.node.lineno, "`new_group(use_local_synchronization=...)`"))
        elif use.call is not None and any(isinstance(ancestor, ast.If) for ancestor in view.ancestors(use.call)):
            lines.append((use.node.lineno, "a conditional `new_group`"))
    return GroupRecord(tuple(lines)) if lines else None


COLLECTOR = Collector(
    "distributed.groups", ("isend", "irecv", "send", "recv", "new_group", "_new_process_group_helper"), _collect
)


def sensitive_place(project: Project) -> str | None:
    """The first place that may hang when a legacy NCCL group is created eagerly, as `what at path:line`.

    Source: torch 2.10-2.15 binaries ("In eager initialization mode, unbatched P2P ops are treated as independent
    collective ops, and are thus serialized"), pytorch#153960, open-instruct#1311, DeepSpeed#7266; read 2026-11-21.
    """
    for path, record in sorted(project.records(COLLECTOR).items()):
        assert isinstance(record, GroupRecord)
        line, what = min(record.lines)
        return f"{what} at {path}:{line}"
    return None
