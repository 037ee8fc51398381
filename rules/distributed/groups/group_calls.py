"""Calls that create process groups: their arguments, and which group a project's default one surely is.

Source: `torch/distributed/distributed_c10d.py` of the 2.13.0, 2.14.1 and 2.15.0 wheels, read 2026-11-21.
"""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.distributed.groups.backends import backend_of, init_arguments
from torchlift.view import ModuleView

_NEW_GROUP = (
    "ranks", "timeout", "backend", "pg_options", "use_local_synchronization", "group_desc", "device_id", "sort_ranks",
)  # fmt: skip
_INIT = frozenset({"torch.distributed.init_process_group"})


def new_group_arguments(call: ast.Call) -> dict[str, ast.expr] | None:
    """Arguments of a `new_group` call by name; None where `*` or `**` hides some."""
    if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return dict(zip(_NEW_GROUP, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}


def is_true(node: ast.expr | None) -> bool:
    """Whether an argument is the constant True."""
    return isinstance(node, ast.Constant) and node.value is True


def constant_text(view: ModuleView, node: ast.expr | None) -> str | None:
    """The string an argument surely is: a constant, or a name that is bound to one once."""
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        node = binding.value if binding is not None and binding.kind == "assign" else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@dataclass(frozen=True)
class _Record:
    """For every `init_process_group` of a file, the backend as text; None where it is not a constant."""

    backends: tuple[str | None, ...]


def _collect(view: ModuleView) -> _Record | None:
    backends: list[str | None] = []
    for use in view.uses(_INIT):
        if use.kind == "call" and use.call is not None:
            arguments = init_arguments(use.call) or {}
            backend = arguments.get("backend")
            named_nccl = backend_of(view, backend) == "nccl" and isinstance(backend, ast.Attribute)
            backends.append("nccl" if named_nccl else constant_text(view, backend))
        elif use.kind == "reference":
            backends.append(None)
    return _Record(tuple(backends)) if backends else None


DEFAULT_GROUPS = Collector("distributed.default_groups", ("init_process_group",), _collect)
"""Rules that call one of the functions below list it among their collectors."""


def named_backends(project: Project) -> frozenset[str | None]:
    """Every constant that the project passes as backend of its default group, in lower case; None for all others."""
    records = project.records(DEFAULT_GROUPS).values()
    return frozenset(name.lower() if name else None for record in records for name in record.backends)


def is_nccl_only(project: Project) -> bool:
    """Whether the default group surely has NCCL and no backend for CPU tensors, wherever the project creates it."""
    backends = named_backends(project)
    return bool(backends) and backends <= {"nccl", "cuda:nccl", "nccl-lazy", "nccl-legacy", "nccl2"}
