"""`init_process_group` without a backend."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.devices.device_binding import COLLECTORS, device_advice, unbound_init
from torchlift.rules.distributed.facts.escape_hatches import ESCAPE
from torchlift.rules.distributed.groups.backend_comparisons import BACKEND_COMPARISONS, backend_comparisons
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_SHOWN = 3
_DEVICE_TYPES = frozenset({"device_type", "_device_type"})


def _check(use: Use, context: Context) -> Iterator[Finding]:
    unbound = unbound_init(use, context)
    if unbound is None or unbound.init.backend != "absent":
        return
    view = context.view
    places = backend_comparisons(context.project)
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
    yield Finding("TL203", view.path, view.span(use.node), message, Severity.WARNING, advice)


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
    check=_check,
    collectors=(*COLLECTORS, BACKEND_COMPARISONS),
    sources=(
        "`get_backend()` measured on torch 2.13.0 and 2.15.0, 2026-11-21",
        "torch/distributed/distributed_c10d.py of the 2.15.0 wheel (lines 820-849), read 2026-11-21",
    ),
    examples=(
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
    ),
)
