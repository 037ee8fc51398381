"""One process with two GPUs in one NCCL group."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, surely_uses_nccl
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_DDP = "torch.nn.parallel.DistributedDataParallel"
# Position of the tensor in the collectives that take one, and of the group.
_COLLECTIVES = {
    f"torch.distributed.{name}": group
    for name, group in (
        ("all_reduce", 2), ("broadcast", 2), ("reduce", 3), ("all_gather_into_tensor", 2), ("reduce_scatter_tensor", 3),
        ("all_to_all_single", 4),
    )
}  # fmt: skip

RULE = Rule(
    code="TL207",
    name="two-devices-in-one-group",
    summary="One process with two GPUs in one NCCL group",
    why=(
        "Up to torch 2.14 an NCCL group made a communicator for every device a process used. Since 2.15 it has exactly one, on "
        "the device it was bound to when it was made: `DistributedDataParallel` over a module on two GPUs, or collectives on "
        "tensors of `cuda:0` and `cuda:1` in one process, are refused; that is concluded from the source and was not watched on GPUs."
    ),
    fix="None: one process per GPU is another program.",
    since=NEW_ENGINE,
    targets=(_DDP, *_COLLECTIVES),
    applies=surely_uses_nccl,
    triggers=("DistributedDataParallel", "cuda:1 & distributed"),
    collectors=(BACKENDS,),
    sources=(
        "nccl2/ProcessGroupNCCLBackend.cpp and strings of the 2.15.0 wheel (one device per communicator), read 2026-11-21",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call" or not surely_uses_nccl(context.project):
        return
    if use.target == _DDP:
        devices = _devices_of_module(view, call)
        what = "`DistributedDataParallel` of a module on"
    else:
        devices = _devices_in_function(view, call)
        what = f"`{use.target.rpartition('.')[2]}` in one function on"
    if devices is None:
        return
    first, second = devices
    message = (
        f"{what} `{first}` and `{second}`: since torch 2.15 an NCCL group is one communicator on one device, and this ends in "
        '"bound to device X but an operation was issued on Y".'
    )
    advice = (
        "Give each process one GPU. A model that needs two takes tensor or pipeline parallelism with a process for each, or a "
        f"gloo group. {ESCAPE}"
    )
    yield Finding("TL207", view.path, view.span(use.node), message, Severity.WARNING, advice)


# A module on two devices


def _devices_of_module(view: ModuleView, call: ast.Call) -> tuple[str, str] | None:
    if (
        not call.args
        or len(call.args) > 1
        or any(k.arg in {"device_ids", "process_group", None} for k in call.keywords)
    ):
        return None
    module = assigned_value(view, call.args[0]) or call.args[0]
    binding = view.definition(module.func) if isinstance(module, ast.Call) else None
    for method in binding.node.body if binding is not None and isinstance(binding.node, ast.ClassDef) else ():
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            return _two(_submodule_devices(view, method))
    return None


def _submodule_devices(view: ModuleView, method: ast.FunctionDef) -> Iterator[str]:
    """Devices that a constructor moves its submodules to, in statements that always run."""
    for statement in method.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
            continue
        value = statement.value
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Call(), attr="to" | "cuda"), args=[device], keywords=[]):
                text = _device_text(view, device)
                if text is not None:
                    yield text


def _device_text(view: ModuleView, node: ast.expr) -> str | None:
    """How a device is written: a literal one, or a parameter or attribute that is called like one."""
    literal = _literal(node)
    if literal is not None:
        return literal
    name = last_name(node)
    return view.text(node) if name.startswith(("dev", "gpu", "cuda")) else None


# Collectives on two devices


def _devices_in_function(view: ModuleView, call: ast.Call) -> tuple[str, str] | None:
    """The devices of this collective and of one before it, if they are two literal ones that every run meets."""
    function = view.function_of(call)
    here = _collective_device(view, call)
    if here is None or not _always_runs(view, call):
        return None
    for node in walk(function or view.tree):
        if not isinstance(node, ast.Call) or node is call or node.lineno > call.lineno:
            continue
        if view.function_of(node) is function and _always_runs(view, node):
            other = _collective_device(view, node)
            if other is not None and other != here:
                return other, here
    return None


def _collective_device(view: ModuleView, call: ast.Call) -> str | None:
    """The literal device of a collective's tensor in the default group."""
    position = _COLLECTIVES.get(view.certain_name(call.func))
    if position is None or not call.args or len(call.args) > position:
        return None
    if any(keyword.arg in {"group", None} for keyword in call.keywords):
        return None
    return _tensor_device(view, call.args[0])


def _tensor_device(view: ModuleView, node: ast.expr) -> str | None:
    made = assigned_value(view, node) or node
    if not isinstance(made, ast.Call):
        return None
    for keyword in made.keywords:
        if keyword.arg == "device":
            return _literal(keyword.value)
    match made:
        case ast.Call(func=ast.Attribute(attr="cuda"), args=[ast.Constant(value=int() as index)]):
            return f"cuda:{index}"
        case ast.Call(func=ast.Attribute(attr="to" | "cuda"), args=[device]):
            return _literal(device)
    return None


def _literal(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str() as text) if text.startswith("cuda:"):
            return text
        case ast.Call(args=[ast.Constant(value=str() as text)]) if text.startswith("cuda:"):
            return text
        case ast.Call(args=[ast.Constant(value="cuda"), ast.Constant(value=int() as index)]):
            return f"cuda:{index}"
    return None


def _always_runs(view: ModuleView, node: ast.AST) -> bool:
    """Whether no branch of the function decides about `node`: ranks that take different branches have one device each."""
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
        if isinstance(ancestor, (ast.If, ast.IfExp, ast.Match, ast.Try, ast.BoolOp)):
            return False
    return True


def _two(devices: Iterator[str]) -> tuple[str, str] | None:
    different = list(dict.fromkeys(devices))
    return (different[0], different[1]) if len(different) > 1 else None


_MODEL = (
    "class Halves(nn.Module):\n    def __init__(self, dev0, dev1):\n        super().__init__()\n"
    "        self.first = nn.Linear(4, 4).to(dev0)\n        self.second = nn.Linear(4, 4).to(dev1)\n\n\n"
)
_HEAD = "import torch\nimport torch.distributed as dist\nfrom torch import nn\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n\n"

EXAMPLES = (
    Bad(
        _HEAD + _MODEL + "def main(rank):\n    dist.init_process_group('nccl', rank=rank)\n"
        "    model = Halves(rank * 2, rank * 2 + 1)\n    return DDP(model)\n",
        why="a module on two devices in DistributedDataParallel",
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n\n\ndef both():\n"
        "    a = torch.ones(3, device='cuda:0')\n    b = torch.ones(3).to('cuda:1')\n    dist.all_reduce(a)\n"
        "    dist.all_reduce(b)\n",
        why="collectives on two devices",
    ),
    Ok(
        "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n\n\ndef one(rank):\n"
        "    if rank == 0:\n        dist.all_reduce(torch.ones(3, device='cuda:0'))\n    else:\n"
        "        dist.all_reduce(torch.ones(3, device='cuda:1'))\n",
        "each rank takes one branch",
    ),
    Ok(
        _HEAD + _MODEL + "def main(rank):\n    dist.init_process_group('gloo', rank=rank)\n"
        "    return DDP(Halves(0, 1))\n",
        "gloo takes tensors of several devices",
    ),
    Ok(
        _HEAD + "class Net(nn.Module):\n    def __init__(self, device):\n        super().__init__()\n"
        "        self.a = nn.Linear(4, 4).to(device)\n        self.b = nn.Linear(4, 4).to(device)\n\n\n"
        "def main(rank):\n    dist.init_process_group('nccl')\n    return DDP(Net(rank), device_ids=[rank])\n",
        "one device",
    ),
    Ok(
        "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n\n\ndef both(groups):\n"
        "    a = torch.ones(3, device='cuda:0')\n    b = torch.ones(3, device='cuda:1')\n"
        "    dist.all_reduce(a, group=groups[0])\n    dist.all_reduce(b, group=groups[1])\n",
        "a group for each device",
    ),
    Ok(
        "from nets import DistributedDataParallel as DDP, Halves\n\nmodel = DDP(Halves('cuda:0', 'cuda:1'))\n",
        "another library's class",
    ),
)
