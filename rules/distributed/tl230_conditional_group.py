"""`new_group` that only some ranks reach: every rank has to create every group, members or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from torchlift.finding import Finding, Fix, InsertStatements, ReplaceExpression, Safety, Severity, Template
from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import value_of
from torchlift.rules.analysis.wording.messages import shortened
from torchlift.rules.distributed.groups.group_identity import new_group_arguments
from torchlift.rules.distributed.ranks.all_ranks import (
    LOOKING,
    is_builtin,
    only_asks,
    reached_by_all,
    same_everywhere,
    some_ranks_stop,
)
from torchlift.rules.distributed.ranks.own_rank import own_rank
from torchlift.rules.distributed.ranks.rank_condition import RankCondition, conditions_on_own_rank
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_GROUPS = frozenset(
    f"torch.distributed.{name}"
    for name in ("new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group")
)

RULE = Rule(
    code="TL230",
    name="new-group-not-on-all-ranks",
    summary="A process group that only some ranks create",
    why=(
        "Every rank has to call `new_group` for every group, member or not, in the same order. Under a test of the own rank "
        "the ranks count their groups differently, and the next group they create hangs or connects to the wrong peers, on "
        "gloo too. On NCCL the call itself is the problem since torch 2.15: it splits the communicator of all ranks."
    ),
    fix=(
        "Safe when the call is the value of the first assignment under an `if` without `else`, its arguments are proved to be "
        "the same on every rank, and every rank is proved to reach the `if`: the group is created in front of it. Needs "
        "review when the call can move but one of these is not proved. Otherwise the message says what to do."
    ),
    targets=tuple(sorted(_GROUPS)),
    severity=Severity.ERROR,
    triggers=("new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.13.0-2.15.0: new_group, _new_process_group_helper; read 2026-11-21",
        "Measured with gloo and 4 processes on torch 2.13.0 and 2.15.0: a later group hangs, and two groups created in the "
        "two branches of a rank test reset each other's connections",
        "https://github.com/pytorch/pytorch/pull/192276 (new_group splits the communicator)",
    ),
)

_WORDS = {"around": "it stands under", "left": "some ranks have left under", "leave": "some ranks leave the loop under"}


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call":
        return
    arguments = new_group_arguments(call) or {}
    if _is_of_xla(view, arguments):
        return
    if "use_local_synchronization" in arguments:
        value = arguments["use_local_synchronization"]
        if not (isinstance(value, ast.Constant) and value.value is False):
            return
    tests = conditions_on_own_rank(view, call, "proven")
    causes = [cause for cause in tests if not _creates_the_same(view, call, cause.others)]
    if not causes:
        return
    name = use.target.rpartition(".")[2]
    cause = causes[0]
    test = shortened(view.text(cause.test))
    message = (
        f"Only some ranks call this `{name}`: {_WORDS[cause.how]} `{test}` (line {cause.test.lineno}), which is "
        "not the same on every rank. On gloo and NCCL every rank has to create every group in the same order, or the next one "
        "hangs; on the NCCL of torch 2.15 creating a group is a communicator split that all ranks take part in."
    )
    span = view.span(use.node)
    fix = _hoisted(view, call, causes, context.project) if name == "new_group" else None
    if isinstance(fix, str):
        yield Finding("TL230", view.path, span, message, Severity.ERROR, fix)
    elif fix is not None:
        help_text = None
        if fix.safety is Safety.UNSAFE:
            help_text = (
                "Needs review: every rank has to reach this line, and the ranks passed have to be the same on all of them; "
                "neither could be proved here."
            )
        yield Finding("TL230", view.path, span, message, Severity.ERROR, help_text, fix)
    else:
        yield Finding("TL230", view.path, span, message, Severity.ERROR, _advice(name))


def _is_of_xla(view: ModuleView, arguments: dict[str, ast.expr]) -> bool:
    """Whether a group is one of torch_xla, which its members make alone, as far as its backend or its options tell."""
    told = [arguments[name] for name in ("backend", "pg_options") if name in arguments]
    return any("xla" in view.text(node).lower() for given in told for node in (given, value_of(view, given)))


def _advice(name: str) -> str:
    return (
        f"Call `{name}` on every rank, before the test, with the same ranks everywhere; ranks that are not members get "
        "`GroupMember.NON_GROUP_MEMBER` and keep out of the group's collectives."
    )


def _creates_the_same(view: ModuleView, call: ast.Call, nodes: Sequence[ast.stmt | ast.expr]) -> bool:
    """Whether the other way has a call that makes the same group, so that all ranks take part after all."""
    ours = _ranks_text(call)
    calls = [child for node in nodes for child in walk(node) if isinstance(child, ast.Call)]
    return any(view.possible_name(child.func) in _GROUPS and _ranks_text(child) == ours for child in calls)


def _ranks_text(call: ast.Call) -> str:
    ranks = (new_group_arguments(call) or {}).get("ranks")
    return ast.dump(ranks) if ranks is not None else ""


# Moving the call in front of the test


def _hoisted(view: ModuleView, call: ast.Call, causes: list[RankCondition], project: Project) -> Fix | str | None:
    """The fix, or why there is none; None for the general advice."""
    statement = view.statement(call)
    around = causes[0].around
    if len(causes) != 1 or around is None or around.orelse or view.text(around).startswith("elif"):
        return None
    simple = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    if not simple or view.parent(statement) is not around:
        return None
    arguments = new_group_arguments(call)
    if arguments is None or "\n" in view.text(call):
        return None
    if any(
        own_rank(view, node, "proven")
        for value in arguments.values()
        for node in walk(value)
        if isinstance(node, ast.expr)
    ):
        return (
            "Its arguments depend on the rank too, so it cannot just move. Loop over the rank lists of all groups on every "
            "rank, create each of them there, and keep the one the rank is a member of."
        )
    leaves = next((node for node in walk(around) if isinstance(node, (ast.Return, ast.Break))), None)
    loops = takewhile(
        lambda node: not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), view.ancestors(around)
    )
    if leaves is not None and any(isinstance(node, (ast.For, ast.While)) for node in loops):
        return (
            f"Line {leaves.lineno} leaves the loop on the ranks that it holds for, so later groups would lack them. Create all "
            "groups on every rank in a loop of its own, keep the one the rank is a member of, and leave afterwards."
        )
    before = around.body[: around.body.index(statement)]
    bound = {n.id for s in before for n in walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.target.id for n in walk(around.test) if isinstance(n, ast.NamedExpr)}
    names = {n.id for value in arguments.values() for n in walk(value) if isinstance(n, ast.Name)}
    if names & bound or not all(_pure(view, value) for value in arguments.values()):
        return None
    proved = (
        not before
        and all(same_everywhere(view, value, call) for value in arguments.values())
        and only_asks(view, around.test)
        and not some_ranks_stop(view, around)
        and reached_by_all(view, around, project)
    )
    name = view.fresh_name("group_of_all_ranks", call)
    rewrites = (
        InsertStatements(view.span(around), (f"{name} = {view.text(call)}",), "before"),
        ReplaceExpression(view.span(call), Template(name)),
    )
    return Fix("Create the group on every rank", Safety.SAFE if proved else Safety.UNSAFE, rewrites)


def _pure(view: ModuleView, node: ast.expr) -> bool:
    """Whether evaluating an argument earlier, on more ranks, does nothing else."""
    for child in walk(node):
        if isinstance(child, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Subscript)):
            return False
        if isinstance(child, ast.Call):
            known = is_builtin(view, child, LOOKING - {"print"}) or view.possible_name(child.func) in _PURE_CALLS
            if not known:
                return False
    return True


_PURE_CALLS = frozenset({"torch.distributed.get_world_size", "datetime.timedelta", "torch.device"})

_START = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
_MEMBERS = "    total = torch.arange(3.0) + rank\n    dist.all_reduce(total, group=group)\n    result = total\n"

EXAMPLES = (
    Bad(
        _START + "rank = dist.get_rank()\nranks = [0, 1]\nresult = None\nif rank in ranks:\n"
        "    group = dist.new_group(ranks)\n" + _MEMBERS,
        _START + "rank = dist.get_rank()\nranks = [0, 1]\nresult = None\ngroup_of_all_ranks = dist.new_group(ranks)\n"
        "if rank in ranks:\n    group = group_of_all_ranks\n" + _MEMBERS,
        why="a group of the first two ranks",
        run="result = [result]",
        ranks=(2, 3, 4),
    ),
    Bad(
        "import os\n\nimport torch\nfrom torch.distributed import all_reduce, init_process_group\n"
        'from torch.distributed import new_group as make_group\n\n\ndef main():\n    init_process_group("gloo")\n'
        '    total = torch.ones(2)\n    if int(os.environ["RANK"]) < 2:\n        # one node\n'
        '        pair = make_group([0, 1], backend="gloo")\n        all_reduce(total, group=pair)\n    return total\n\n\n'
        "result = main()\n",
        "import os\n\nimport torch\nfrom torch.distributed import all_reduce, init_process_group\n"
        'from torch.distributed import new_group as make_group\n\n\ndef main():\n    init_process_group("gloo")\n'
        '    total = torch.ones(2)\n    group_of_all_ranks = make_group([0, 1], backend="gloo")\n'
        '    if int(os.environ["RANK"]) < 2:\n        # one node\n        pair = group_of_all_ranks\n'
        "        all_reduce(total, group=pair)\n    return total\n\n\nresult = main()\n",
        why="the rank from the environment, another import name, a function called once",
        run="result = [result]",
        ranks=(2, 3, 4),
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef build(world):\n    for first in range(0, world, 2):\n"
        "        ranks = [first, first + 1]\n        if dist.get_rank() in ranks:\n"
        "            pair = dist.new_group(ranks)\n    return pair\n",
        "import torch.distributed as dist\n\n\ndef build(world):\n    for first in range(0, world, 2):\n"
        "        ranks = [first, first + 1]\n        group_of_all_ranks = dist.new_group(ranks)\n"
        "        if dist.get_rank() in ranks:\n            pair = group_of_all_ranks\n    return pair\n",
        safety="unsafe",
        why="who calls the function is not known",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef build():\n    rank = dist.get_rank()\n    if rank < 2:\n"
        "        return dist.new_group([0, 1])\n    else:\n        return dist.new_group([2, 3])\n",
        why="another group on the other branch",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef build():\n    if dist.get_rank() != 0:\n        return None\n"
        "    return dist.new_group([0])\n",
        why="the other ranks have returned",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef build(lists):\n    me = dist.get_rank()\n    for ranks in lists:\n"
        "        if me not in ranks:\n            continue\n        mine = dist.new_group(ranks)\n    return mine\n",
        why="continue for non-members",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef build(lists):\n    for ranks in lists:\n"
        "        mine = dist.new_group(ranks)\n        if dist.get_rank() in ranks:\n            break\n    return mine\n",
        why="the loop is left once the own group is found",
    ),
    Bad(
        "from torch.distributed.distributed_c10d import get_rank, new_group\n\n\ndef build(ranks):\n"
        "    return new_group(ranks) if get_rank() in ranks else None\n",
        why="conditional expression, private module",
    ),
    Bad(
        "import torch.distributed as dist\n\n\nclass Trainer:\n    def __init__(self):\n"
        "        self.rank = dist.get_rank()\n\n    def build(self):\n        if self.rank == 0:\n"
        "            self.own = dist.new_group([self.rank])\n",
        why="an attribute, and arguments that depend on the rank",
    ),
    Bad(
        "import torch.distributed as dist\nimport torch.multiprocessing as mp\n\n\ndef worker(index, world):\n"
        "    if index % 2 == 0:\n        dist.new_group([0, 2])\n\n\nmp.spawn(worker, args=(4,), nprocs=4)\n",
        why="the index of a spawned process",
    ),
    Bad(
        "import torch.distributed as dist\nimport torch.multiprocessing as mp\n\n\ndef worker(index, world):\n"
        "    if index % 2 == 0:\n        dist.new_group([0, 2])\n\n\nmp.spawn(fn=worker, args=(4,), nprocs=4)\n",
        why="a process spawned by keyword",
    ),
    Bad(
        "import torch.distributed as dist\nfrom torch.multiprocessing import start_processes\n\n\n"
        "def worker(index, world):\n    if index % 2 == 0:\n        dist.new_group([0, 2])\n\n\n"
        "start_processes(worker, args=(4,), nprocs=4)\n",
        why="the index of a started process",
    ),
    Ok(
        "import torch.distributed as dist\n\nif dist.get_rank() < 2:\n"
        "    group = dist.new_group([0, 1], pg_options={'xla_pg_options': {'mesh': [[0, 1]]}})\n",
        "a group of torch_xla, which its members make alone",
    ),
    Ok(
        "import torch.distributed as dist\n\nOPTIONS = {'xla_pg_options': {'mesh': [[0, 1]]}}\nif dist.get_rank() < 2:\n"
        "    group = dist.new_group([0, 1], pg_options=OPTIONS)\n",
        "the same by a name",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef build(world):\n    for ranks in ([0, 1], [2, 3]):\n"
        "        group = dist.new_group(ranks)\n        if dist.get_rank() in ranks:\n            mine = group\n"
        "    return mine\n",
        "created on every rank, kept by the members",
    ),
    Ok(
        "import torch.distributed as dist\n\n_GROUPS = {}\n\n\ndef group_of(ranks):\n"
        "    if ranks not in _GROUPS:\n        _GROUPS[ranks] = dist.new_group(ranks)\n    return _GROUPS[ranks]\n",
        "a cache miss is the same on every rank",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef build(ranks_per_node, rank_list):\n    if len(rank_list) > 1:\n"
        "        return dist.new_group(rank_list)\n    if ranks_per_node == 0:\n        return dist.new_group([0])\n",
        "ranks in the name only",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef build(rank, ranks):\n    if rank in ranks:\n"
        "        return dist.new_group(ranks)\n",
        "a parameter that may be anybody's rank",
    ),
    Ok(
        "import os\n\nimport torch.distributed as dist\n\nlocal_rank = int(os.environ.get('LOCAL_RANK', -1))\n"
        "if local_rank != -1 and 'RANK' in os.environ:\n    group = dist.new_group([0, 1])\n",
        "asks whether the program is distributed at all",
    ),
    Ok(
        "import torch.distributed as dist\n\nif dist.get_rank() in (0, 1):\n"
        "    group = dist.new_group([0, 1], use_local_synchronization=True)\n",
        "only members take part in a local synchronisation",
    ),
    Ok(
        "import torch.distributed as dist\n\nif dist.get_rank() == 0:\n    group = dist.new_group([0, 1], group_desc='a')\n"
        "else:\n    group = dist.new_group([0, 1], group_desc='b')\n",
        "the same group on both branches",
    ),
    Ok(
        "from mpi4py import MPI as dist\n\nif dist.COMM_WORLD.Get_rank() == 0:\n    dist.new_group([0])\n",
        "another library",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef f(dist):\n    if dist.get_rank() == 0:\n        dist.new_group([0])\n",
        "a parameter called dist",
    ),
)
