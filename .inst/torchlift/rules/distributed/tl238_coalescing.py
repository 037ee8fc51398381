"""Misuse of the coalescing manager: one inside another, or several kinds of collectives in one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

_MANAGER = "torch.distributed._coalescing_manager"

RULE = Rule(
    code="TL238",
    name="coalescing-manager-misused",
    summary="A coalescing manager inside another, or with several kinds of collectives",
    why=(
        "`_coalescing_manager` records the collectives of one kind and issues them as one. Kinds that are mixed raise "
        "RuntimeError when it closes. A second manager on the same group starts a batch inside a batch, which the engine that "
        '"nccl" means since torch 2.15 refuses.'
    ),
    fix="Manual: which operations belong together is the program's decision.",
    targets=(_MANAGER,),
    severity=Severity.ERROR,
    sources=("torch/distributed/distributed_c10d.py of 2.15.0, _coalescing_manager (lines 3767-3791)",),
)

# Kinds that the manager records and issues as one; names of one kind are aliases of each other.
_KINDS = {
    "all_reduce": "all_reduce",
    "all_gather_into_tensor": "all_gather_into_tensor",
    "_all_gather_base": "all_gather_into_tensor",
    "all_gather_single": "all_gather_into_tensor",
    "reduce_scatter_tensor": "reduce_scatter_tensor",
    "_reduce_scatter_base": "reduce_scatter_tensor",
    "reduce_scatter_single": "reduce_scatter_tensor",
}
_NESTED_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call":
        return
    item = view.parent(call)
    block = view.parent(item) if item is not None else None
    if not isinstance(item, ast.withitem) or not isinstance(block, ast.With):
        return
    span = view.span(use.node)
    if _is_inside_another(view, block, call):
        message = (
            "A coalescing manager inside another one of the same group starts a batch while one is open, which the NCCL engine "
            "of torch 2.15 refuses; with collectives recorded already every release raises ValueError."
        )
        advice = "Close the outer one first, or put all operations of one kind into a single manager."
        yield Finding("TL238", view.path, span, message, Severity.ERROR, advice)
    kinds = _collectives(view, block, call)
    if len(kinds) > 1:
        message = (
            f"The collectives in one coalescing manager have to be of one kind; {' and '.join(f'`{k}`' for k in sorted(kinds))} "
            "together raise RuntimeError when it closes."
        )
        advice = "Use one manager for each kind."
        yield Finding("TL238", view.path, span, message, Severity.ERROR, advice)


def _group(call: ast.Call) -> str:
    for keyword in call.keywords:
        if keyword.arg == "group":
            return ast.dump(keyword.value)
    return ast.dump(call.args[0]) if call.args else ""


def _is_inside_another(view: ModuleView, block: ast.With, call: ast.Call) -> bool:
    for ancestor in view.ancestors(block):
        if isinstance(ancestor, _NESTED_FUNCTIONS):
            return False
        if isinstance(ancestor, ast.With) and any(
            _is_manager(view, item.context_expr) and _group(item.context_expr) == _group(call)  # type: ignore[arg-type]
            for item in ancestor.items
        ):
            return True
    return False


def _is_manager(view: ModuleView, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and view.certain_name(node.func) == _MANAGER


def _collectives(view: ModuleView, block: ast.With, call: ast.Call) -> set[str]:
    """Kinds of collectives that surely run in the block, one after the other, on the manager's group."""
    kinds: set[str] = set()
    for statement in block.body:
        inner = statement.body if isinstance(statement, (ast.For, ast.With)) else [statement]
        for simple in inner:
            value = simple.value if isinstance(simple, (ast.Expr, ast.Assign)) else None
            if not isinstance(value, ast.Call):
                continue
            name = view.possible_name(value.func).removeprefix("torch.distributed.")
            same = next((ast.dump(k.value) for k in value.keywords if k.arg == "group"), "") == _group(call)
            if name in _KINDS and same:
                kinds.add(_KINDS[name])
    return kinds


EXAMPLES = (
    Bad(
        "import torch.distributed as dist\n\n\ndef step(a, b, out):\n    with dist._coalescing_manager():\n"
        "        dist.all_reduce(a)\n        dist.reduce_scatter_tensor(out, b)\n",
        why="two kinds",
    ),
    Bad(
        "from torch.distributed.distributed_c10d import _coalescing_manager, all_reduce\n\n\ndef step(group, a, b):\n"
        "    with _coalescing_manager(group, async_ops=True) as outer:\n        all_reduce(a, group=group)\n"
        "        with _coalescing_manager(group) as inner:\n            all_reduce(b, group=group)\n    outer.wait()\n",
        why="nested",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef step(tensors):\n    with dist._coalescing_manager():\n"
        "        for tensor in tensors:\n            dist.all_reduce(tensor)\n",
        "one kind in a loop",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef step(group, a, b):\n    with dist._coalescing_manager(group):\n"
        "        if a is not None:\n            dist.all_reduce(a, group=group)\n        else:\n"
        "            dist.reduce_scatter_tensor(b, b, group=group)\n",
        "branches that exclude each other",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef step(g, h, a, b):\n    with dist._coalescing_manager(g):\n"
        "        dist.all_reduce(a, group=g)\n        dist.reduce_scatter_tensor(b, b, group=h)\n",
        "another group is not recorded",
    ),
    Ok(
        "from mylib import _coalescing_manager\n\nwith _coalescing_manager():\n    with _coalescing_manager():\n        pass\n",
        "another library",
    ),
)
