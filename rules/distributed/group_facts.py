"""What a project does with process groups that decides whether binding a device at init is harmless before torch 2.15."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlift.project import Collector, Project
from torchlift.rules.distributed.rank_condition import test_on_own_rank
from torchlift.view import ModuleView

_POINT_TO_POINT = frozenset(f"torch.distributed.{name}" for name in ("isend", "irecv", "send", "recv"))
_HELPERS = frozenset({"torch.distributed._new_process_group_helper"})
_GROUPS = frozenset({"torch.distributed.new_group"})


@dataclass(frozen=True)
class GroupRecord:
    """Lines of one file with code that an eagerly created communicator can hang; see `sensitive_place`."""

    lines: tuple[tuple[int, str], ...]


def point_to_point_that_may_hang(view: ModuleView) -> Iterator[tuple[int, str]]:
    """Lines of one file with point-to-point operations that an eager group may hang, and what they are.

    Every unbatched operation counts: which of them pair up is not looked at here.
    """
    for use in view.uses(_POINT_TO_POINT):
        if use.kind == "call":
            yield use.node.lineno, f"unbatched `{use.target.rpartition('.')[2]}`"


def _collect(view: ModuleView) -> GroupRecord | None:
    lines = list(point_to_point_that_may_hang(view))
    for use in view.uses(_HELPERS | _GROUPS):
        if use.kind in {"import", "string"}:
            continue
        if use.target in _HELPERS:
            lines.append((use.node.lineno, "`_new_process_group_helper`"))
        elif use.call is not None and any(_is_local_synchronization(keyword) for keyword in use.call.keywords):
            lines.append((use.node.lineno, "`new_group(use_local_synchronization=True)`"))
        elif use.call is not None and test_on_own_rank(view, use.call) is not None:
            lines.append((use.node.lineno, "a `new_group` that only some ranks call"))
    return GroupRecord(tuple(lines)) if lines else None


def _is_local_synchronization(keyword: ast.keyword) -> bool:
    constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else True
    return keyword.arg == "use_local_synchronization" and bool(constant)


COLLECTOR = Collector(
    "distributed.groups",
    ("isend", "irecv", "send & distributed", "recv & distributed", "new_group", "_new_process_group_helper"),
    _collect,
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
