"""The point-to-point functions of torch.distributed and the meaning of their arguments."""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.view import ModuleView

SEND_PARAMETERS = ("tensor", "dst", "group", "tag", "group_dst")
"""Positional order of `isend` and `send`, torch 2.10-2.15."""

RECV_PARAMETERS = ("tensor", "src", "group", "tag", "group_src")
"""Positional order of `irecv` and `recv`, torch 2.10-2.15."""

OP_PARAMETERS = ("op", "tensor", "peer", "group", "tag", "group_peer")
"""Positional order of `P2POp`, torch 2.10-2.15."""

POINT_TO_POINT = frozenset(f"torch.distributed.{name}" for name in ("isend", "irecv", "send", "recv"))
"""Functions that post one operation."""

BATCH = "torch.distributed.batch_isend_irecv"
OP = "torch.distributed.P2POp"

Function = Literal["isend", "irecv", "send", "recv"]


def function_of_call(view: ModuleView, call: ast.Call) -> Function | None:
    """Which function a call surely is; None for anything else."""
    resolution = view.resolve(call.func)
    if resolution is None or not resolution.certain or resolution.name not in POINT_TO_POINT:
        return None
    match resolution.name.rpartition(".")[2]:
        case "isend":
            return "isend"
        case "irecv":
            return "irecv"
        case "send":
            return "send"
        case _:
            return "recv"


def named_arguments(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
    """Arguments by parameter name; None where `*` or `**` hides some or there are more than parameters."""
    if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if len(call.args) > len(parameters):
        return None
    return dict(zip(parameters, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}


def is_given(arguments: dict[str, ast.expr], *names: str) -> bool:
    """Whether one of `names` is passed and is not the constant None."""
    return any(
        name in arguments and not (isinstance(arguments[name], ast.Constant) and arguments[name].value is None)  # type: ignore[attr-defined]
        for name in names
    )


def group_key(view: ModuleView, node: ast.expr | None) -> str:
    """What tells group expressions apart: equal keys are the same group where no name in them is bound anew.

    The default group is the empty string, however it is written.
    """
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return ""
    resolution = view.resolve(node)
    if resolution is not None and resolution.name in {
        "torch.distributed.group.WORLD",
        "torch.distributed.GroupMember.WORLD",
    }:
        return ""
    return ast.dump(node)
