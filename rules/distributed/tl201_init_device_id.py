"""`init_process_group` on NCCL without `device_id`: since torch 2.15 the device is guessed when the group is created."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.devices.device_binding import COLLECTORS, binding_finding, unbound_init
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.facts.recorded_jobs import recorded_group
from torchlift.rules.distributed.facts.stand_in_for_nccl import GPU, ON_GLOO
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

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
        "Safe when the backend is NCCL for sure and the `torch.cuda.set_device(...)` that surely runs in the same function has "
        "an argument that can be repeated in the call: the same device is passed. It may stand behind the call, if its "
        "argument is known in front; plain assignments it needs move there. Where a test chooses between NCCL and a CPU "
        "backend, the device is passed under the same test. Needs review when nothing proves the type of the argument (an "
        "annotation, `int(...)`, an `int` option, `mp.spawn`), when other code runs in between that may set another device, when "
        "an `except` around the call waits for the error of a machine without GPUs, which a device changes, or when no `set_device` is "
        "in sight but something else names this process's GPU. Never offered for gloo or for a backend that is not known "
        "here: a CPU group must not get a `device_id`. Not offered when the project still supports a torch before 2.15 and "
        "has code that eager groups serialise or hang (overlapping point-to-point that one queue may hang, private group helpers, local "
        "synchronisation, groups that only some ranks create). " + ESCAPE
    ),
    since=NEW_ENGINE,
    targets=("torch.distributed.init_process_group",),
    severity=Severity.INFO,
    collectors=COLLECTORS,
    sources=(
        "torch/distributed/distributed_c10d.py of the 2.10-2.15 wheels (lines 820-849 of 2.15.0), read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/192895 (eager), https://github.com/pytorch/pytorch/pull/192281 (default)",
        "https://github.com/pytorch/pytorch/issues/153960 (hang in 2.6.0-2.7.0)",
    ),
)

_MESSAGE = (
    '`init_process_group` without `device_id`: since torch 2.15 "nccl" creates its communicator at once on device '
    "`LOCAL_RANK % device_count` (or `rank % device_count`), whatever `torch.cuda.set_device` says."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if _is_prepared(use, context):
        help = (
            f"Pass `device_id` here where this process's GPU is known, else where the prepared call is made. {ESCAPE}"
        )
        yield Finding("TL201", context.view.path, context.view.span(use.node), _MESSAGE, Severity.INFO, help)
        return
    unbound = unbound_init(use, context)
    if unbound is None or unbound.init.backend == "absent" or unbound.guess.same in {"other", "maybe"}:
        return  # TL203 and TL202 report these
    finding = Finding(
        "TL201",
        context.view.path,
        context.view.span(use.node),
        _MESSAGE,
        Severity.INFO,
        notes=recorded_group(use, context),
    )
    yield from binding_finding(unbound, use, context, finding)


def _is_prepared(use: Use, context: Context) -> bool:
    """Whether `functools.partial` gets the function with NCCL as its backend, and no device."""
    call = context.view.parent(use.node)
    if not isinstance(call, ast.Call) or use.node not in call.args[:1]:
        return False
    given = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "backend")]
    named = any(isinstance(value, ast.Constant) and value.value == "nccl" for value in given)
    bound = any(keyword.arg in {"device_id", None} for keyword in call.keywords)
    return named and not bound and context.view.possible_name(call.func) == "functools.partial"


_HEAD = "import os\n\nimport torch\nimport torch.distributed as dist\n\n\n"
_RANK = 'rank = int(os.environ["RANK"])\n'

EXAMPLES = (
    Bad(
        "import functools\n" + _HEAD + 'start = functools.partial(dist.init_process_group, "nccl")\n',
        why="a call that is prepared and made elsewhere",
    ),
    Bad(
        _HEAD + "def setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n"
        '    dist.init_process_group("nccl")\n',
        _HEAD + "def setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n"
        '    dist.init_process_group("nccl", device_id=torch.device("cuda", local_rank))\n',
        why="set_device right before",
        run=ON_GLOO + 'setup(int(os.environ["LOCAL_RANK"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(rank, world):\n"
        '    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\n    if world > 1:\n'
        '        torch.distributed.init_process_group(\n            backend="cpu:gloo,cuda:nccl",\n'
        "            rank=rank,  # global\n            world_size=world,\n        )\n",
        _HEAD + "def setup(rank, world):\n"
        '    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\n    if world > 1:\n'
        '        torch.distributed.init_process_group(\n            backend="cpu:gloo,cuda:nccl",\n'
        "            rank=rank,  # global\n            world_size=world,\n"
        '            device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])),\n        )\n',
        why="mixed backend, multi-line call inside an if",
        run=ON_GLOO + _RANK + 'setup(rank, int(os.environ["WORLD_SIZE"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        "import os\n\nimport torch as th\nfrom torch.distributed.distributed_c10d import init_process_group\n\n\n"
        "def setup():\n    device = th.device(f\"cuda:{os.environ['LOCAL_RANK']}\")\n    th.cuda.set_device(device)\n"
        '    init_process_group("nccl")\n',
        "import os\n\nimport torch as th\nfrom torch.distributed.distributed_c10d import init_process_group\n\n\n"
        "def setup():\n    device = th.device(f\"cuda:{os.environ['LOCAL_RANK']}\")\n    th.cuda.set_device(device)\n"
        '    init_process_group("nccl", device_id=device)\n',
        why="a device object, other spellings",
        run=ON_GLOO + "setup()\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(rank):\n    dist.init_process_group('nccl')\n"
        "    torch.cuda.set_device(rank % torch.cuda.device_count())\n",
        _HEAD + "def setup(rank):\n    dist.init_process_group('nccl', "
        'device_id=torch.device("cuda", rank % torch.cuda.device_count()))\n'
        "    torch.cuda.set_device(rank % torch.cuda.device_count())\n",
        why="set_device right behind",
        run=ON_GLOO + _RANK + "setup(rank)\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup():\n    dist.init_process_group('nccl')\n    print(dist.get_rank())\n"
        "    local_rank = int(os.environ['LOCAL_RANK'])  # from torchrun\n    torch.cuda.set_device(local_rank)\n",
        _HEAD + "def setup():\n    local_rank = int(os.environ['LOCAL_RANK'])  # from torchrun\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", local_rank))\n    print(dist.get_rank())\n"
        "    torch.cuda.set_device(local_rank)\n",
        why="an assignment moves in front",
        run=ON_GLOO + "setup()\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(local_rank: int):\n"
        '    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")\n'
        "    if torch.cuda.is_available():\n        torch.cuda.set_device(local_rank)\n",
        _HEAD + "def setup(local_rank: int):\n"
        '    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", '
        'device_id=torch.device("cuda", local_rank) if torch.cuda.is_available() else None)\n'
        "    if torch.cuda.is_available():\n        torch.cuda.set_device(local_rank)\n",
        why="with or without GPUs, run with",
        run=ON_GLOO + GPU + _RANK + "setup(rank)\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(local_rank: int):\n    backend = 'nccl' if torch.cuda.is_available() else 'gloo'\n"
        "    if backend == 'nccl':\n        torch.cuda.set_device(local_rank)\n    dist.init_process_group(backend)\n",
        _HEAD + "def setup(local_rank: int):\n    backend = 'nccl' if torch.cuda.is_available() else 'gloo'\n"
        "    if backend == 'nccl':\n        torch.cuda.set_device(local_rank)\n"
        '    dist.init_process_group(backend, device_id=torch.device("cuda", local_rank) '
        "if backend == 'nccl' else None)\n",
        why="with or without GPUs, run without",
        run=ON_GLOO + _RANK + "setup(rank)\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(local_rank: int, cpu):\n    if not cpu:\n        torch.cuda.set_device(local_rank)\n"
        '    dist.init_process_group(backend="gloo" if cpu else "nccl")\n',
        _HEAD + "def setup(local_rank: int, cpu):\n    if not cpu:\n        torch.cuda.set_device(local_rank)\n"
        '    dist.init_process_group(backend="gloo" if cpu else "nccl", '
        'device_id=None if cpu else torch.device("cuda", local_rank))\n',
        why="the test the other way round",
        run=ON_GLOO + _RANK + "setup(rank, False)\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def worker(index, world):\n    torch.cuda.set_device(index)\n"
        '    options = dict(init_method="env://", rank=index, world_size=world)\n'
        "    dist.init_process_group('nccl', **options)\n\n\n"
        "def main(world):\n    torch.multiprocessing.spawn(worker, args=(world,), nprocs=world)\n",
        _HEAD + "def worker(index, world):\n    torch.cuda.set_device(index)\n"
        '    options = dict(init_method="env://", rank=index, world_size=world)\n'
        "    dist.init_process_group('nccl', **options, device_id=torch.device(\"cuda\", index))\n\n\n"
        "def main(world):\n    torch.multiprocessing.spawn(worker, args=(world,), nprocs=world)\n",
        why="a worker of mp.spawn, keywords in a dict",
        run=ON_GLOO + _RANK + 'worker(rank, int(os.environ["WORLD_SIZE"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def local_rank():\n    return int(os.environ.get('LOCAL_RANK', 0))\n\n\ndef setup():\n"
        "    torch.cuda.set_device(local_rank())\n    dist.init_process_group('nccl')\n",
        _HEAD + "def local_rank():\n    return int(os.environ.get('LOCAL_RANK', 0))\n\n\ndef setup():\n"
        "    torch.cuda.set_device(local_rank())\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", local_rank()))\n",
        why="a function that only reads the environment",
        run=ON_GLOO + "setup()\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(where):\n    torch.cuda.set_device(where)\n    dist.init_process_group('nccl')\n",
        _HEAD + "def setup(where):\n    torch.cuda.set_device(where)\n"
        "    dist.init_process_group('nccl', device_id=torch.device(where))\n",
        safety="unsafe",
        why="a device of unknown type",
        run=ON_GLOO + 'setup("cuda:1")\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(args, model):\n    dist.init_process_group('nccl')\n    args.prepare()\n"
        "    torch.cuda.set_device(args.local_rank)\n",
        _HEAD + "def setup(args, model):\n    dist.init_process_group('nccl', "
        'device_id=torch.device("cuda", args.local_rank))\n    args.prepare()\n'
        "    torch.cuda.set_device(args.local_rank)\n",
        safety="unsafe",
        why="a call in between may change the device",
    ),
    Bad(
        _HEAD + "def setup(local_rank: int, use_gpu):\n    if use_gpu:\n        torch.cuda.set_device(local_rank)\n"
        "    dist.init_process_group('nccl')\n",
        _HEAD + "def setup(local_rank: int, use_gpu):\n    if use_gpu:\n        torch.cuda.set_device(local_rank)\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", local_rank))\n",
        safety="unsafe",
        why="set under another condition",
        run=ON_GLOO + _RANK + "setup(rank, True)\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup():\n    local_rank = int(os.environ['LOCAL_RANK'])\n    dist.init_process_group('nccl')\n"
        "    return local_rank\n",
        _HEAD + "def setup():\n    local_rank = int(os.environ['LOCAL_RANK'])\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", local_rank))\n    return local_rank\n",
        safety="unsafe",
        why="no set_device, but a local rank",
    ),
    Bad(
        _HEAD + "def setup(args):\n    if args.cuda:\n        args.device = torch.device(f'cuda:{args.rank}')\n"
        "    else:\n        args.device = torch.device('cpu')\n    backend = 'nccl' if args.cuda else 'gloo'\n    dist.init_process_group(backend)\n",
        _HEAD + "def setup(args):\n    if args.cuda:\n        args.device = torch.device(f'cuda:{args.rank}')\n"
        "    else:\n        args.device = torch.device('cpu')\n    backend = 'nccl' if args.cuda else 'gloo'\n"
        "    dist.init_process_group(backend, device_id=args.device if backend == 'nccl' else None)\n",
        safety="unsafe",
        why="no set_device, but a device made under the same test",
    ),
    Bad(
        _HEAD + "def setup():\n    dist.init_process_group('nccl')\n    dist.barrier()\n"
        "    rank = dist.get_rank()\n    torch.cuda.set_device(rank % torch.cuda.device_count())\n",
        why="the rank comes from the group itself, and a barrier stands in between",
    ),
    Bad(
        _HEAD + "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n"
        "\n\ndef ring(x, received, plan):\n    sending = dist.isend(x, plan.first)\n"
        "    dist.recv(received, plan.second)\n    sending.wait()\n",
        why="point-to-point of unknown order in a project that supports torch 2.13",
    ),
    Bad(
        _HEAD
        + "def setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n    dist.init_process_group('nccl')\n"
        "\n\ndef pass_on(x, received):\n    rank = dist.get_rank()\n    if rank > 0:\n        dist.recv(received, rank - 1)\n"
        "    if rank < dist.get_world_size() - 1:\n        dist.isend(x, rank + 1).wait()\n",
        _HEAD + "def setup(local_rank: int):\n    torch.cuda.set_device(local_rank)\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", local_rank))\n"
        "\n\ndef pass_on(x, received):\n    rank = dist.get_rank()\n    if rank > 0:\n        dist.recv(received, rank - 1)\n"
        "    if rank < dist.get_world_size() - 1:\n        dist.isend(x, rank + 1).wait()\n",
        why="point-to-point that ends in one queue too, in a project that supports torch 2.13",
        run=ON_GLOO + 'setup(int(os.environ["LOCAL_RANK"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n"
        "    if rank == 0:\n        return dist.new_group([0])\n",
        why="a group that only some ranks create, in a project that supports torch 2.13",
    ),
    Bad(
        _HEAD + "def setup(rank: int, groups):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n"
        "    if not groups:\n        groups.append(dist.new_group([0]))\n",
        _HEAD + "def setup(rank: int, groups):\n    torch.cuda.set_device(rank)\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", rank))\n"
        "    if not groups:\n        groups.append(dist.new_group([0]))\n",
        why="a group that all ranks create on first use",
        run=ON_GLOO + _RANK + "setup(rank, [])\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD
        + "def setup(rank):\n    torch.cuda.set_device(rank)\n    rank = 3\n    dist.init_process_group('nccl')\n",
        why="the rank is another one by then",
    ),
    Bad(_HEAD + "dist.init_process_group(backend='nccl')\n", why="no set_device"),
    Bad(
        _HEAD + "def f(backend, rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group(backend)\n",
        _HEAD + "def f(backend, rank: int):\n    torch.cuda.set_device(rank)\n    dist.init_process_group(backend, "
        'device_id=torch.device("cuda", rank) if "nccl" in backend else None)\n',
        safety="unsafe",
        why="the backend is a parameter",
        run=ON_GLOO + _RANK + 'f("nccl", rank)\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(args):\n    if args.cpu:\n        backend = 'gloo'\n    else:\n        backend = 'nccl'\n"
        "        torch.cuda.set_device(args.local_rank)\n    dist.init_process_group(backend=backend)\n"
        "    return args.local_rank\n",
        _HEAD + "def setup(args):\n    if args.cpu:\n        backend = 'gloo'\n    else:\n        backend = 'nccl'\n"
        "        torch.cuda.set_device(args.local_rank)\n    dist.init_process_group(backend=backend, "
        'device_id=torch.device("cuda", args.local_rank) if "nccl" in backend else None)\n    return args.local_rank\n',
        safety="unsafe",
        why="both backends are chosen in front of the call",
    ),
    Bad(
        _HEAD + "from torch.testing._internal.common_distributed import MultiProcessTestCase\n\n\n"
        "class RingTest(MultiProcessTestCase):\n    def setup(self):\n"
        "        dist.init_process_group('nccl', rank=self.rank, world_size=self.world_size)\n",
        _HEAD + "from torch.testing._internal.common_distributed import MultiProcessTestCase\n\n\n"
        "class RingTest(MultiProcessTestCase):\n    def setup(self):\n"
        "        dist.init_process_group('nccl', rank=self.rank, world_size=self.world_size, "
        'device_id=torch.device("cuda", self.rank))\n',
        safety="unsafe",
        why="a test that starts a process for every rank of one host",
    ),
    Bad(
        _HEAD + "def f(settings):\n    dist.init_process_group(settings.backend())\n",
        why="a backend that cannot be asked twice",
    ),
    Ok('import torch.distributed as dist\n\ndist.init_process_group("gloo")\n', "gloo"),
    Ok('import torch.distributed as dist\n\ndist.init_process_group("nccl-lazy")\n', "a backend chosen on purpose"),
    Ok('import torch\n\ntorch.distributed.init_process_group("nccl", device_id=torch.device("cuda:0"))\n', "has it"),
    Ok(
        "import torch.distributed as dist\n\n\ndef f(**kw):\n    dist.init_process_group('nccl', **kw)\n",
        "open keywords",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef f(device):\n    kw = {'init_method': 'env://'}\n"
        "    if device is not None:\n        kw['device_id'] = device\n    dist.init_process_group('nccl', **kw)\n",
        "the keyword is added elsewhere",
    ),
    Ok(
        "import torch.distributed as dist\n\ndist.init_process_group('nccl', rank=0, world_size=1)\n",
        "a group of one, on GPU 0 as ever",
    ),
    Ok("import torch.distributed as dist\n\ndist.init_process_group()\n", "no backend named, which TL203 reports"),
    Ok(
        "import torch\n\ntorch.cuda.set_device(1)\ntorch.distributed.init_process_group('nccl')\n",
        "another device than torch picks, which TL202 reports",
    ),
    Ok("import comms as dist\n\ndist.init_process_group('nccl')\n", "another library's function"),
    Ok(
        "class dist:\n    @staticmethod\n    def init_process_group(b): ...\n\n\ndist.init_process_group('nccl')\n",
        "own class",
    ),
    Ok('"""Call torch.distributed.init_process_group("nccl") first."""\n', "a docstring"),
)
