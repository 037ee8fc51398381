"""An exchange in which one side posts a batch and the other single operations."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlift.finding import Finding, Severity
from torchlift.lazy_dataclass import dataclass
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.distributed.groups.group_identity import group_key, surely_without_nccl
from torchlift.rules.distributed.p2p.calls import OP, function_of_call, written_operation
from torchlift.rules.distributed.ranks.own_rank import differs_by_rank
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL221",
    name="half-batched-exchange",
    summary="A batch on one side of an exchange and single operations on the other",
    why=(
        "On NCCL up to torch 2.14 without `device_id`, and on `nccl-lazy`, every pair of ranks has a communicator of its own "
        "for single operations, and a batch runs on the communicator of the group. A batched send and a plain `irecv` then "
        "wait in different communicators. Gloo does not care, so tests on the CPU pass."
    ),
    fix="Never offered: one side alone is what is wrong here, and both sides have to change together.",
    targets=(OP,),
    triggers=("P2POp",),
    applies=may_use_nccl,
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py, `batch_isend_irecv`, torch 2.13.0 and 2.15.0, read 2026-11-21",
        "header lazy/LazyBackend.hpp of the torch 2.15 wheel (pair communicators for unbatched point-to-point)",
        "measured on gloo with torch 2.13.0 and 2.15.0: works",
    ),
)  # fmt: skip

_MESSAGE = (
    "This side of the exchange posts a batch, and the other side of the `if` on line {line} posts `{other}` on its own (line "
    "{there}). On NCCL up to torch 2.14, and on `nccl-lazy`, a batch runs on the group's communicator and a single operation "
    "on one of the pair, so the two may never meet."
)
_ADVICE = (
    "Batch both sides: on the other one too, write `dist.P2POp(dist.{function}, tensor, peer)` and wait for what "
    "`dist.batch_isend_irecv` returns. Or batch neither; never change one side alone."
)


@dataclass(frozen=True)
class _Side:
    """Operations of one branch: whether each sends, its group, and the call."""

    batched: tuple[tuple[bool, str, ast.Call], ...]
    single: tuple[tuple[bool, str, ast.Call], ...]


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.call is None or use.kind != "call" or not may_use_nccl(context.project):
        return
    for child, ancestor in view.upwards(use.call):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        if isinstance(ancestor, ast.If) and child is not ancestor.test:
            here, there = ancestor.body, ancestor.orelse
            if not any(item is child for item in here):
                here, there = there, here
            if differs_by_rank(view, ancestor.test, "plausible"):
                found = _other_side(view, use.call, here, there)
                if found is not None:
                    function = function_of_call(view, found) or "isend"
                    message = _MESSAGE.format(line=ancestor.lineno, other=function, there=found.lineno)
                    advice = _ADVICE.format(function="isend" if function.endswith("send") else "irecv")
                    yield Finding("TL221", view.path, view.span(use.node), message, Severity.WARNING, advice)
                return


def _other_side(
    view: ModuleView, call: ast.Call, here: Sequence[ast.stmt], there: Sequence[ast.stmt]
) -> ast.Call | None:
    """The single operation that the first batched one of this branch has on its other side."""
    mine, theirs = _side(view, here), _side(view, there)
    if mine is None or theirs is None or mine.single or theirs.batched or not mine.batched:
        return None
    if mine.batched[0][2] is not call:
        return None
    for sends, group, _ in mine.batched:
        for other_sends, other_group, other in theirs.single:
            if sends != other_sends and group == other_group:
                return other
    return None


def _side(view: ModuleView, block: Sequence[ast.stmt]) -> _Side | None:
    """The operations of a branch; None if something about them is not known or they are not on NCCL."""
    batched: list[tuple[bool, str, ast.Call]] = []
    single: list[tuple[bool, str, ast.Call]] = []
    for statement in block:
        for node in walk(statement):
            if not isinstance(node, ast.Call):
                continue
            one = written_operation(view, node)
            if one is None:
                continue
            if one.sends is None or not one.arguments or surely_without_nccl(view, one.arguments.get("group")):
                return None
            kept = batched if one.batched else single
            kept.append((one.sends, group_key(view, one.arguments.get("group")), node))
    order = sorted(batched, key=lambda item: (item[2].lineno, item[2].col_offset))
    return _Side(tuple(order), tuple(single))


def _code(
    here: Sequence[str], there: Sequence[str], test: str = "rank == 0", head: str = "import torch.distributed as dist\n"
) -> str:
    lines = [f"if {test}:", *(f"    {line}" for line in here), "else:", *(f"    {line}" for line in there)]
    return f"{head}\n\ndef exchange(x, rank, group=None):\n" + "".join(f"    {line}\n" for line in lines)


_BATCH = ("for req in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1)]):", "    req.wait()")
_BATCH_BACK = ("for req in dist.batch_isend_irecv([dist.P2POp(dist.irecv, x, 0)]):", "    req.wait()")

EXAMPLES = (
    Bad(_code(_BATCH, ["dist.recv(x, 0)"]), why="a blocking receive"),
    Bad(_code(["dist.isend(x, 1).wait()"], _BATCH_BACK), why="the receiver batches"),
    Bad(
        _code(
            ["ops = [P2POp(isend, x, 1), P2POp(irecv, x, 1)]", "[r.wait() for r in batch_isend_irecv(ops)]"],
            ["a = irecv(x, 0)", "a.wait()", "b = isend(x, 0)", "b.wait()"],
            test="get_rank() % 2 == 0",
            head="from torch.distributed import P2POp, batch_isend_irecv, get_rank, irecv, isend\n",
        ),
        why="there and back, names imported one by one",
    ),
    Bad(
        _code([_BATCH[0].replace("1)", "1, compiled_group)"), _BATCH[1]], ["dist.recv(x, 0, compiled_group)"]),
        why="a group with `mpi` inside another word of its name",
    ),
    Ok(_code(_BATCH, _BATCH_BACK), "both sides batched"),
    Ok(
        _code([_BATCH[0].replace("1)", "1, gloo_group)"), _BATCH[1]], ["dist.recv(x, 0, gloo_group)"]),
        "a group that is called one of gloo",
    ),
    Ok(_code(["dist.send(x, 1)"], ["dist.recv(x, 0)"]), "no side batched"),
    Ok(_code(_BATCH, ["dist.isend(x, 1).wait()"], test="group is None"), "the same operation in two ways"),
    Ok(_code(_BATCH, ["dist.recv(x, 0)"], test="x.batched"), "a choice that all ranks make alike"),
    Ok(_code(_BATCH, ["dist.recv(x, 0, group)"]), "different groups"),
    Ok(
        "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
        + _code(_BATCH, ["dist.recv(x, 0)"], head=""),
        "a project on gloo",
    ),
    Ok(_code(_BATCH, ["dist.recv(x, 0)"], head="from comms import dist\n"), "another library"),
)
