"""A CUDA device mesh that initialises the process group by itself, without a device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_MESH = (
    "torch.distributed.device_mesh.init_device_mesh",
    "torch.distributed.init_device_mesh",
)

RULE = Rule(
    code="TL204",
    name="device-mesh-makes-the-process-group",
    summary="A CUDA device mesh that initialises the process group without a device",
    why=(
        "`init_device_mesh` calls `init_process_group()` without arguments when there is no group yet, and sets the current "
        'device only afterwards. Up to torch 2.14 nothing touched the GPU in between; since 2.15 `"nccl"` creates its '
        "communicator inside that call, on a device guessed from `LOCAL_RANK` or the rank."
    ),
    fix=(
        "None: an explicit `init_process_group` with `device_id` belongs in front, and where is for the author to say. "
        "Reported only in files that are run as programs, where nothing that they load, or that loads them, makes the group."
    ),
    since=NEW_ENGINE,
    targets=_MESH,
    severity=Severity.INFO,
    collectors=(BACKENDS,),
    triggers=("init_device_mesh",),
    sources=(
        "torch/distributed/device_mesh.py of the 2.13.0 (line 441) and 2.15.0 (line 489) wheels, read 2026-11-21",
    ),
)

# Whatever may make the default group before a mesh is made: torch's own function, and libraries that call it.
_MAKERS = (
    "init_process_group", "init_distributed", "dist_init", "Accelerator", "PartialState", "lightning", "Lightning", "Fabric",
    "deepspeed", "horovod", "TorchTrainer", "initialize_megatron", "idist", "init_dist", "colossalai",
)  # fmt: skip


_TESTS = "torch.testing._internal"
_MOST_FILES = 200
"""Files of one program that are looked at."""


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call" or not _on_cuda(view, call) or not _is_entry(view, call):
        return
    if not may_use_nccl(context.project) or _made_elsewhere(context.project, view):
        return
    message = (
        "Nothing in this program is seen to initialise the process group; if nothing else does, this device mesh does it, without naming a backend or a "
        'device: since torch 2.15 "nccl" creates its communicator right there, on a device guessed from `LOCAL_RANK` or the '
        "rank, before the mesh sets one."
    )
    advice = (
        "Initialise it first, with the device: "
        '`torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))` '
        '("cpu:gloo,cuda:nccl" if CPU tensors are communicated too), after `torch.cuda.set_device` with the same number. '
        f"{ESCAPE}"
    )
    yield Finding("TL204", view.path, view.span(use.node), message, Severity.INFO, advice)


def _on_cuda(view: ModuleView, call: ast.Call) -> bool:
    node = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "device_type"), None)
    if isinstance(node, ast.Name):
        node = assigned_value(view, node)
    return isinstance(node, ast.Constant) and node.value == "cuda"


def _is_entry(view: ModuleView, call: ast.Call) -> bool:
    """Whether the file is run as a program: it asks for `__main__`, or makes the mesh while it is imported."""
    if view.function_of(call) is None and not any(isinstance(a, ast.ClassDef) for a in view.ancestors(call)):
        return True
    return any(
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
        for node in view.tree.body
    )


def _made_elsewhere(project: Project, view: ModuleView) -> bool:
    """Whether a file that this program loads, or one that loads it, may make the group."""
    makers = set(project.files_holding(*_MAKERS))
    if not makers:
        return False
    stems = {path.rpartition("/")[2].removesuffix(".py") for path in makers}
    seen, pending = {view.path}, [view]
    while pending:
        current = pending.pop()
        if current.path in makers or len(seen) > _MOST_FILES:
            return True
        # A module of that name may be found on another path, and tests of torch start their processes themselves.
        if any(not stems.isdisjoint(name.split(".")) or name.startswith(_TESTS) for name in _imported(current)):
            return True
        for path in _loaded(project, current) - seen:
            seen.add(path)
            loaded = project.view(path)
            if loaded is None:
                return True
            pending.append(loaded)
    naming = makers.intersection(project.files_holding(view.module.rpartition(".")[2])) if view.module else makers
    loading = (project.view(path) for path in sorted(naming))
    return any(maker is None or view.path in _loaded(project, maker) for maker in loading)


def _loaded(project: Project, view: ModuleView) -> set[str]:
    """The files of the project that a file imports, wherever it does."""
    found = (project.find_module(name, view.path) for name in _imported(view))
    return {path for path in found if path is not None}


def _imported(view: ModuleView) -> set[str]:
    """Absolute names of the modules, or of what is in them, that a file imports."""
    names: set[str] = set()
    for node in walk(view.tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = view.absolute(f"{'.' * node.level}{node.module or ''}")
            names.update({base or "", *(f"{base}.{alias.name}" for alias in node.names)})
    return names - {""}


_MAIN = '\n\nif __name__ == "__main__":\n    main()\n'

EXAMPLES = (
    Bad(
        "from torch.distributed.device_mesh import init_device_mesh\n\n\ndef main():\n"
        '    return init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))\n' + _MAIN,
        why="a program that starts with a mesh",
    ),
    Bad(
        "import torch.distributed as dist\n\nkind = 'cuda'\nmesh = dist.init_device_mesh(device_type=kind, mesh_shape=(8,))\n",
        why="made while the script runs, the type in a variable",
    ),
    Ok(
        "import torch\nfrom torch.distributed.device_mesh import init_device_mesh\n\n"
        "torch.distributed.init_process_group('gloo')\nmesh = init_device_mesh('cuda', (8,))\n",
        "the group is made first",
    ),
    Bad(
        "from torch.distributed.device_mesh import init_device_mesh\n\nmesh = init_device_mesh('cuda', (8,))\n",
        why="another program of the project makes a group",
        files=(("other.py", "import torch\n\ntorch.distributed.init_process_group('nccl')\n"),),
    ),
    Ok(
        "import groups\nfrom torch.distributed.device_mesh import init_device_mesh\n\nmesh = init_device_mesh('cuda', (8,))\n",
        "a module that is imported makes the group",
        files=(("groups.py", "import torch\n\ntorch.distributed.init_process_group('gloo')\n"),),
    ),
    Ok(
        "from torch.distributed.device_mesh import init_device_mesh\n\nmesh = init_device_mesh('cpu', (8,))\n",
        "a CPU mesh",
    ),
    Ok(
        "from torch.distributed.device_mesh import init_device_mesh\n\n\ndef mesh_of(n):\n"
        "    return init_device_mesh('cuda', (n,))\n",
        "a library: who imports it makes the group",
    ),
    Ok(
        "from accelerate import Accelerator\nfrom torch.distributed.device_mesh import init_device_mesh\n\n"
        "accelerator = Accelerator()\nmesh = init_device_mesh('cuda', (8,))\n",
        "another library makes the group",
    ),
    Ok("from meshes import init_device_mesh\n\nmesh = init_device_mesh('cuda', (8,))\n", "another library's mesh"),
)
