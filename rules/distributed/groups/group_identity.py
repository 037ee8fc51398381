"""Which process group an expression stands for, as far as one file tells."""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.rules.analysis.values.value_of import stored_value
from torchlift.rules.distributed.groups.backends import backend_of
from torchlift.rules.distributed.groups.group_calls import new_group_arguments
from torchlift.rules.distributed.p2p.calls import group_key
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_CPU_WORDS = re.compile(r"gloo|cpu|mpi", re.IGNORECASE)

Default = Literal["default"]


def creation(view: ModuleView, node: ast.expr | None) -> ast.Call | Default | None:
    """The `new_group` call that surely made a group, or `default`; None where that cannot be told."""
    if not group_key(view, node):
        return "default"
    value = stored_value(view, node)
    if value is None:
        return None
    if not group_key(view, value):
        return "default"
    if isinstance(value, ast.Call):
        resolution = view.resolve(value.func)
        if resolution is not None and resolution.certain and resolution.name == "torch.distributed.new_group":
            return value
    return None


def surely_without_nccl(view: ModuleView, node: ast.expr | None) -> bool:
    """Whether a group is made with a constant backend that is not NCCL, or has a name that says so."""
    if node is None:
        return False
    for part in walk(node):
        word = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        if _CPU_WORDS.search(word):
            return True
    made = creation(view, node)
    if isinstance(made, ast.Call):
        arguments = new_group_arguments(made)
        return arguments is not None and backend_of(view, arguments.get("backend")) == "other"
    return False
