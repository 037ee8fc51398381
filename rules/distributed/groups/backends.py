"""Which backends a project creates its process groups with."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.view import ModuleView

Backend = Literal["nccl", "other", "absent", "unknown"]
"""`other` is a constant that has no NCCL in it, or one of the NCCL variants that are chosen on purpose."""

INIT_PARAMETERS = (
    "backend", "init_method", "timeout", "world_size", "rank", "store", "group_name", "pg_options", "device_id",
)  # fmt: skip
"""Positional order of `init_process_group`, the same in torch 2.3-2.15."""

_INIT = frozenset({"torch.distributed.init_process_group"})


def backend_of(view: ModuleView, node: ast.expr | None) -> Backend:
    """What a `backend` argument says; `node` is None where it is left out."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return "absent"
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        if binding is not None and binding.kind == "assign" and isinstance(binding.value, ast.Constant):
            node = binding.value
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return "nccl" if re.search(r"(?:^|:)nccl(?:$|,)", node.value.lower()) else "other"
    if isinstance(node, ast.Attribute):
        resolution = view.resolve(node)
        if resolution is not None and resolution.name.startswith("torch.distributed.Backend."):
            return "nccl" if node.attr == "NCCL" else "other"
    return "unknown"


def init_arguments(call: ast.Call) -> dict[str, ast.expr] | None:
    """Arguments of an `init_process_group` call by name; None where `*` or `**` hides some."""
    if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return dict(zip(INIT_PARAMETERS, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}


@dataclass(frozen=True)
class _Record:
    backends: frozenset[Backend]


def _collect(view: ModuleView) -> _Record | None:
    backends: set[Backend] = set()
    for use in view.uses(_INIT):
        if use.kind == "call" and use.call is not None:
            backends.add(_asked_for(view, use.call))
        elif use.kind == "reference":
            backends.add("unknown")
    return _Record(frozenset(backends)) if backends else None


def _asked_for(view: ModuleView, call: ast.Call) -> Backend:
    arguments = init_arguments(call)
    if arguments is not None:
        return backend_of(view, arguments.get("backend"))
    # What `**` brings cannot be the backend as well where it is given.
    named = [keyword.value for keyword in call.keywords if keyword.arg == "backend"]
    first = [argument for argument in call.args[:1] if not isinstance(argument, ast.Starred)]
    return backend_of(view, [*named, *first][0]) if named or first else "unknown"


BACKENDS = Collector("distributed.backends", ("init_process_group",), _collect)
"""Rules that call one of the functions below list it among their collectors."""


def project_backends(project: Project) -> frozenset[Backend]:
    """What the project's calls of `init_process_group` ask for; empty where it has none."""
    return frozenset().union(*(record.backends for record in project.records(BACKENDS).values()))


def may_use_nccl(project: Project) -> bool:
    """False if every process group the project creates surely has another backend, such as gloo."""
    backends = project_backends(project)
    return not backends or bool(backends - {"other"})


def surely_uses_nccl(project: Project) -> bool:
    """Whether some `init_process_group` of the project names NCCL."""
    return "nccl" in project_backends(project)
