"""`init_process_group` on NCCL without `device_id`, where the device in use is not the one that torch 2.15 picks."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.devices.device_binding import COLLECTORS, binding_finding, unbound_init
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.facts.stand_in_for_nccl import ON_GLOO
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL202",
    name="init-process-group-on-another-device",
    summary="`init_process_group` on NCCL without `device_id`, on a device that torch 2.15 does not pick",
    why=(
        'Since torch 2.15 `"nccl"` is one communicator on one device, made inside `init_process_group`. Without `device_id` '
        "the device is `LOCAL_RANK % device_count` if that variable is set, else `rank % device_count`; the device of "
        "`torch.cuda.set_device` is ignored. A program whose device is an item of a list, a command-line option, a constant, "
        "a multiple of the rank, or comes from `SLURM_LOCALID` or Open MPI works on one GPU and has its group on another."
    ),
    fix=(
        "As for TL201: safe when the backend is NCCL for sure and the device that the same function sets can be repeated in "
        "the call; needs review where it is the same GPU in every process, which is right for one process per host only. An "
        "error where the device is another one for sure (a constant other than 0, `rank * 2`, a list that is "
        "not `[0, 1, 2, ...]`), else a warning. Silent where the project sets `CUDA_VISIBLE_DEVICES` itself in a way that "
        f"makes every device the same. {ESCAPE}"
    ),
    since=NEW_ENGINE,
    targets=("torch.distributed.init_process_group",),
    collectors=COLLECTORS,
    sources=(
        "torch/distributed/distributed_c10d.py of the 2.15.0 wheel (lines 820-849), read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/193237 (LOCAL_RANK first)",
        "https://github.com/pytorch/torchrec/issues/4666 (Duplicate GPU detected; fixed by passing device_id)",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    unbound = unbound_init(use, context)
    if unbound is None or unbound.found is None or unbound.guess.same not in {"other", "maybe"}:
        return
    view, found, guess = context.view, unbound.found, unbound.guess
    provable = guess.same == "other"
    isolated = ", unless each process sees a single GPU" if guess.alone else ""
    message = (
        f"This process works on `{view.text(found.device)}` (line {found.call.lineno}), which {guess.why}. Since torch 2.15 "
        '"nccl" binds the group to `LOCAL_RANK % device_count` (or `rank % device_count`) instead, whatever '
        f"`set_device` says; where the two {'differ' if provable else 'may differ'}{isolated}, it ends in "
        '"Duplicate GPU detected" or "bound to device X but an operation was issued on Y".'
    )
    severity = Severity.ERROR if provable else Severity.WARNING
    finding = Finding("TL202", view.path, view.span(use.node), message, severity)
    yield from binding_finding(unbound, use, context, finding)


_HEAD = "import os\n\nimport torch\nimport torch.distributed as dist\n\n\n"

EXAMPLES = (
    Bad(
        _HEAD + "def setup(rank, gpus):\n    torch.cuda.set_device(gpus[rank])\n"
        '    dist.init_process_group("nccl", rank=rank)\n',
        _HEAD + "def setup(rank, gpus):\n    torch.cuda.set_device(gpus[rank])\n"
        '    dist.init_process_group("nccl", rank=rank, device_id=torch.device(gpus[rank]))\n',
        safety="unsafe",
        why="an item of a list that comes from somewhere",
        run=ON_GLOO
        + 'rank = int(os.environ["RANK"])\nsetup(rank, [f"cuda:{n}" for n in (4, 2, 3, 1)])\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "GPUS = [4, 2, 3, 1]\n\n\ndef setup(rank):\n    torch.cuda.set_device(GPUS[rank])\n"
        '    dist.init_process_group("nccl", rank=rank)\n',
        _HEAD + "GPUS = [4, 2, 3, 1]\n\n\ndef setup(rank):\n    torch.cuda.set_device(GPUS[rank])\n"
        '    dist.init_process_group("nccl", rank=rank, device_id=torch.device("cuda", GPUS[rank]))\n',
        why="a list of the file",
        run=ON_GLOO + 'setup(int(os.environ["RANK"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup(rank: int):\n    dist.init_process_group(backend=dist.Backend.NCCL, rank=rank)\n"
        "    torch.cuda.set_device(rank * 2)\n",
        _HEAD + "def setup(rank: int):\n    dist.init_process_group(backend=dist.Backend.NCCL, rank=rank, "
        'device_id=torch.device("cuda", rank * 2))\n    torch.cuda.set_device(rank * 2)\n',
        why="every second GPU, set behind the initialisation",
        run=ON_GLOO + 'setup(int(os.environ["RANK"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        "import os\n\nimport torch\nfrom torch.distributed import init_process_group as init\n\n\ndef setup():\n"
        '    torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))\n    init("nccl")\n',
        "import os\n\nimport torch\nfrom torch.distributed import init_process_group as init\n\n\ndef setup():\n"
        '    torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))\n'
        '    init("nccl", device_id=torch.device("cuda", int(os.environ["SLURM_LOCALID"])))\n',
        why="the local rank of Slurm",
        run=ON_GLOO + 'init = on_gloo\nos.environ["SLURM_LOCALID"] = "3"\nsetup()\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + "def setup():\n    torch.cuda.set_device(0)\n    dist.init_process_group('nccl')\n",
        _HEAD + "def setup():\n    torch.cuda.set_device(0)\n"
        "    dist.init_process_group('nccl', device_id=torch.device(\"cuda\", 0))\n",
        safety="unsafe",
        why="GPU 0 everywhere",
        run=ON_GLOO + "setup()\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        _HEAD + 'def setup():\n    device = torch.device("cuda:1")\n    torch.cuda.set_device(device)\n'
        '    dist.init_process_group("nccl")\n',
        _HEAD + 'def setup():\n    device = torch.device("cuda:1")\n    torch.cuda.set_device(device)\n'
        '    dist.init_process_group("nccl", device_id=device)\n',
        safety="unsafe",
        why="a device object, another GPU than the first",
        run=ON_GLOO + "setup()\nresult = used()",
        ranks=(2, 3, 4),
    ),
    Bad(
        "import argparse\n\nimport torch\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--gpu", type=int, default=0)\n\n\ndef main(args):\n    torch.cuda.set_device(args.gpu)\n'
        '    dist.init_process_group("nccl")\n',
        "import argparse\n\nimport torch\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--gpu", type=int, default=0)\n\n\ndef main(args):\n    torch.cuda.set_device(args.gpu)\n'
        '    dist.init_process_group("nccl", device_id=torch.device("cuda", args.gpu))\n',
        why="an option of the command line",
        run=ON_GLOO + 'main(parser.parse_args(["--gpu", "3"]))\nresult = used()',
        ranks=(2, 3, 4),
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\n\n\ndef setup(rank, gpus):\n"
        '    torch.cuda.set_device(gpus[rank])\n    dist.init_process_group("nccl")\n'
        "\n\ndef exchange(x, received, to):\n    sending = dist.isend(x, to)\n    dist.recv(received, to)\n"
        "    sending.wait()\n",
        why="point-to-point of unknown order in a project that supports torch 2.13",
    ),
    Ok(
        'import os\n\nimport torch\n\ntorch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\n'
        'torch.distributed.init_process_group("nccl")\n',
        "what torch picks",
    ),
    Ok(
        "import torch\n\n\ndef f(rank):\n    torch.cuda.set_device(rank % torch.cuda.device_count())\n"
        "    torch.distributed.init_process_group('nccl')\n",
        "what torch picks without LOCAL_RANK",
    ),
    Ok(
        "import os\n\nimport torch\n\n\ndef f(gpu):\n    os.environ['CUDA_VISIBLE_DEVICES'] = str(gpu)\n"
        "    torch.cuda.set_device(0)\n    torch.distributed.init_process_group('nccl')\n",
        "each process sees a single GPU",
    ),
    Ok(
        "import os\n\nimport torch\n\nos.environ['LOCAL_RANK'] = os.environ['SLURM_LOCALID']\n"
        "torch.cuda.set_device(int(os.environ['SLURM_LOCALID']))\ntorch.distributed.init_process_group('nccl')\n",
        "LOCAL_RANK is made from that of Slurm",
    ),
    Ok(
        "import torch\n\ntorch.cuda.set_device(0)\n"
        "torch.distributed.init_process_group('nccl', rank=0, world_size=1)\n",
        "a group of one",
    ),
    Ok("import torch\n\ntorch.cuda.set_device(1)\ntorch.distributed.init_process_group('gloo')\n", "gloo"),
    Ok(
        "import torch\n\ntorch.cuda.set_device(1)\n"
        'torch.distributed.init_process_group("nccl", device_id=torch.device("cuda:1"))\n',
        "bound",
    ),
    Ok("from comms import dist, cuda\n\ncuda.set_device(1)\ndist.init_process_group('nccl')\n", "another library"),
)
