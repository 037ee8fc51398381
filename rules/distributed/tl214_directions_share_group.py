"""A pipeline stage that talks to both neighbours, in both directions, over one group."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.finding import Finding, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.distributed.groups.group_identity import group_key, surely_without_nccl
from torchlift.rules.distributed.p2p.calls import OP, POINT_TO_POINT, written_operation
from torchlift.rules.distributed.ranks.own_rank import own_rank
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL214",
    name="directions-share-group",
    summary="Both directions of a pipeline on one group",
    why=(
        "A pipeline stage sends activations to the next rank and gradients to the previous one. Up to torch 2.14 every pair of "
        'ranks had an NCCL communicator of its own for unbatched point-to-point; since 2.15 a group of `"nccl"` has one '
        "communicator and one stream for everything. Operations of one rank then run in the order they were posted, so the "
        "directions wait for each other, and a schedule that posts them in another order on the next rank hangs, batched or "
        "not. torch's own pipeline stages therefore split the groups."
    ),
    fix=(
        "Not offered: where the groups are made is for you to say. Reported for classes whose methods send and receive in both "
        "directions, each method in one, all over the same group; a method that posts both directions at once is not reported."
    ),
    since=NEW_ENGINE,
    targets=(*sorted(POINT_TO_POINT), OP),
    triggers=("isend & distributed", "irecv & distributed", "P2POp", "recv & torch.distributed"),
    applies=may_use_nccl,
    severity=Severity.INFO,
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/pipelining/stage.py (docstring, lines 150-162 of 2.14.1) and _p2p.py:145 of 2.15.0, read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/193241 (the warning of the pipeline stages)",
    ),
)  # fmt: skip

_MESSAGE = (
    '`{name}` sends forward in `{forward}` and backward in `{backward}` over {group}: since torch 2.15 a group of `"nccl"` has '
    "one communicator and one stream, so a rank that is ahead in one direction holds up the other, and ranks that post the "
    "two in a different order hang."
)
_ADVICE = (
    "Give each direction a group of its own, made on every rank in the same order: "
    '`forward = dist.new_group(ranks, backend="nccl-lazy")`, `backward = dist.new_group(ranks, backend="nccl-lazy")` '
    '(`"nccl-lazy"`: torch 2.14+; plain `"nccl"` separates the directions too). The stages of torch.distributed.pipelining '
    "do this with `torch.distributed.config.pipeline_per_edge_p2p` (2.15; `pipeline_per_direction_p2p` in 2.14). "
)


@dataclass(frozen=True)
class _Operation:
    """One call: the method it stands in, whether it goes with the activations, whether it sends, and its group."""

    call: ast.Call
    method: str
    forward: bool
    sends: bool
    group: ast.expr | None


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.call is None or use.kind != "call" or not may_use_nccl(context.project):
        return
    owner = view.class_of(use.call)
    if owner is None:
        return
    operations = context.once(_operations, owner)
    if not operations or operations[0].call is not use.call:
        return
    by_method: dict[str, set[bool]] = {}
    for one in operations:
        by_method.setdefault(one.method, set()).add(one.forward)
    if len({group_key(view, one.group) for one in operations}) != 1 or any(
        len(kinds) > 1 for kinds in by_method.values()
    ):
        return  # a group for each direction, or both directions posted in one place
    forward = [name for name, kinds in by_method.items() if kinds == {True}]
    backward = [name for name, kinds in by_method.items() if kinds == {False}]
    group = operations[0].group
    if not forward or not backward or surely_without_nccl(view, group):
        return
    if len({(one.forward, one.sends) for one in operations}) != 4:
        return  # one direction is not there in full
    written = f"the group `{view.text(group)}`" if group is not None and group_key(view, group) else "the default group"
    message = _MESSAGE.format(name=owner.name, forward=forward[0], backward=backward[0], group=written)
    yield Finding("TL214", view.path, view.span(use.node), message, Severity.INFO, _ADVICE + ESCAPE)


def _operations(context: Context, owner: ast.ClassDef) -> list[_Operation] | None:
    """Every operation of a class in source order; None if the neighbour of one of them cannot be told."""
    view = context.view
    found: list[_Operation] = []
    for method in owner.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        for node in walk(method):
            if not isinstance(node, ast.Call):
                continue
            one = written_operation(view, node)
            if one is None:
                continue
            side: _Neighbour | None = _neighbour(view, one.peer) if one.peer is not None else None
            if side is None or one.sends is None:
                return None
            forward = one.sends == (side == "next")
            found.append(_Operation(node, method.name, forward, one.sends, one.arguments.get("group")))
    return sorted(found, key=lambda one: (one.call.lineno, one.call.col_offset))


_Neighbour = Literal["next", "previous"]

_NEXT = lazy_pattern(r"(?:^|_)(?:next|succ|successor|downstream|right)(?:_|$)")
_PREVIOUS = lazy_pattern(r"(?:^|_)(?:prev|previous|pred|predecessor|upstream|left)(?:_|$)")


def _neighbour(view: ModuleView, peer: ast.expr, depth: int = 3) -> _Neighbour | None:
    """`next` for `self.next_rank` or `rank + 1`, `previous` for their mirror images, None for anything else."""
    match peer:
        case ast.BinOp(left=left, op=ast.Mod()):
            return _neighbour(view, left, depth)
        case ast.BinOp(left=left, op=op, right=ast.Constant(value=1)) if own_rank(view, left, "plausible"):
            return "next" if isinstance(op, ast.Add) else "previous" if isinstance(op, ast.Sub) else None
        case ast.Subscript(value=value):
            return _neighbour(view, value, depth)
        case ast.Call(func=function, args=[]):
            return _neighbour(view, function, depth)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            ahead, behind = _NEXT.search(word.lower()), _PREVIOUS.search(word.lower())
            if ahead or behind:
                return None if ahead and behind else "next" if ahead else "previous"
            bound = assigned_value(view, peer) if depth else None
            return _neighbour(view, bound, depth - 1) if bound is not None else None
    return None


def _stage(*methods: tuple[str, str], head: str = "import torch.distributed as dist\n") -> str:
    text = (
        f"{head}\n\nclass Stage:\n    def __init__(self, rank, group):\n        self.rank, self.group = rank, group\n"
    )
    for name, line in methods:
        text += f"\n    def {name}(self, x):\n        {line}\n"
    return text


_FORWARD = (
    ("send_forward", "dist.send(x, self.rank + 1)"),
    ("recv_forward", "dist.recv(x, self.rank - 1)"),
)
_BACKWARD = (
    ("send_backward", "dist.send(x, self.rank - 1)"),
    ("recv_backward", "dist.irecv(x, self.rank + 1).wait()"),
)

EXAMPLES = (
    Bad(_stage(*_FORWARD, *_BACKWARD), why="neighbours by arithmetic, default group"),
    Bad(
        _stage(
            ("fwd_out", "return [P2POp(isend, x, self.next_stage, self.group)]"),
            ("fwd_in", "return [P2POp(irecv, x, self.prev_stage, self.group)]"),
            ("bwd_out", "return [P2POp(isend, x, self.prev_stage, self.group)]"),
            ("bwd_in", "return [P2POp(irecv, x, self.next_stage, self.group)]"),
            head="from torch.distributed import P2POp, irecv, isend\n",
        ),
        why="neighbours by name, operations for a batch",
    ),
    Bad(
        _stage(*((name, line.replace("1)", "1, self.compiled_group)")) for name, line in (*_FORWARD, *_BACKWARD))),
        why="a group with `mpi` inside another word of its name",
    ),
    Ok(_stage(*_FORWARD), "one direction"),
    Ok(
        _stage(*((name, line.replace("1)", "1, self.MPIGroup)")) for name, line in (*_FORWARD, *_BACKWARD))),
        "a group that is called one of MPI",
    ),
    Ok(
        _stage(
            *((name, line.replace("1)", "1, self.ahead)")) for name, line in _FORWARD),
            *((name, line.replace("1)", "1, self.back)")) for name, line in _BACKWARD),
        ),
        "a group for each direction",
    ),
    Ok(
        _stage(
            (
                "halo",
                "dist.batch_isend_irecv([dist.P2POp(dist.isend, x, self.rank + 1), dist.P2POp(dist.irecv, x, self.rank - 1), "
                "dist.P2POp(dist.isend, x, self.rank - 1), dist.P2POp(dist.irecv, x, self.rank + 1)])",
            ),
        ),
        "both directions in one batch",
    ),
    Ok(
        "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
        + _stage(*_FORWARD, *_BACKWARD, head=""),
        "a project on gloo",
    ),
    Ok(
        _stage(*((name, line.replace("self.rank + 1", "peer")) for name, line in (*_FORWARD, *_BACKWARD))),
        "a peer that may be any rank",
    ),
    Ok(_stage(*_FORWARD, *_BACKWARD, head="from mpi4py import MPI\n\ndist = MPI.COMM_WORLD\n"), "mpi4py"),
)
