"""The point-to-point functions of torch.distributed and the meaning of their arguments."""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.view import ModuleView

SEND_PARAMETERS = ("tensor", "dst", "group", "tag", "group_dst")
"""Positional order of `isend` and `send`, torch 2.10-2.15."""

RECV_PARAMETERS = ("tensor", "src", "group", "tag", "group_src")
"""Positional order of `irecv` and `recv`, torch 2.10-2.15."""

OP_PARAMETERS = ("op", "tensor", "peer", "group", "tag", "group_peer")
"""Positional order of `P2POp`, torch 2.10-2.15."""

BATCH = "torch.distributed.batch_isend_irecv"
OP = "torch.distributed.P2POp"

OVERLAPPING = frozenset({"torch.distributed.isend", "torch.distributed.irecv"})
"""Functions that leave an operation open, so that others may overlap with it."""

FunctionName = Literal["isend", "irecv", "send", "recv"]

_FUNCTIONS: dict[str, FunctionName] = {
    "torch.distributed.isend": "isend",
    "torch.distributed.irecv": "irecv",
    "torch.distributed.send": "send",
    "torch.distributed.recv": "recv",
}

POINT_TO_POINT = frozenset(_FUNCTIONS)
"""Functions that post one operation."""


def function_of_call(view: ModuleView, call: ast.Call) -> FunctionName | None:
    """Which function a call surely is; None for anything else."""
    return _FUNCTIONS.get(view.certain_name(call.func))


def arguments_of(call: ast.Call, function: FunctionName) -> dict[str, ast.expr] | None:
    """Arguments of a call of `function` by name; None where `*` or `**` hides some."""
    return named_arguments(call, SEND_PARAMETERS if function.endswith("send") else RECV_PARAMETERS)


def is_given(arguments: dict[str, ast.expr], *names: str) -> bool:
    """Whether one of `names` is passed and is not the constant None."""
    return any(name in arguments and not is_none(arguments[name]) for name in names)


@dataclass(frozen=True)
class WrittenOperation:
    """One operation as it is written: `isend(...)`, or `P2POp(isend, ...)` for a batch.

    Attributes:
        sends: whether it sends; None where that is not known.
        arguments: by parameter name; empty where `*` or `**` hides some.
        batched: whether it is a `P2POp`.
    """

    sends: bool | None
    arguments: dict[str, ast.expr]
    batched: bool

    @property
    def peer(self) -> ast.expr | None:
        """The other side."""
        names = ("peer", "dst", "src", "group_peer", "group_dst", "group_src")
        return next((self.arguments[name] for name in names if name in self.arguments), None)


def written_operation(view: ModuleView, call: ast.Call) -> WrittenOperation | None:
    """The operation that a call is; None for anything else."""
    function = function_of_call(view, call)
    if function is not None:
        return WrittenOperation(function.endswith("send"), arguments_of(call, function) or {}, batched=False)
    if view.possible_name(call.func) != OP:
        return None
    arguments = named_arguments(call, OP_PARAMETERS) or {}
    posts = view.possible_name(arguments["op"]) if "op" in arguments else ""
    return WrittenOperation(posts.endswith("send") if posts in POINT_TO_POINT else None, arguments, batched=True)
