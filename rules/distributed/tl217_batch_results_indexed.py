"""Requests of a batch picked by position: NCCL returns one for the whole batch, gloo one for each operation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import DeleteStatement, Finding, Fix, InsertStatements, Rewrite, Safety, Severity
from torchlift.rules.analysis.values.literals import integer
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.distributed.groups.group_identity import surely_without_nccl
from torchlift.rules.distributed.p2p.batches.batch_operations import BatchList, batch_list
from torchlift.rules.distributed.p2p.batches.quiet_code import effects
from torchlift.rules.distributed.p2p.calls import BATCH, OP_PARAMETERS
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Binding, ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.spelling import fresh_name
from torchlift.view.walk import walk

RULE = Rule(
    code="TL217",
    name="batch-results-indexed",
    summary="Requests of a point-to-point batch picked by position",
    why=(
        "`batch_isend_irecv` returns a list of requests. On gloo it holds one for each operation; on NCCL, old engine and "
        "new, the batch is one call and the list holds a single request. `reqs[1]` is then an IndexError, unpacking two "
        "names a ValueError, and `zip(ops, reqs)` quietly drops all operations but the first. `reqs[0]`, `reqs[-1]` and "
        "`reqs.pop()` work on NCCL and are not reported."
    ),
    fix=(
        "Safe when the batch has a known number of operations, every request is waited for exactly once by its position, and "
        "nothing between the waits can matter: one loop takes the place of the first wait. In all other cases wait for all "
        "requests in one loop, and only then use what was received."
    ),
    targets=(BATCH,),
    triggers=("batch_isend_irecv",),
    applies=may_use_nccl,
    severity=Severity.ERROR,
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py, `batch_isend_irecv` (`return cm.works`), torch 2.13.0 and 2.15.0, read 2026-11-21",
        "measured on gloo with torch 2.13.0 and 2.15.0: two requests for two operations",
    ),
)

_MESSAGE = (
    "{what}, but on NCCL `batch_isend_irecv` returns one request for the whole batch; only backends without coalescing, "
    "such as gloo, return one for each operation."
)
_LOOP = "Wait for all of them in one loop, `for req in reqs: req.wait()`, and use what was received only behind it."


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.call is None or use.kind != "call" or not may_use_nccl(context.project):
        return
    known = batch_list(view, use.call)
    operations = known.operations if known is not None else ()
    for operation in operations:
        arguments = named_arguments(operation, OP_PARAMETERS)
        if arguments is not None and surely_without_nccl(view, arguments.get("group")):
            return
    if known is not None and known.complete and len(operations) == 1:
        return
    requests, places = _places(view, use.call)
    places = [(node, what) for node, what in places if not _is_prepared(view, node, requests)]
    if not places:
        return
    fix = _one_loop(view, requests, use.call, known) if requests is not None else None
    first = True
    for node, what in places:
        # One fix covers all places, so only the first of them carries it.
        offered = fix if first else None
        message = _MESSAGE.format(what=what)
        if fix is None or first:
            yield Finding(
                "TL217", view.path, view.span(node), message, Severity.ERROR, None if offered else _LOOP, offered
            )
        first = False


def _places(view: ModuleView, batch: ast.Call) -> tuple[Binding | None, list[tuple[ast.expr, str]]]:
    """Where requests are told apart by their position: the expressions, with what is done there."""
    parent = view.parent(batch)
    places: list[tuple[ast.expr, str]] = []
    match parent:
        case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
            requests = view.bound_by(target)
            if requests is None:
                return None, []
            for read, certain in view.reads_of(requests):
                found = _told_apart(view, read) if certain else None
                if found is not None:
                    places.append(found)
            return requests, places
        case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names) as target]):
            if len(names) > 1 and not any(isinstance(name, ast.Starred) for name in names):
                places.append((target, f"{len(names)} requests are unpacked"))
        case _:
            found = _told_apart(view, batch)
            if found is not None:
                places.append(found)
    return None, places


def _is_prepared(view: ModuleView, node: ast.AST, requests: Binding | None) -> bool:
    """Whether a test around `node` asks for the backend or for the number of requests."""
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, (ast.If, ast.IfExp, ast.While)):
            for part in walk(ancestor.test):
                word = last_name(part)
                text = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
                if "backend" in word or "nccl" in f"{word}{text}".lower() or "gloo" in f"{word}{text}".lower():
                    return True
                if requests is not None and word == requests.name:
                    return True
    return False


def _told_apart(view: ModuleView, requests: ast.expr) -> tuple[ast.expr, str] | None:
    """The expression around `requests` that needs more than one of them, and what it does."""
    parent = view.parent(requests)
    match parent:
        case ast.Subscript(value=value, slice=index) if value is requests:
            number = integer(index)
            if number is not None and (number >= 1 or number <= -2):
                return parent, f"Request {number} of a batch is picked"
        case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names) as target], value=value):
            if value is requests and len(names) > 1 and not any(isinstance(name, ast.Starred) for name in names):
                return target, f"{len(names)} requests are unpacked"
        case ast.Call(func=ast.Name(id="zip"), args=args) if len(args) > 1 and requests in args:
            if view.scope_at(parent).lookup("zip") is None:
                return parent, "Requests are paired with other values by `zip`"
        case _:
            pass
    return None


def _one_loop(view: ModuleView, requests: Binding, batch: ast.Call, known: BatchList | None) -> Fix | None:
    """Waiting for every request by position, turned into one loop; None unless each is waited for once, in one place."""
    if known is None or not known.complete or requests.scope.kind != "function":
        return None
    if known.name is not None and any(read.lineno > batch.lineno for read, _ in view.reads_of(known.name)):
        return None  # it may be filled afterwards
    if _looks_at_names(requests.scope.node):
        return None
    waits: list[ast.stmt] = []
    positions: list[int] = []
    for read, certain in view.reads_of(requests):
        item = view.parent(read)
        number = integer(item.slice) if isinstance(item, ast.Subscript) and item.value is read else None
        attribute = view.parent(item) if item is not None else None
        call = view.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == "wait" else None
        if not certain or number is None or not isinstance(call, ast.Call) or call.args or call.keywords:
            return None
        statement = view.parent(call)
        if call.func is not attribute or not isinstance(statement, ast.Expr):
            return None
        waits.append(statement)
        length = len(known.operations)
        positions.append(number % length if -length <= number < length else -1)
    if sorted(positions) != list(range(len(known.operations))):
        return None
    block = view.block(waits[0])
    if view.block(view.statement(batch)) is not block or any(view.block(wait) is not block for wait in waits):
        return None
    places = sorted(block.index(wait) for wait in waits)
    between = [statement for statement in block[places[0] : places[-1]] if statement not in waits]
    if not effects(view, between).quiet:
        return None
    if not all(_alone(view, wait) for wait in waits):
        return None
    first = block[places[0]]
    name = fresh_name(view, "req")
    lines = (f"for {name} in {requests.name}:", f"{view.step_of_indentation(first)}{name}.wait()")
    rewrites: list[Rewrite] = [InsertStatements(view.span(first), lines)]
    rewrites += [DeleteStatement(view.span(wait)) for wait in waits]
    return Fix("Wait for all requests in one loop", Safety.SAFE, tuple(rewrites))


def _looks_at_names(function: ast.AST) -> bool:
    """Whether a function may see that it has a name more."""
    return any(isinstance(node, ast.Name) and node.id in {"locals", "vars", "eval", "exec"} for node in walk(function))


def _alone(view: ModuleView, statement: ast.stmt) -> bool:
    """Whether the statement has its line to itself and no comment that would go with it."""
    source, span = view.source, view.span(statement)
    line = source.location(span.start)[0]
    text = source.line(line).strip()
    return text == source.slice(span)


def _code(*lines: str, head: str = "import torch\nimport torch.distributed as dist\n") -> str:
    body = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return f"{head}\n\ndef exchange(x):\n    rank, world = dist.get_rank(), dist.get_world_size()\n    y = torch.zeros_like(x)\n{body}"


_OPS = (
    "send = dist.P2POp(dist.isend, x, (rank + 1) % world)",
    "recv = dist.P2POp(dist.irecv, y, (rank - 1) % world)",
)
_BATCH = (*_OPS, "reqs = dist.batch_isend_irecv([send, recv])")
_FILLED = ("ops = []", *_OPS, "ops.append(recv)", "ops.append(send)", "reqs = dist.batch_isend_irecv(ops)")
_RUN = 'dist.init_process_group("gloo")\nresult = exchange(torch.arange(3.0) + dist.get_rank())'

EXAMPLES = (
    Bad(
        _code(*_BATCH, "reqs[0].wait()", "reqs[1].wait()", "return y"),
        _code(*_BATCH, "for req in reqs:", "    req.wait()", "return y"),
        why="both waited for",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(
        _code(*_FILLED, "# the data first", "reqs[0].wait()", "z = y.clone()", "reqs[1].wait()", "return y, z"),
        _code(*_FILLED, "# the data first", "for req in reqs:", "    req.wait()", "z = y.clone()", "return y, z"),
        why="a list that is filled, and a copy between the waits",
        run=_RUN,
        ranks=(2, 3, 4),
    ),
    Bad(_code(*_BATCH, "reqs[1].wait()", "return y"), why="only one of them is waited for"),
    Bad(
        _code(*_BATCH, "reqs[1].wait()", "dist.all_reduce(y)", "reqs[0].wait()", "return y"),
        why="communication between the waits",
    ),
    Bad(
        _code(*_OPS, "sent, received = dist.batch_isend_irecv([send, recv])", "received.wait()", "sent.wait()"),
        why="unpacked",
    ),
    Bad(
        _code(
            *_OPS,
            "a, b = dist.batch_isend_irecv([send, recv])",
            head="import torch\nfrom torch import distributed as dist\n",
        ),
        why="unpacked, module imported from torch",
    ),
    Bad(
        "from torch.distributed import batch_isend_irecv as exchange\n\n\ndef post(ops, names):\n"
        "    works = exchange(ops)\n    return dict(zip(names, works))\n",
        why="paired with names",
    ),
    Bad(
        "from torch.distributed.distributed_c10d import batch_isend_irecv\n\n\ndef post(ops):\n"
        "    batch_isend_irecv(ops)[1].wait()\n",
        why="picked at once",
    ),
    Bad(
        _code(*(line.replace("world)", "world, compiled_group)") for line in _BATCH), "reqs[1].wait()"),
        why="a group with `mpi` inside another word of its name",
    ),
    Ok(_code(*_BATCH, "for req in reqs:", "    req.wait()", "return y"), "a loop"),
    Ok(
        _code(*(line.replace("world)", "world, cpuGroup)") for line in _BATCH), "reqs[1].wait()"),
        "a group that is called one for the CPU",
    ),
    Ok(_code(*_BATCH, "reqs[-1].wait()", "return y"), "the last one, which is the only one on NCCL"),
    Ok(_code(*_BATCH, "reqs.pop().wait()", "reqs2 = reqs[0:]"), "the last one taken off"),
    Ok(
        _code(_OPS[0], "reqs = dist.batch_isend_irecv([send])", "reqs[0].wait()", "(only,) = reqs"),
        "a batch of one operation",
    ),
    Ok(_code(*_BATCH, "for i in range(len(reqs)):", "    reqs[i].wait()"), "as many as there are"),
    Ok(
        _code(*_BATCH, 'if dist.get_backend() == "gloo":', "    reqs[1].wait()", "reqs[0].wait()"),
        "asked for the backend",
    ),
    Ok(_code('dist.init_process_group("gloo")', *_BATCH, "reqs[0].wait()", "reqs[1].wait()"), "a project on gloo"),
    Ok(
        "def f(batch_isend_irecv, ops):\n    reqs = batch_isend_irecv(ops)\n    reqs[1].wait()\n",
        "a parameter of that name",
    ),
)
