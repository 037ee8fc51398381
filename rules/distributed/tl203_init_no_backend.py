"""`init_process_group` without a backend."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.project import Collector, Project
from torchlift.rules.analysis.places.purpose import is_test_file
from torchlift.rules.distributed.devices.device_binding import COLLECTORS as OF_DEVICES
from torchlift.rules.distributed.devices.device_binding import device_advice, unbound_init
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.recorded_jobs import recorded_group
from torchlift.rules.distributed.groups.group_identity import is_default_group
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

RULE = Rule(
    code="TL203",
    name="init-process-group-without-backend",
    summary="`init_process_group` without a backend",
    why=(
        "With neither `backend` nor `device_id` a group gets a backend for each kind of device, but `get_backend()` answers "
        '"undefined", so comparisons with "nccl" or "gloo" are false. Since torch 2.15 the NCCL part is made inside '
        "`init_process_group`, on a device that is guessed from `LOCAL_RANK` or the rank."
    ),
    fix=(
        "None: whether the program may run without GPUs is for its author to say. The advice names the device in the words "
        "this project uses."
    ),
    targets=("torch.distributed.init_process_group",),
    sources=(
        "`get_backend()` measured on torch 2.13.0 and 2.15.0, 2026-11-21",
        "torch/distributed/distributed_c10d.py of the 2.15.0 wheel (lines 820-849), read 2026-11-21",
    ),
)

_SHOWN = 3
_DEVICE_TYPES = frozenset({"device_type", "_device_type"})


def check(use: Use, context: Context) -> Iterator[Finding]:
    unbound = unbound_init(use, context)
    if unbound is None or unbound.init.backend != "absent":
        return
    view = context.view
    places = _backend_comparisons(context.project, view.path)
    compared = ""
    if places:
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        compared = f"; this project compares it at {', '.join(places[:_SHOWN])}{more}"
    message = (
        '`init_process_group` with neither `backend` nor `device_id`: `get_backend()` answers "undefined" (torch 2.13 and '
        f"2.15){compared}. Since torch 2.15 the NCCL part of the group is made at once on a guessed device, "
        "`LOCAL_RANK % device_count` or `rank % device_count`."
    )
    device, note = device_advice(unbound, context)
    device_type = _device_type(view, use)
    where = f'Where `{device_type}` is "cuda" name both' if device_type is not None else "Name both"
    without = f'Where `{device_type}` is "cpu"' if device_type is not None else "On a machine without GPUs"
    advice = (
        f'{where}: `backend="nccl", device_id={device}`{note}; `backend="cpu:gloo,cuda:nccl"` keeps CPU tensors working '
        f'too. {without} write backend="gloo" and no `device_id`. {ESCAPE}'
    )
    notes = recorded_group(use, context)
    yield Finding("TL203", view.path, view.span(use.node), message, Severity.WARNING, advice, notes=notes)


def _device_type(view: ModuleView, use: Use) -> str | None:
    """What the code around a call calls the device type that it is given, if it is given one."""
    function = view.function_of(use.node)
    if function is None:
        return None
    parameters = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    if any(parameter.arg == "device_type" for parameter in parameters):
        return "device_type"
    for node in walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Load()) if attr in _DEVICE_TYPES:
                return view.text(node)
    return None


_GET_BACKEND = frozenset({"torch.distributed.get_backend"})
# The answer "undefined" makes a difference only where one of the backends that a group without a name has is asked for.
_NAMES = frozenset({"nccl", "gloo", "mpi"})
_CONSTANTS = frozenset(f"torch.distributed.Backend.{name.upper()}" for name in _NAMES)


def _collect(view: ModuleView) -> tuple[int, ...] | None:
    lines: list[int] = []
    for use in view.uses(_GET_BACKEND):
        if use.call is None or use.kind != "call" or not _asks_default_group(view, use.call):
            continue
        parent = view.parent(use.call)
        if _is_telling(view, parent):
            lines.append(use.call.lineno)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            for binding in view.scope_at(parent).bindings.get(parent.targets[0].id, ()):
                if binding.value is use.call:
                    lines += [read.lineno for read, _ in view.reads_of(binding) if _is_telling(view, view.parent(read))]
    return tuple(sorted(set(lines))) or None


def _asks_default_group(view: ModuleView, call: ast.Call) -> bool:
    """Whether a `get_backend` call asks for the backend of the group that `init_process_group` makes."""
    group = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "group"), None)
    return is_default_group(view, group)


def _is_telling(view: ModuleView, test: ast.AST | None) -> bool:
    """Whether `test` compares with the name of a backend, or a constant for it, which "undefined" is not."""
    if not isinstance(test, ast.Compare):
        return False
    for side in (test.left, *test.comparators):
        for item in side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else (side,):
            if isinstance(item, ast.Constant) and isinstance(item.value, str) and item.value.lower() in _NAMES:
                return True
            if view.possible_name(item) in _CONSTANTS:
                return True
    return False


_COMPARISONS = Collector("distributed.backend_comparisons", ("get_backend",), _collect)


def _backend_comparisons(project: Project, near: str) -> list[str]:
    """`path:line` of comparisons of `get_backend()` of the default group that "undefined" changes, near a file.

    Near is the file itself, then what lies in its folder, in one below or in one above: other folders hold other programs.
    Tests are near tests only.
    """
    records = project.records(_COMPARISONS)
    paths = sorted((path for path in records if _is_near(path, near)), key=lambda path: (path != near, path))
    return [f"{path}:{line}" for path in paths for line in records[path]]


def _is_near(path: str, near: str) -> bool:
    one, other = (f"{name.rpartition('/')[0]}/".lstrip("/") for name in (path, near))
    is_nested = one.startswith(other) or other.startswith(one)
    return path == near or (is_nested and (is_test_file(near) or not is_test_file(path)))


COLLECTORS = (*OF_DEVICES, _COMPARISONS)

EXAMPLES = (
    Bad("import torch.distributed as dist\n\ndist.init_process_group()\n", why="nothing named"),
    Bad(
        "from torch.distributed import init_process_group as init\n\ninit(backend=None, rank=0, world_size=2)\n",
        why="the backend is None",
    ),
    Bad(
        "import torch.distributed as dist\n\ndist.init_process_group(init_method='env://')\n"
        "fast = dist.get_backend() == 'nccl'\n",
        why="the answer of get_backend is compared",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef mesh(device_type, sizes):\n    if not dist.is_initialized():\n"
        "        dist.init_process_group()\n",
        why="a library that is given the type of the device",
    ),
    Ok("import torch.distributed as dist\n\ndist.init_process_group('gloo')\n", "a backend is named"),
    Ok(
        "import torch\n\ntorch.distributed.init_process_group(device_id=torch.device('cuda:0'))\n",
        "the device names the backend",
    ),
    Ok("import torch.distributed as dist\n\n\ndef f(**kw):\n    dist.init_process_group(**kw)\n", "open keywords"),
    Ok("import mpi as dist\n\ndist.init_process_group()\n", "another library"),
    Ok('"""Call torch.distributed.init_process_group() first."""\n', "a docstring"),
)
