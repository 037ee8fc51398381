"""What a project does with process groups that decides whether binding a device at init is harmless before torch 2.15."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.analysis.project.same_program import in_one_program
from torchlift.rules.distributed.p2p.calls import OVERLAPPING
from torchlift.rules.distributed.ranks.rank_condition import condition_on_own_rank
from torchlift.view import ModuleView

_HELPERS = frozenset({"torch.distributed._new_process_group_helper"})
_GROUPS = frozenset({"torch.distributed.new_group"})


@dataclass(frozen=True)
class GroupRecord:
    """What one file has that an eagerly created communicator may hang; see `sensitive_place`.

    Attributes:
        lines: places that surely are of that kind.
        messages: whether it posts point-to-point operations without waiting, which have to be looked at in order.
    """

    lines: tuple[tuple[int, str], ...]
    messages: bool


def _collect(view: ModuleView) -> GroupRecord | None:
    lines: list[tuple[int, str]] = []
    for use in view.uses(_HELPERS | _GROUPS):
        if use.kind in {"import", "string"}:
            continue
        if use.target in _HELPERS:
            lines.append((use.node.lineno, "`_new_process_group_helper`"))
        elif use.call is not None and any(_is_local_synchronization(keyword) for keyword in use.call.keywords):
            lines.append((use.node.lineno, "`new_group(use_local_synchronization=True)`"))
        elif use.call is not None and condition_on_own_rank(view, use.call) is not None:
            lines.append((use.node.lineno, "a `new_group` that only some ranks call"))
    messages = any(use.kind not in {"import", "string"} for use in view.uses(OVERLAPPING))
    return GroupRecord(tuple(lines), messages) if lines or messages else None


def _is_local_synchronization(keyword: ast.keyword) -> bool:
    constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else True
    return keyword.arg == "use_local_synchronization" and bool(constant)


COLLECTOR = Collector(
    "distributed.groups",
    ("isend & distributed", "irecv & distributed", "new_group", "_new_process_group_helper"),
    _collect,
)


def sensitive_place(project: Project, path: str) -> str | None:
    """The first place that may hang when a legacy NCCL group is created eagerly, as `what at path:line`, of what a program may
    load together with the file at `path`.

    Point-to-point code counts if it hangs in one queue or cannot be worked out; see `p2p.findings`.
    Source: torch 2.10-2.15 binaries ("In eager initialization mode, unbatched P2P ops are treated as independent
    collective ops, and are thus serialized"), pytorch#153960, open-instruct#1311, DeepSpeed#7266; read 2026-11-21.
    """
    return next((said for place, said in project.once(_places) if in_one_program(project, path, place)), None)


def _places(project: Project) -> tuple[tuple[str, str], ...]:
    """All files with such places, each with the first."""
    from torchlift.rules.distributed.p2p.findings import lines_that_may_hang  # forty modules that few projects need

    found = []
    for path, record in sorted(project.records(COLLECTOR).items()):
        assert isinstance(record, GroupRecord)
        lines = list(record.lines)
        view = project.view(path) if record.messages else None
        if view is not None:
            lines += ((line, "point-to-point code") for line in lines_that_may_hang(view, project))
        if lines:
            line, what = min(lines)
            found.append((path, f"{what} at {path}:{line}"))
    return tuple(found)
