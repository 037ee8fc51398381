"""Point-to-point from a thread or inside a side stream, on the group that everything else uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.self_attributes import self_attribute, stored_on_self
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.distributed.groups.group_identity import group_key, surely_without_nccl
from torchlift.rules.distributed.p2p.batches.batch_operations import operations_of
from torchlift.rules.distributed.p2p.calls import BATCH, OP_PARAMETERS, arguments_of, function_of_call
from torchlift.rules.distributed.p2p.interpreter.communication import COLLECTIVES
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_STREAMS = frozenset({"torch.cuda.stream", "torch.cuda.StreamContext"})

RULE = Rule(
    code="TL215",
    name="p2p-in-thread",
    summary="Point-to-point on the default group from a thread or a side stream",
    why=(
        "An NCCL communicator takes operations in one order, and this order has to be the same on all ranks. Up to torch 2.14 "
        "unbatched point-to-point had a communicator for every pair of ranks, which kept a thread out of the way of the "
        'training loop. Since 2.15 a group of `"nccl"` has one communicator and one stream: what a thread posts queues '
        "between the collectives of the main thread, in an order that differs from rank to rank, and `torch.cuda.stream` "
        "around it has no effect on the overlap."
    ),
    fix=(
        "Not offered: pass a group of its own to what runs beside the rest. Reported for functions of the same file that are "
        "surely started in a thread, and for `with torch.cuda.stream(...)`, where an operation surely is on the default group, or "
        "on one that a collective of the same file names."
    ),
    since=NEW_ENGINE,
    targets=("threading.Thread", "*.submit", *sorted(_STREAMS)),
    triggers=("Thread & torch.distributed", "submit & torch.distributed", "stream & isend", "stream & irecv"),
    applies=may_use_nccl,
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py, docstring of `new_group`, torch 2.10-2.15, read 2026-11-21",
        "nccl2/ProcessGroupNCCLUtils.cpp getOperationStream and headers of the torch 2.15 wheel (one internal stream per group)",
    ),
)  # fmt: skip

_THREAD = (
    "`{function}` runs in a thread and reaches `{call}` on the default group (line {line}): operations of one NCCL group have "
    "to be posted in the same order on every rank, and the order of two threads is not the same everywhere."
)
_STREAM = (
    "`{call}` (line {line}) inside a side stream, on the default group: since torch 2.15 all point-to-point of a group runs on "
    "one stream of the group, so different side streams no longer make it overlap."
)
_BESIDE = (
    "`{call}` (line {line}) inside a side stream, on the group of `{other}` (line {at}): since torch 2.15 both run on one "
    "stream of the group, in the order in which they are posted, so the side stream no longer makes them overlap."
)
_COLLECTIVES = frozenset(f"torch.distributed.{name}" for name in COLLECTIVES)
_OWN_GROUP = (
    "Give {what} a group of its own, made on every rank before it starts: `group = dist.new_group()`, and pass "
    '`group=group`; `dist.new_group(backend="nccl-lazy")` (2.14+) also keeps a communicator for every peer. '
)
_THREADS = frozenset({"threading.Thread"})
_POOLS = frozenset({"concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor"})


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.call is None or use.kind != "call" or not may_use_nccl(context.project):
        return
    if use.target in _STREAMS:
        yield from _check_stream(view, use, use.call)
        return
    if surely_without_nccl(view, None):
        return
    function = _started(view, use)
    found = _on_default_group(view, function.body) if function is not None else None
    if function is None or found is None:
        return
    message = _THREAD.format(function=function.name, call=view.text(found.func), line=found.lineno)
    yield Finding(
        "TL215",
        view.path,
        view.span(use.node),
        message,
        Severity.WARNING,
        _OWN_GROUP.format(what="the thread") + ESCAPE,
    )


def _check_stream(view: ModuleView, use: Use, call: ast.Call) -> Iterator[Finding]:
    item = view.parent(call)
    block = view.parent(item) if isinstance(item, ast.withitem) else None
    if not isinstance(block, ast.With):
        return
    found = _on_default_group(view, block.body, depth=0)
    if found is not None:
        message = _STREAM.format(call=view.text(found.func), line=found.lineno)
        advice = _OWN_GROUP.format(what="what has to overlap") + ESCAPE
        yield Finding("TL215", view.path, view.span(use.node), message, Severity.INFO, advice)
        return
    beside = _beside_collective(view, block)
    if beside is not None:
        sent, collective = beside
        message = _BESIDE.format(
            call=view.text(sent.func), line=sent.lineno, other=view.text(collective.func), at=collective.lineno
        )
        advice = _OWN_GROUP.format(what="the messages") + ESCAPE
        yield Finding("TL215", view.path, view.span(use.node), message, Severity.INFO, advice)


def _beside_collective(view: ModuleView, block: ast.With) -> tuple[ast.Call, ast.Call] | None:
    """A message in a side stream, and a collective of this file outside of it on the group that both name."""
    inside = [node for statement in block.body for node in walk(statement) if isinstance(node, ast.Call)]
    sent: dict[str, ast.Call] = {}
    for call in inside:
        function = function_of_call(view, call)
        arguments = arguments_of(call, function) if function is not None else None
        if arguments is not None and group_key(view, arguments.get("group")):
            sent.setdefault(group_key(view, arguments.get("group")), call)
    for use in view.uses(_COLLECTIVES) if sent else ():
        if use.call is None or use.kind != "call" or use.call in inside:
            continue
        arguments = named_arguments(use.call, COLLECTIVES[use.target.rpartition(".")[2]])
        key = group_key(view, arguments.get("group")) if arguments is not None else ""
        if key in sent:
            return sent[key], use.call
    return None


def _started(view: ModuleView, use: Use) -> ast.FunctionDef | None:
    """The function of this file that a call runs in a thread."""
    call = use.call
    assert call is not None
    if use.target in _THREADS:
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "target"), None)
        given = given or (call.args[1] if len(call.args) > 1 else None)
        return _function_named(view, given) if given is not None else None
    # `executor.submit(function, ...)`, if the executor surely is one of threads.
    if not isinstance(use.node, ast.Attribute) or not call.args or not _is_thread_pool(view, use.node.value):
        return None
    return _function_named(view, call.args[0])


def _is_thread_pool(view: ModuleView, node: ast.expr) -> bool:
    """Whether a name is bound to a `ThreadPoolExecutor(...)`, by assignment or by `with`."""
    if isinstance(node, ast.Attribute):
        values = stored_on_self(view, node) if self_attribute(node) is not None else []
        return len(values) == 1 and _makes_pool(view, values[0])
    binding = view.definition(node)
    item = view.parent(binding.node) if binding is not None else None
    value = item.context_expr if isinstance(item, ast.withitem) else assigned_value(view, node)
    return value is not None and _makes_pool(view, value)


def _makes_pool(view: ModuleView, value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and view.possible_name(value.func) in _POOLS


_DEEPEST = 3


def _on_default_group(view: ModuleView, nodes: Iterable[ast.AST], depth: int = _DEEPEST) -> ast.Call | None:
    """The first call among `nodes`, or in functions they call, that surely posts something on the default group.

    Functions of the same file and methods of the same class are followed; code that is only defined there is not.
    """
    stack = list(nodes)[::-1]
    called: list[ast.FunctionDef] = []
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Call):
            if _posts_on_default(view, node):
                return node
            function = _function_named(view, node.func)
            if function is not None:
                called.append(function)
        stack.extend(reversed(list(ast.iter_child_nodes(node))))
    for function in called if depth else ():
        found = _on_default_group(view, function.body, depth - 1)
        if found is not None:
            return found
    return None


def _function_named(view: ModuleView, node: ast.expr) -> ast.FunctionDef | None:
    """The function of the same file that a name or `self.method` surely is."""
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        return binding.node if binding is not None and isinstance(binding.node, ast.FunctionDef) else None
    owner = view.class_of(node) if self_attribute(node) is not None else None
    methods = [item for item in (owner.body if owner is not None else ()) if isinstance(item, ast.FunctionDef)]
    named = [method for method in methods if method.name == self_attribute(node)]
    return named[0] if len(named) == 1 else None


def _posts_on_default(view: ModuleView, call: ast.Call) -> bool:
    function = function_of_call(view, call)
    if function is not None:
        arguments = arguments_of(call, function)
        return arguments is not None and not group_key(view, arguments.get("group"))
    if view.certain_name(call.func) != BATCH:
        return False
    found = [named_arguments(operation, OP_PARAMETERS) for operation in operations_of(view, call)]
    return bool(found) and all(one is not None and not group_key(view, one.get("group")) for one in found)


_HEAD = "import threading\n\nimport torch\nimport torch.distributed as dist\n\n\n"
_PUSH = "def push(x, peer):\n    dist.send(x, peer)\n\n\n"

EXAMPLES = (
    Bad(
        _HEAD + "class Stage:\n    def send(self, x, peer):\n        with torch.cuda.stream(self.side):\n"
        "            self.work = dist.isend(x, peer, group=self.group)\n\n    def reduce(self, grad):\n"
        "        dist.all_reduce(grad, group=self.group)\n",
        why="a send on a side stream, on the group of a collective",
    ),
    Ok(
        _HEAD + "class Stage:\n    def send(self, x, peer):\n        with torch.cuda.stream(self.side):\n"
        "            self.work = dist.isend(x, peer, group=self.messages)\n\n    def reduce(self, grad):\n"
        "        dist.all_reduce(grad, group=self.group)\n",
        "a side stream, on a group of its own",
    ),
    Bad(_HEAD + _PUSH + "def start(x):\n    threading.Thread(target=push, args=(x, 1)).start()\n", why="a thread"),
    Bad(
        "from threading import Thread\n\nfrom torch.distributed import recv\n\n\nclass Receiver:\n"
        "    def start(self):\n        self.thread = Thread(target=self.loop, daemon=True)\n\n"
        "    def loop(self):\n        while True:\n            self.take()\n\n"
        "    def take(self):\n        recv(self.buffer, 0)\n",
        why="a method that calls another one",
    ),
    Bad(
        "from concurrent.futures import ThreadPoolExecutor\n\nimport torch.distributed as dist\n\n\n"
        + _PUSH
        + "def start(x):\n    with ThreadPoolExecutor(1) as pool:\n        pool.submit(push, x, 1)\n",
        why="an executor",
    ),
    Bad(
        _HEAD + "def swap(x, y, peer, side):\n    with torch.cuda.stream(side):\n"
        "        reqs = [dist.isend(x, peer), dist.irecv(y, peer)]\n    return reqs\n",
        why="a side stream",
    ),
    Ok(
        _HEAD + _PUSH.replace("peer)", "peer, group=GROUP)") + "GROUP = dist.new_group()\n"
        "threading.Thread(target=push, args=(1, 1))\n",
        "a group of its own",
    ),
    Ok(
        _HEAD + "def log():\n    print(dist.get_rank())\n\n\nthreading.Thread(target=log).start()\n", "no communication"
    ),
    Ok(
        _HEAD + _PUSH + "dist.init_process_group('gloo')\nthreading.Thread(target=push, args=(1, 1)).start()\n",
        "a project on gloo",
    ),
    Ok(
        _HEAD
        + "def swap(x, peer, side, group):\n    with torch.cuda.stream(side):\n        dist.isend(x, peer, group).wait()\n",
        "a side stream with its own group",
    ),
    Ok(
        _HEAD + "def swap(x, peer, side):\n    with torch.cuda.stream(side):\n        x += 1\n    dist.send(x, peer)\n",
        "outside the stream",
    ),
    Ok(
        "import torch.distributed as dist\n\n\n" + _PUSH + "def start(pool, x):\n    pool.submit(push, x, 1)\n",
        "an executor that may be of processes",
    ),
    Ok(
        "import socket\nimport threading\n\nimport torch.distributed\n\n\ndef loop(s: socket.socket):\n    s.send(b'')\n\n\n"
        "threading.Thread(target=loop)\n",
        "a socket",
    ),
)
