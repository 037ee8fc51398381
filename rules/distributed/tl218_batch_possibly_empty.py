"""A batch whose list is only filled under conditions: `batch_isend_irecv([])` is an IndexError."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity
from torchlift.rules.analysis.places.order import LEAVING
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.p2p.batches.batch_operations import batch_list
from torchlift.rules.distributed.p2p.calls import BATCH
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL218",
    name="batch-possibly-empty",
    summary="A point-to-point batch whose list may be empty",
    why=(
        "`batch_isend_irecv` looks at the first operation to learn the group, so an empty list is an IndexError. A list that "
        "is filled under conditions only (`if rank > 0`, `if recv_prev`) is empty where none of them holds: on a single "
        "process, in a group of one, at a stage without neighbours."
    ),
    fix=(
        "Safe: `batch_isend_irecv(ops) if ops else []` does the same wherever the old code did not raise. Not offered where "
        "the request is picked from the list (`reqs[-1]`, `.pop()`), which an empty list does not have either."
    ),
    targets=(BATCH,),
    triggers=("batch_isend_irecv",),
    sources=(
        "torch/distributed/distributed_c10d.py, `_check_p2p_op_list` (`p2p_op_list[0].group`), torch 2.13.0 and 2.15.0, read "
        "2026-11-21",
        "measured on gloo with torch 2.13.0 and 2.15.0: IndexError",
    ),
)  # fmt: skip

_MESSAGE = (
    "Every operation of `{name}` is added under a condition; where none of them holds (with a single process, for example), "
    "`batch_isend_irecv` gets an empty list and raises an IndexError, on every backend."
)
_ADVICE = "Not rewritten: what comes next needs a request. Post and wait only `if {name}:`."
_EXHAUSTIVE = (
    {ast.Eq, ast.NotEq}, {ast.Lt, ast.GtE}, {ast.Gt, ast.LtE}, {ast.Is, ast.IsNot}, {ast.In, ast.NotIn},
    {ast.Eq, ast.Gt}, {ast.Eq, ast.Lt},
)  # fmt: skip


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call":
        return
    known = batch_list(view, call)
    if known is None or known.name is None or known.made is None or not known.fills or known.escapes:
        return
    block = view.block(known.made)
    inside = [call, *view.ancestors(call)]
    place = next((index for index, item in enumerate(block) if any(item is node for node in inside)), None)
    if place is None:
        return
    between = block[block.index(known.made) + 1 : place]
    if not all(any(fill in walk(item) for item in between) for fill in known.fills):
        return  # filled in another place too: in a loop around, or in the statement of the batch itself
    tests = [item.test for item in between if isinstance(item, ast.If) and _holds(item, known.fills)]
    if any(_fills(item, known.fills) for item in between) or _one_of_them_holds(view, tests):
        return
    if _is_guarded(view, call, known.name, tests):
        return
    name = known.name.name
    message = _MESSAGE.format(name=name)
    bare = _bare_place(view, call)
    if bare is None:
        yield Finding("TL218", view.path, view.span(use.node), message, Severity.WARNING, _ADVICE.format(name=name))
        return
    outer = f"$call if {name} else []" if bare else f"($call if {name} else [])"
    fix = Fix("Post the batch only if there is something in it", Safety.SAFE, (EditCall(view.span(call), outer=outer),))
    yield Finding("TL218", view.path, view.span(use.node), message, Severity.WARNING, None, fix)


def _holds(statement: ast.stmt, fills: Sequence[ast.stmt]) -> bool:
    return any(node in fills for node in walk(statement))


def _fills(statement: ast.stmt, fills: Sequence[ast.stmt]) -> bool:
    """Whether something surely is in the list afterwards; a loop is taken to run at least once."""
    if statement in fills:
        return True
    if isinstance(statement, ast.If):
        return all(_block_fills(branch, fills) for branch in (statement.body, statement.orelse))
    return not isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and _holds(statement, fills)


def _block_fills(block: Sequence[ast.stmt], fills: Sequence[ast.stmt]) -> bool:
    return any(_fills(item, fills) or isinstance(item, LEAVING) for item in block)


def _one_of_them_holds(view: ModuleView, tests: Sequence[ast.expr]) -> bool:
    """Whether two of the tests rule out that neither holds: `a` and `not a`, `x == y` and `x != y`, `x % 2 == 0` and `== 1`."""
    forms = [_forms(view, test) for test in tests]
    for index, ones in enumerate(forms):
        for other in itertools.chain.from_iterable(forms[index + 1 :]):
            for first, second in itertools.chain.from_iterable(((one, other), (other, one)) for one in ones):
                match first, second:
                    case ast.UnaryOp(op=ast.Not(), operand=inner), _ if ast.dump(inner) == ast.dump(second):
                        return True
                    case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]), _ if ast.dump(
                        left
                    ) == ast.dump(second):
                        return True
                    case ast.Compare(ops=[a]), ast.Compare(ops=[b]) if ast.dump(first.left) == ast.dump(second.left):
                        same = ast.dump(first.comparators[0]) == ast.dump(second.comparators[0])
                        if same and {type(a), type(b)} in _EXHAUSTIVE:
                            return True
                        remainder = isinstance(first.left, ast.BinOp) and isinstance(first.left.op, ast.Mod)
                        if remainder and not same and isinstance(a, ast.Eq) and isinstance(b, ast.Eq):
                            return True
                    case _:
                        pass
    return False


def _forms(view: ModuleView, test: ast.expr) -> list[ast.expr]:
    """A test as it stands, and what its name is bound to."""
    bound = assigned_value(view, test)
    return [test] if bound is None else [test, bound]


def _words(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for node in nodes
        for part in walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    } - {"self", "dist", "torch", "distributed"}


def _is_guarded(
    view: ModuleView,
    call: ast.Call,
    name: Binding,
    fill_tests: Sequence[ast.expr],
) -> bool:
    """Whether a test around the batch, or one before it that ends the function, may have dealt with an empty list.

    A test does so if it mentions the list, something that the conditions of the operations mention, or the number of
    ranks.
    """
    relevant = {name.name} | _words(fill_tests)

    def concerns(test: ast.AST) -> bool:
        words = _words([test])
        return not words.isdisjoint(relevant) or any("world" in word or "size" in word for word in words)

    for child, ancestor in view.upwards(call):
        if isinstance(child, ast.stmt):
            same = view.block(child)
            if any(_settles(earlier, concerns) for earlier in same[: same.index(child)]):
                return True
        match ancestor:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if child is not test:
                if concerns(test):
                    return True
            case ast.BoolOp(values=values):
                if any(concerns(value) for value in values if value is not child):
                    return True
            case ast.Try():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                break
            case _:
                pass
    return False


def _settles(statement: ast.stmt, concerns: Callable[[ast.AST], bool]) -> bool:
    """Whether a statement asserts something relevant, or may end the function because of it."""
    if isinstance(statement, ast.Assert):
        return concerns(statement.test)
    ends = isinstance(statement, ast.If) and any(isinstance(node, LEAVING) for node in walk(statement))
    return ends and isinstance(statement, ast.If) and concerns(statement.test)


def _bare_place(view: ModuleView, call: ast.Call) -> bool | None:
    """Whether a conditional expression may stand there without brackets; None if an empty list does not help there."""
    parent = view.parent(call)
    match parent:
        case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
            binding = view.bound_by(target)
            if binding is None or any(_takes_one(view, read) for read, _ in view.reads_of(binding)):
                return None
            return True
        case ast.Assign(targets=[ast.Attribute()]) | ast.Return() | ast.Expr():
            return True
        case ast.For(iter=iterable) if iterable is call:
            return True
        case ast.comprehension(iter=iterable) if iterable is call:
            return False
        case ast.Call(func=ast.Attribute(attr="extend"), args=[argument]) if argument is call:
            return True
        case _:
            return None


def _takes_one(view: ModuleView, read: ast.Name) -> bool:
    """Whether an empty list would be an error in this place as well."""
    parent = view.parent(read)
    if isinstance(parent, ast.Attribute):
        return parent.attr in {"pop", "remove", "index"}
    return isinstance(parent, ast.Subscript) or (
        isinstance(parent, ast.Assign) and any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    )


def _code(*lines: str, head: str = "import torch\nimport torch.distributed as dist\n") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"{head}\n\ndef shift(x):\n    rank, world = dist.get_rank(), dist.get_world_size()\n"
        f"    y = torch.zeros_like(x)\n    ops = []\n{body}    return y\n"
    )


_RIGHT = ("if rank + 1 < world:", "    ops.append(dist.P2POp(dist.isend, x, rank + 1))")
_LEFT = ("if rank > 0:", "    ops.append(dist.P2POp(dist.irecv, y, rank - 1))")
_RUN = 'dist.init_process_group("gloo")\nresult = shift(torch.arange(3.0) + dist.get_rank())'

EXAMPLES = (
    Bad(
        _code(*_RIGHT, *_LEFT, "for req in dist.batch_isend_irecv(ops):", "    req.wait()"),
        _code(*_RIGHT, *_LEFT, "for req in dist.batch_isend_irecv(ops) if ops else []:", "    req.wait()"),
        why="an open chain",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        _code(
            *_LEFT, *_RIGHT, "reqs = dist.batch_isend_irecv(", "    ops  # all of them", ")", "[r.wait() for r in reqs]"
        ),
        _code(
            *_LEFT,
            *_RIGHT,
            "reqs = dist.batch_isend_irecv(",
            "    ops  # all of them",
            ") if ops else []",
            "[r.wait() for r in reqs]",
        ),
        why="requests kept in a name, call of several lines",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        _code(*_RIGHT, *_LEFT, "[req.wait() for req in dist.batch_isend_irecv(ops)]"),
        _code(*_RIGHT, *_LEFT, "[req.wait() for req in (dist.batch_isend_irecv(ops) if ops else [])]"),
        why="in a comprehension",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        "import torch\n\n\ndef exchange(x, y, peer):\n    ops: list = list()\n    if x is not None:\n"
        "        ops += []\n        ops.append(torch.distributed.P2POp(torch.distributed.isend, x, peer))\n"
        "    elif y is not None:\n        ops.append(torch.distributed.P2POp(torch.distributed.irecv, y, peer))\n"
        "    return torch.distributed.batch_isend_irecv(ops)\n".replace("        ops += []\n", ""),
        "import torch\n\n\ndef exchange(x, y, peer):\n    ops: list = list()\n    if x is not None:\n"
        "        ops.append(torch.distributed.P2POp(torch.distributed.isend, x, peer))\n"
        "    elif y is not None:\n        ops.append(torch.distributed.P2POp(torch.distributed.irecv, y, peer))\n"
        "    return torch.distributed.batch_isend_irecv(ops) if ops else []\n",
        why="one of two, or none",
        run='import torch.distributed as dist\n\ndist.init_process_group("gloo")\nbuffer = torch.zeros(1)\n'
        "rank = dist.get_rank()\n"
        "reqs = exchange(torch.ones(1), None, rank + 1) if rank % 2 == 0 else exchange(None, buffer, rank - 1)\n"
        "[req.wait() for req in reqs]\nresult = buffer",
        ranks=(2, 4),
    ),
    Bad(_code(*_RIGHT, *_LEFT, "dist.batch_isend_irecv(ops).pop().wait()"), why="the last request is taken"),
    Bad(
        _code(*_RIGHT, *_LEFT, "reqs = dist.batch_isend_irecv(ops)", "reqs[-1].wait()"),
        why="the last request is picked later",
    ),
    Ok(_code(*_RIGHT, *_LEFT, "if ops:", "    [r.wait() for r in dist.batch_isend_irecv(ops)]"), "tested"),
    Ok(_code(*_RIGHT, *_LEFT, "if len(ops) > 0:", "    reqs = dist.batch_isend_irecv(ops)"), "its length is tested"),
    Ok(_code(*_RIGHT, *_LEFT, "if not ops:", "    return y", "dist.batch_isend_irecv(ops)"), "left before"),
    Ok(_code(*_RIGHT, *_LEFT, "if world > 1:", "    dist.batch_isend_irecv(ops)"), "the number of ranks is tested"),
    Ok(_code("ops.append(dist.P2POp(dist.isend, x, 0))", *_LEFT, "dist.batch_isend_irecv(ops)"), "one is always there"),
    Ok(
        _code(*_RIGHT, "else:", "    ops.append(dist.P2POp(dist.isend, x, 0))", "dist.batch_isend_irecv(ops)"),
        "one in either case",
    ),
    Ok(
        _code(
            "if rank % 2 == 0:",
            "    ops.append(dist.P2POp(dist.isend, x, rank + 1))",
            "if rank % 2 == 1:",
            "    ops.append(dist.P2POp(dist.irecv, y, rank - 1))",
            "dist.batch_isend_irecv(ops)",
        ),
        "one of two cases holds",
    ),
    Ok(
        _code(
            "for peer in range(world):",
            "    ops.append(dist.P2POp(dist.isend, x, peer))",
            "dist.batch_isend_irecv(ops)",
        ),
        "a loop over peers",
    ),
    Ok(_code("fill(ops)", *_LEFT, "dist.batch_isend_irecv(ops)"), "another function may fill it"),
    Ok(
        "from comms import batch_isend_irecv\n\n\ndef f(a):\n    ops = []\n    if a:\n        ops.append(a)\n"
        "    batch_isend_irecv(ops)\n",
        "another library",
    ),
)
