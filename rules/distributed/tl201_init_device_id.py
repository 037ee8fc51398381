"""`init_process_group` on NCCL without `device_id`: since torch 2.15 the device is guessed when the group is created."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.device_binding import COLLECTORS, binding_finding, unbound_init
from torchlift.rules.distributed.escape_hatches import ESCAPE
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

_MESSAGE = (
    '`init_process_group` without `device_id`: since torch 2.15 "nccl" creates its communicator at once on device '
    "`LOCAL_RANK % device_count` (or `rank % device_count`), whatever `torch.cuda.set_device` says."
)


def _check(use: Use, context: Context) -> Iterator[Finding]:
    unbound = unbound_init(use, context)
    if unbound is None or unbound.init.backend == "absent" or unbound.guess.same in {"other", "maybe"}:
        return  # TL203 and TL202 report these
    finding = Finding("TL201", context.view.path, context.view.span(use.node), _MESSAGE, Severity.INFO)
    yield from binding_finding(unbound, use, context, finding)


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
        "Never offered for gloo or a backend that is not a constant: a CPU group must not get a `device_id`. " + ESCAPE
    ),
    targets=("torch.distributed.init_process_group",),
    check=_check,
    severity=Severity.INFO,
    collectors=COLLECTORS,
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
