"""`init_process_group` on NCCL without `device_id`: since torch 2.15 the device is guessed when the group is created."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.distributed.backends import backend_of, init_arguments
from torchlift.rules.distributed.group_facts import COLLECTOR, sensitive_place
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

# device_id exists since torch 2.3 (DeepSpeed's deepspeed/comm/torch.py says so and checks the signature).
_NEEDS = TorchVersion(2, 3)
_EAGER_BY_DEFAULT = TorchVersion(2, 15)
# pytorch#153960: with device_id, NCCL of torch 2.6.0-2.7.0 can hang; fixed in 2.7.1.
_HANG_FIXED = TorchVersion(2, 7, 1)

_MESSAGE = (
    '`init_process_group` without `device_id`: since torch 2.15 "nccl" creates its communicator at once on device '
    "`LOCAL_RANK % device_count` (or `rank % device_count`), whatever `torch.cuda.set_device` says."
)
_ESCAPE = 'If the new engine misbehaves, `TORCH_DIST_USE_NCCL2=0` (2.15) or backend="nccl-legacy" (2.14+) bring the old one back.'


def _check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    call = use.call
    if call is None or use.kind != "call":
        return
    arguments = init_arguments(call)
    if arguments is None or "device_id" in arguments:
        return
    backend = backend_of(view, arguments.get("backend"))
    if backend == "other":
        return
    span = view.span(use.node)
    if backend != "nccl":
        what = "no backend is named" if backend == "absent" else "the backend is not a constant here"
        advice = (
            f'Not rewritten: {what}. On CUDA pass `device_id=torch.device("cuda", local_rank)`; a CPU group must not '
            f"get one. {_ESCAPE}"
        )
        severity = Severity.WARNING if backend == "absent" else Severity.INFO
        yield Finding("TL201", view.path, span, _MESSAGE, severity, advice)
        return
    device = _bound_device(view, call)
    if device is None:
        advice = (
            "Not rewritten: no `torch.cuda.set_device(...)` surely runs before it in this function. Pass "
            f'`device_id=torch.device("cuda", local_rank)` with the device this rank uses. {_ESCAPE}'
        )
        yield Finding("TL201", view.path, span, _MESSAGE, Severity.INFO, advice)
        return
    assumptions = []
    torch_device = view.spell("torch.device", call, use)
    if torch_device is None:
        return
    kind = _device_kind(view, device)
    parts = (("device", view.span(device)),)
    if kind == "integer":
        value = Template(f'{torch_device.text}("cuda", $device)', parts)
    elif kind == "device":
        value = Template("$device", parts)
    else:
        value = Template(f"{torch_device.text}($device)", parts)
        if kind == "unknown":
            assumptions.append(f"`{view.text(device)}` has to be a device index, a device string or a torch.device")
    if context.settings.min_torch < _EAGER_BY_DEFAULT:
        place = sensitive_place(context.project)
        if place is not None:
            advice = (
                f"Not rewritten: the project supports torch {context.settings.min_torch}, where `device_id` makes group "
                f"creation eager, and it has {place}, which eager groups serialise or hang."
            )
            yield Finding("TL201", view.path, span, _MESSAGE, Severity.INFO, advice)
            return
    if context.settings.min_torch < _HANG_FIXED:
        assumptions.append(
            "torch 2.6.0-2.7.0 can hang with `device_id` (pytorch#153960), so those releases must not be used"
        )
    edit = EditCall(view.span(call), add=(("device_id", value),))
    safety = Safety.UNSAFE if assumptions else Safety.SAFE
    advice_text = f"Needs review: {'; '.join(assumptions)}." if assumptions else None
    fix = Fix("Pass the device this rank already set", safety, (*torch_device.imports, edit), needs=_NEEDS)
    yield Finding("TL201", view.path, span, _MESSAGE, Severity.INFO, advice_text, fix)


def _bound_device(view: ModuleView, call: ast.Call) -> ast.expr | None:
    """The argument of the last `torch.cuda.set_device` that surely ran before `call`, if its value is still the same."""
    statement: ast.stmt = view.statement(call)
    function = view.function_of(call)
    while True:
        block = view.block(statement)
        for earlier in reversed(block[: block.index(statement)]):
            device = _set_device(view, earlier)
            if device is not None:
                return device if _unchanged(view, device, earlier, call) else None
            if any(isinstance(node, ast.Call) and _is_set_device(view, node) for node in ast.walk(earlier)):
                return None  # conditional
        parent = view.parent(statement)
        if not isinstance(parent, ast.stmt) or parent is function:
            return None
        statement = parent


def _is_set_device(view: ModuleView, node: ast.Call) -> bool:
    resolution = view.resolve(node.func)
    return resolution is not None and resolution.certain and resolution.name == "torch.cuda.set_device"


def _set_device(view: ModuleView, statement: ast.stmt) -> ast.expr | None:
    if (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _is_set_device(view, statement.value)
    ):
        call = statement.value
        if len(call.args) == 1 and not call.keywords and _is_pure(view, call.args[0]):
            return call.args[0]
    return None


def _is_pure(view: ModuleView, node: ast.expr) -> bool:
    """Whether evaluating it twice in a row gives the same value and does nothing else."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute():
            return _is_pure(view, node.value)
        case ast.Subscript():
            return _is_pure(view, node.value) and _is_pure(view, node.slice)
        case ast.BinOp():
            return _is_pure(view, node.left) and _is_pure(view, node.right)
        case ast.JoinedStr():
            return all(
                isinstance(v, ast.Constant) or (isinstance(v, ast.FormattedValue) and _is_pure(view, v.value))
                for v in node.values
            )
        case ast.Call(func=ast.Name(id="int" | "str"), args=[inner], keywords=[]):
            return _is_pure(view, inner)
        case ast.Call(keywords=[]):
            resolution = view.resolve(node.func)
            known = {"os.environ.get", "os.getenv", "torch.cuda.device_count", "torch.device"}
            return resolution is not None and resolution.name in known and all(_is_pure(view, a) for a in node.args)
        case _:
            return False


def _unchanged(view: ModuleView, device: ast.expr, earlier: ast.stmt, call: ast.Call) -> bool:
    """Whether `device` surely still has the value it had in `earlier` when `call` evaluates it again.

    Local names must not be bound again in between (or anywhere in a loop around both); anything that other code could
    change (attributes, the environment, globals) must not see any call in between.
    """
    start, end = earlier.lineno, call.lineno
    function = view.function_of(call)
    loops = [a for a in view.ancestors(call) if isinstance(a, (ast.For, ast.AsyncFor, ast.While))]
    names = {node.id for node in ast.walk(device) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(device) if isinstance(node, ast.Attribute)}
    between = [node for node in ast.walk(function or view.tree) if start < getattr(node, "lineno", 0) < end]
    for node in [*between, *(child for loop in loops for child in ast.walk(loop))]:
        if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute) and node.attr in attributes and not isinstance(node.ctx, ast.Load):
            return False
    local = isinstance(device, ast.Constant) or (
        isinstance(device, ast.Name)
        and function is not None
        and view.scope_at(device).lookup(device.id) is not None
        and view.scope_at(device).lookup(device.id).kind == "function"  # type: ignore[union-attr]
    )
    return local or not any(isinstance(node, (ast.Call, ast.Delete, ast.Subscript)) for node in between)


def _device_kind(view: ModuleView, node: ast.expr) -> Literal["integer", "device", "string", "unknown"]:
    """What kind of value a device expression has, by evidence and never by its name."""
    match node:
        case ast.Constant(value=bool()):
            return "unknown"
        case ast.Constant(value=int()):
            return "integer"
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "string"
        case ast.Call(func=ast.Name(id="int")):
            return "integer"
        case ast.BinOp(op=ast.Mod(), right=ast.Call() as right):
            resolution = view.resolve(right.func)
            return "integer" if resolution is not None and resolution.name == "torch.cuda.device_count" else "unknown"
        case ast.Call():
            resolution = view.resolve(node.func)
            if resolution is not None and resolution.name == "torch.device":
                return "device"
            known = {"torch.distributed.get_node_local_rank", "torch.distributed.get_rank"}
            return "integer" if resolution is not None and resolution.name in known else "unknown"
        case ast.Name():
            binding = view.definition(node)
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                return _device_kind(view, binding.value)
            if binding is not None and isinstance(binding.node, ast.arg):
                return _parameter_kind(view, binding.node)
            return "unknown"
        case ast.Attribute():
            return "integer" if _parsed_as_integer(view, node.attr) else "unknown"
        case _:
            return "unknown"


def _parameter_kind(view: ModuleView, parameter: ast.arg) -> Literal["integer", "device", "string", "unknown"]:
    annotation = parameter.annotation
    if isinstance(annotation, ast.Name) and annotation.id in {"int", "str"}:
        return "integer" if annotation.id == "int" else "string"
    resolution = view.resolve(annotation) if annotation is not None else None
    if resolution is not None and resolution.name == "torch.device":
        return "device"
    function = view.function_of(parameter) or view.parent(view.parents[parameter])
    if not isinstance(function, ast.FunctionDef) or not function.args.args or function.args.args[0] is not parameter:
        return "unknown"
    # torch.multiprocessing.spawn passes the process index as first argument, and is the only caller seen.
    uses = [chain for chain in view.scopes.chains.get(function.name, ()) if chain.top is chain.root]
    spawned = [
        use.call
        for use in view.uses(frozenset({"torch.multiprocessing.spawn"}))
        if use.call is not None and use.call.args
    ]
    targets = [call.args[0] for call in spawned]
    return "integer" if uses and all(chain.root in targets for chain in uses) else "unknown"


def _parsed_as_integer(view: ModuleView, name: str) -> bool:
    """Whether the file declares a command-line option of this name with `type=int` and no negative default."""
    for node in ast.walk(view.tree):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
        ):
            continue
        flags = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if name in {flag.lstrip("-").replace("-", "_") for flag in flags}:
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            kind, default = keywords.get("type"), keywords.get("default")
            return isinstance(kind, ast.Name) and kind.id == "int" and not isinstance(default, ast.UnaryOp)
    return False


# Without GPUs the group cannot be made; the examples run against stand-ins that record what would have been passed.
_RECORD = """\
import torch

result = []
torch.cuda.set_device = lambda device: result.append(("device", device))
torch.distributed.init_process_group = lambda *args, **kwargs: result.append(
    (args, {k: v for k, v in kwargs.items() if k != "device_id"}, str(kwargs.get("device_id", "cuda:1")))
)
"""

RULE = Rule(
    code="TL201",
    name="init-process-group-without-device-id",
    summary="`init_process_group` on NCCL without `device_id`",
    why=(
        "Up to torch 2.14 an NCCL group created its communicator at the first collective, on the current device. Since "
        '2.15 `"nccl"` is an eager engine: one device, one communicator, made inside `init_process_group`. Without '
        "`device_id` the device is `LOCAL_RANK % device_count`, or `rank % device_count`, and `torch.cuda.set_device` is "
        'ignored; a wrong guess ends in "Duplicate GPU detected" or "bound to device X but an operation was issued on Y".'
    ),
    fix=(
        "Safe when the backend is the constant `nccl` and a `torch.cuda.set_device(...)` with a repeatable argument surely "
        "runs before the call in the same function: the same device is passed. Needs review when nothing proves the type of "
        "that argument (an annotation, `int(...)`, an `int` option, `mp.spawn`). Not offered when the project still supports a torch before 2.15 and has code that eager groups "
        "serialise or hang (unbatched point-to-point, private group helpers, local synchronisation, conditional groups). "
        "Never offered for gloo or a backend that is not a constant: a CPU group must not get a `device_id`. " + _ESCAPE
    ),
    targets=("torch.distributed.init_process_group",),
    check=_check,
    severity=Severity.INFO,
    collectors=(COLLECTOR,),
    sources=(
        "torch/distributed/distributed_c10d.py of the 2.10-2.15 wheels (lines 820-849 of 2.15.0), read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/192895 (eager), https://github.com/pytorch/pytorch/pull/192281 (default)",
        "https://github.com/pytorch/pytorch/issues/153960 (hang in 2.6.0-2.7.0)",
    ),
    examples=(
        Bad(
            _RECORD + "\n\ndef setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n"
            '    torch.distributed.init_process_group("nccl")\n',
            _RECORD + "\n\ndef setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n"
            '    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", local_rank))\n',
            why="set_device right before",
            run="setup(1)",
        ),
        Bad(
            _RECORD + "import os\n\nimport torch.distributed as dist\n\n\ndef setup(rank, world):\n"
            '    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\n    if world > 1:\n'
            '        dist.init_process_group(\n            backend="cpu:gloo,cuda:nccl",\n            rank=rank,  # global\n'
            "            world_size=world,\n        )\n",
            _RECORD + "import os\n\nimport torch.distributed as dist\n\n\ndef setup(rank, world):\n"
            '    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\n    if world > 1:\n'
            '        dist.init_process_group(\n            backend="cpu:gloo,cuda:nccl",\n            rank=rank,  # global\n'
            '            world_size=world,\n            device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])),\n'
            "        )\n",
            why="alias, mixed backend, multi-line call inside an if",
            run='os.environ["LOCAL_RANK"] = "1"\nsetup(5, 8)',
        ),
        Bad(
            _RECORD + '\n\ndevice = torch.device("cuda:1")\ntorch.cuda.set_device(device)\n'
            'torch.distributed.init_process_group("nccl")\n',
            _RECORD + '\n\ndevice = torch.device("cuda:1")\ntorch.cuda.set_device(device)\n'
            'torch.distributed.init_process_group("nccl", device_id=device)\n',
            why="a device object",
            run="result = str(result)",
        ),
        Bad(
            _RECORD + "\n\ndef setup(where):\n    torch.cuda.set_device(where)\n"
            '    torch.distributed.init_process_group("nccl")\n',
            _RECORD + "\n\ndef setup(where):\n    torch.cuda.set_device(where)\n"
            '    torch.distributed.init_process_group("nccl", device_id=torch.device(where))\n',
            safety="unsafe",
            why="a device of unknown type",
            run='setup("cuda:1")',
        ),
        Bad(
            "import torch\n\n\ndef setup(rank):\n    torch.cuda.set_device(rank)\n"
            '    torch.distributed.init_process_group("nccl")\n    torch.distributed.send(torch.ones(1), 1)\n',
            safety="manual",
            why="unbatched point-to-point in a project that supports torch 2.13",
        ),
        Bad(
            "import torch\n\n\ndef setup(rank):\n    torch.cuda.set_device(rank)\n    rank = 3\n"
            '    torch.distributed.init_process_group("nccl")\n',
            safety="manual",
            why="the rank is another one by then",
        ),
        Bad(
            'import torch.distributed as dist\n\ndist.init_process_group(backend="nccl")\n',
            safety="manual",
            why="no set_device",
        ),
        Bad("import torch.distributed as dist\n\ndist.init_process_group()\n", safety="manual", why="no backend named"),
        Bad(
            "import torch.distributed as dist\n\n\ndef f(backend):\n    dist.init_process_group(backend)\n",
            safety="manual",
            why="the backend is a parameter",
        ),
        Ok('import torch.distributed as dist\n\ndist.init_process_group("gloo")\n', "gloo"),
        Ok('import torch.distributed as dist\n\ndist.init_process_group("nccl-lazy")\n', "a backend chosen on purpose"),
        Ok(
            'import torch\n\ntorch.distributed.init_process_group("nccl", device_id=torch.device("cuda:0"))\n', "has it"
        ),
        Ok(
            "import torch.distributed as dist\n\n\ndef f(**kw):\n    dist.init_process_group('nccl', **kw)\n",
            "open keywords",
        ),
        Ok("import comms as dist\n\ndist.init_process_group('nccl')\n", "another library's function"),
        Ok(
            "class dist:\n    @staticmethod\n    def init_process_group(b): ...\n\n\ndist.init_process_group('nccl')\n",
            "own class",
        ),
    ),
)
