"""Deprecated and moved names of `torch.distributed`: a table rule."""

from __future__ import annotations

from torchlift.rules.distributed.facts.distributed_names import DISTRIBUTED_NAMES
from torchlift.rules.renaming import Renaming
from torchlift.rules.rule import Bad, Ok, Rule
from torchlift.versions import TorchVersion

_RENAMING = Renaming("TL250", DISTRIBUTED_NAMES)

RULE = Rule(
    code="TL250",
    name="deprecated-distributed-name",
    summary="A deprecated or moved name of `torch.distributed`",
    why=(
        "The old names are aliases that warn, or shims that are to be removed, or are gone. Each has its own first release with "
        "the new name, from 1.12 to 2.15."
    ),
    fix=(
        "Safe: for each row of the table the old function was read to forward to the new one, and both were run on gloo with 2, "
        "3 and 4 ranks. A fix is offered only if the lowest torch that the project supports has the new name "
        "(`set_timeout` and `torch.compiler.config.compile_on_one_rank` need 2.14). `_all_gather_base` and "
        "`_reduce_scatter_base` become `all_gather_single` and `reduce_scatter_single` in projects that need 2.13 or newer, and "
        "`all_gather_into_tensor` and `reduce_scatter_tensor` in others. Arguments that got another name are renamed with the "
        "call. Needs review: `pipeline_per_direction_p2p`, which 2.15 replaced by a finer one. Nothing is renamed while the "
        "project stores to the old name or names it in a string, as patches do."
    ),
    targets=_RENAMING.targets,
    triggers=_RENAMING.triggers,
    check=_RENAMING.check,
    collectors=(_RENAMING.patches,),
    sources=("the table in rules/distributed/distributed_names.py has the evidence of each row",),
)

_GLOO = 'dist.init_process_group("gloo")\n'
_RANKS = (2, 3, 4)

EXAMPLES = (
    Ok(
        'import torch\n\nif "reduce_scatter_tensor" not in dir(torch.distributed):\n'
        "    torch.distributed.reduce_scatter_tensor = torch.distributed._reduce_scatter_base\n",
        "a fallback for a torch without the new name",
    ),
    Ok(
        "import torch.distributed as dist\n\ndist.all_gather_into_tensor = dist._all_gather_base\n"
        'setattr(dist, "reduce_scatter_tensor", dist._reduce_scatter_base)\n',
        "the old value under the new name",
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\n\n\ndef total(x, worst=False):\n"
        "    dist.all_reduce(x, op=dist.reduce_op.MAX if worst else dist.reduce_op.SUM)\n    return x\n",
        "import torch\nimport torch.distributed as dist\n\n\ndef total(x, worst=False):\n"
        "    dist.all_reduce(x, op=dist.ReduceOp.MAX if worst else dist.ReduceOp.SUM)\n    return x\n",
        why="reduce_op",
        run=_GLOO + "x = torch.arange(3.) + dist.get_rank()\nresult = [total(x.clone()), total(x, worst=True)]",
        ranks=_RANKS,
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\nfrom torch.distributed import all_reduce, reduce_op\n\n\n"
        "def product(x):\n    all_reduce(x, reduce_op.PRODUCT)\n    return x\n",
        "import torch\nimport torch.distributed as dist\nfrom torch.distributed import ReduceOp, all_reduce\n\n\n"
        "def product(x):\n    all_reduce(x, ReduceOp.PRODUCT)\n    return x\n",
        why="reduce_op imported by name",
        run=_GLOO + "result = product(torch.arange(3.) + dist.get_rank())",
        ranks=_RANKS,
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef operation(name):\n    return getattr(dist.reduce_op, name)\n",
        why="reduce_op itself, which is no class",
    ),
    Bad(
        "import torch.distributed as dist\nfrom torch.distributed.distributed_c10d import _get_global_rank\n\n\n"
        "def last(group):\n    first = _get_global_rank(group, 0)\n"
        "    return first, _get_global_rank(group=group, rank=dist.get_world_size(group) - 1)\n",
        "import torch.distributed as dist\nfrom torch.distributed import get_global_rank\n\n\n"
        "def last(group):\n    first = get_global_rank(group, 0)\n"
        "    return first, get_global_rank(group=group, group_rank=dist.get_world_size(group) - 1)\n",
        why="an argument with another name",
        run=_GLOO
        + "ranks = list(range(1, dist.get_world_size()))\ngroup = dist.new_group(ranks)\n"
        + "result = last(group) if dist.get_rank() in ranks else ()",
        ranks=_RANKS,
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef root(group, **options):\n"
        "    return dist.distributed_c10d._get_global_rank(group, **options)\n",
        why="arguments that cannot be seen",
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\n\n\ndef gather(x):\n"
        "    whole = x.new_empty(dist.get_world_size() * len(x))\n"
        "    work = dist._all_gather_base(whole, x, async_op=True)\n    work.wait()\n    return whole\n",
        "import torch\nimport torch.distributed as dist\n\n\ndef gather(x):\n"
        "    whole = x.new_empty(dist.get_world_size() * len(x))\n"
        "    work = dist.all_gather_single(whole, x, async_op=True)\n    work.wait()\n    return whole\n",
        why="_all_gather_base",
        run=_GLOO + "result = gather(torch.arange(3.) + dist.get_rank())",
        ranks=_RANKS,
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    if hasattr(dist, '_all_gather_base'):\n"
        "        dist._all_gather_base(whole, x)\n",
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    if hasattr(dist, '_all_gather_base'):\n"
        "        dist.all_gather_single(whole, x)\n",
        why="behind a question that every release answers with yes",
        run=_GLOO
        + "import torch\nx = torch.arange(3.) + dist.get_rank()\nresult = x.new_empty(dist.get_world_size() * 3)\n"
        "gather(result, x)",
        ranks=_RANKS,
    ),
    Bad(
        "import torch\nimport torch.distributed as dist\n\ngather = dist._all_gather_base\n"
        "scatter = dist._reduce_scatter_base\n",
        "import torch\nimport torch.distributed as dist\n\ngather = dist.all_gather_into_tensor\n"
        "scatter = dist.reduce_scatter_tensor\n",
        why="functions handed on, in a project that supports torch 1.13",
        run=_GLOO
        + "n = dist.get_world_size()\nx = torch.arange(2. * n) + dist.get_rank()\nwhole, part = torch.empty(2 * n * n), "
        "torch.empty(2)\ngather(whole, x)\nscatter(part, x, dist.ReduceOp.MAX)\nresult = [whole, part]",
        min_torch=TorchVersion(1, 13),
        ranks=_RANKS,
    ),
    Bad(
        "from datetime import timedelta\n\nimport torch.distributed as dist\n\n\ndef patient():\n"
        "    dist.distributed_c10d._set_pg_timeout(timedelta(seconds=90))\n",
        "from datetime import timedelta\n\nimport torch.distributed as dist\n\n\ndef patient():\n"
        "    dist.distributed_c10d.set_timeout(timedelta(seconds=90))\n",
        why="_set_pg_timeout, in a project that needs torch 2.14",
        # torch 2.14 forwards the old name to the new one; here it is the other way round.
        run="c10d = dist.distributed_c10d\nif not hasattr(c10d, 'set_timeout'):\n    c10d.set_timeout = c10d._set_pg_timeout\n"
        + _GLOO
        + "patient()\nresult = str(dist.group.WORLD._get_backend(__import__('torch').device('cpu')).options._timeout)",
        min_torch=TorchVersion(2, 14),
        ranks=(2,),
    ),
    Bad(
        "from datetime import timedelta\n\nfrom torch.distributed.distributed_c10d import _set_pg_timeout\n\n\n"
        "def patient(group):\n    _set_pg_timeout(timedelta(seconds=90), group)\n",
        why="_set_pg_timeout, in a project that supports torch 2.13",
    ),
    Bad(
        "from torch.distributed._tensor import DTensor, init_device_mesh\n"
        "from torch.distributed._tensor.placement_types import Replicate, Shard as Split\n\n\n"
        "def shard(x, ranks):\n    mesh = init_device_mesh('cpu', (ranks,))\n"
        "    return DTensor.from_local(x, mesh, [Split(0)]).redistribute(mesh, [Replicate()]).to_local()\n",
        "from torch.distributed.tensor import DTensor\nfrom torch.distributed.device_mesh import init_device_mesh\n"
        "from torch.distributed.tensor import Replicate, Shard as Split\n\n\n"
        "def shard(x, ranks):\n    mesh = init_device_mesh('cpu', (ranks,))\n"
        "    return DTensor.from_local(x, mesh, [Split(0)]).redistribute(mesh, [Replicate()]).to_local()\n",
        why="the old package of DTensor",
        run="import torch\nimport torch.distributed as dist\n"
        + _GLOO
        + "result = shard(torch.arange(3.) + dist.get_rank(), dist.get_world_size())",
        ranks=_RANKS,
    ),
    Bad(
        "from torch.distributed._tensor import DTensor\n",
        why="the old package of DTensor, in a project that supports torch 2.4",
        min_torch=TorchVersion(2, 4),
    ),
    Bad(
        "from torch.distributed._sharded_tensor import ShardedTensor\n"
        "from torch.distributed._sharding_spec import ChunkShardingSpec\n\nkinds = (ShardedTensor, ChunkShardingSpec)\n",
        "from torch.distributed._shard.sharded_tensor import ShardedTensor\n"
        "from torch.distributed._shard.sharding_spec import ChunkShardingSpec\n\nkinds = (ShardedTensor, ChunkShardingSpec)\n",
        why="the old packages of ShardedTensor",
        run="result = [f'{kind.__module__}.{kind.__name__}' for kind in kinds]",
    ),
    Bad(
        "import torch\n\n\ndef setup():\n    torch.distributed.config.compile_on_one_rank = True\n",
        "import torch\n\n\ndef setup():\n    torch.compiler.config.compile_on_one_rank = True\n",
        why="compile_on_one_rank, in a project that needs torch 2.14",
        # torch 2.13 has the setting in the old place only, 2.14 one value for both.
        run="from types import SimpleNamespace\none = SimpleNamespace(compile_on_one_rank=False)\n"
        "torch.distributed.config = torch.compiler.config = one\nsetup()\nresult = vars(one)",
        min_torch=TorchVersion(2, 14),
    ),
    Bad(
        "import torch\n\ntorch.distributed.config.pipeline_per_direction_p2p = True\n",
        "import torch\n\ntorch.distributed.config.pipeline_per_edge_p2p = True\n",
        safety="unsafe",
        why="pipeline_per_direction_p2p, which only torch 2.14 has",
        min_torch=TorchVersion(2, 15),
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef observe(log):\n    real = dist._all_gather_base\n"
        "    dist._all_gather_base = lambda *a, **k: (log(a), real(*a, **k))\n",
        why="the name is patched: a renamed use would miss the patch",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef total(x, reduce_op=dist.ReduceOp.SUM):\n"
        "    dist.all_reduce(x, op=reduce_op)\n",
        "a parameter called reduce_op",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    try:\n        check(x)\n    except Exception:\n"
        "        dist._all_gather_base(whole, x)\n",
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    try:\n        check(x)\n    except Exception:\n"
        "        dist.all_gather_single(whole, x)\n",
        why="a handler of a `try` that looks for no other name",
        run="import torch\n" + _GLOO + "x = torch.arange(3.) + dist.get_rank()\n"
        "result = torch.empty(3 * dist.get_world_size())\ngather(result, x)",
        ranks=_RANKS,
    ),
    Ok(
        "import torch.distributed as dist\n\nif hasattr(dist, 'all_gather_into_tensor'):\n    gather = dist.all_gather_into_tensor\n"
        "else:\n    gather = dist._all_gather_base\n",
        "hasattr already handles both",
    ),
    Ok(
        "try:\n    from torch.distributed.tensor import DTensor\nexcept ImportError:\n"
        "    from torch.distributed._tensor import DTensor\n\nkind = DTensor\n",
        "an import fallback handles both",
    ),
    Ok(
        "import torch\n\ntry:\n    if min_version('1.13'):\n        gather = torch.distributed.all_gather_into_tensor\n"
        "    else:\n        gather = torch.distributed._all_gather_base\nexcept:\n"
        "    gather = torch.distributed._all_gather_base\n",
        "the last resort of a `try` that looks the new name up",
    ),
    Ok(
        "try:\n    from torch.distributed.tensor import DTensor\nexcept Exception:\n"
        "    from torch.distributed._tensor import DTensor\n\nkind = DTensor\n",
        "an import fallback for any error",
    ),
    Ok(
        "from deepspeed.comm.reduce_op import ReduceOp\n\nprint(ReduceOp.SUM)\n",
        "DeepSpeed's own module of that name",
    ),
    Ok("import comms as dist\n\ndist._all_gather_base(dist.reduce_op.SUM)\n", "another library"),
    Ok(
        "class Mesh:\n    def _get_global_rank(self, group, rank):\n        return rank\n\n"
        "    def root(self, group):\n        return self._get_global_rank(group, 0)\n",
        "a method of the same name",
    ),
    Ok(
        "import torch.distributed as dist\n\nif dist.is_initialized():\n    dist.all_gather_into_tensor\n    dist.gather_into_tensor\n",
        "names that one or two releases deprecated and a later one did not",
    ),
    Ok('"""torch.distributed.reduce_op and _all_gather_base were used here once."""\n', "a docstring"),
)
