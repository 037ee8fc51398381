"""The opt-in torchcomms mode: the flag that turns it on, and code that fails or changes under it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.project import Collector, Project
from torchlift.rules.analysis.project.environment_stores import TARGETS, stores
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.distributed.facts.nccl_environment import nccl_variable
from torchlift.rules.distributed.groups.group_identity import new_group_arguments
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_FLAG = "TORCH_DISTRIBUTED_USE_TORCHCOMMS"
_CONFIG = "torch.distributed.config.use_torchcomms"
_GROUPS = ("torch.distributed.new_group", "torch.distributed.init_process_group")
_ASYNCHRONOUS = tuple(
    f"torch.distributed.{name}"
    for name in ("isend", "irecv", "all_reduce", "broadcast", "all_gather", "reduce", "reduce_scatter", "all_to_all")
)

RULE = Rule(
    code="TL243",
    name="torchcomms-mode",
    summary="The opt-in torchcomms mode of torch.distributed",
    why=(
        f"`{_FLAG}=1` (or `torch.distributed.config.use_torchcomms = True`) makes torch 2.12-2.15 build its groups with the "
        "torchcomms package. It is off by default in all of them, torch does not depend on the package, and where it cannot be "
        "imported the flag does nothing, without a warning; the 0.0.1 on PyPI always fails to import. With the package: in 2.13 "
        "`new_group` goes through `split_group` and raises NotImplementedError for `use_local_synchronization` and "
        "`sort_ranks=False`; since 2.14 it makes a new communicator; `pg_options` is dropped up to 2.13 and a dictionary of "
        "hints since 2.14; `Work.wait(timeout)` raises RuntimeError; tags are dropped inside a batch. The engine that was "
        'announced with it is what "nccl" means in 2.15 without any flag.'
    ),
    fix="Manual: nothing has to be turned on to get the new engine.",
    targets=(*TARGETS, _CONFIG, "torchcomms", *_GROUPS, *_ASYNCHRONOUS),
    severity=Severity.INFO,
    triggers=(
        _FLAG,
        "use_torchcomms",
        "torchcomms",
        "pg_options & distributed",
        "sort_ranks",
        "use_local_synchronization",
        "isend",
        "irecv",
        "async_op & distributed",
    ),
    sources=(
        "torch/distributed/config.py and distributed_c10d.py of 2.12.1-2.15.0 (lines 195-290 and 3062 of 2.15.0)",
        "https://github.com/meta-pytorch/torchcomms (0.3.0) and the torchcomms 0.0.1 wheel on PyPI",
    ),
)

_NEW_COMM = TorchVersion(2, 14)
_OFF = frozenset({"0", "", False})


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target in TARGETS:
        for store in stores(view, use):
            if store.name == _FLAG and not _is_off(store.value):
                yield _flag(view, store.node)
    elif use.target == _CONFIG:
        if use.kind == "store" and isinstance(use.node, ast.expr) and not _is_off(_assigned(view, use.node)):
            yield _flag(view, use.node)
    elif use.target == "torchcomms":
        yield from _import(use, view)
    elif use.call is not None and use.kind == "call" and _turned_on(context.project):
        if use.target in _ASYNCHRONOUS:
            yield from _timed_waits(use.call, view)
        else:
            yield from _group(use, use.call, context)


def _flag(view: ModuleView, node: ast.expr) -> Finding:
    variable = nccl_variable(_FLAG)
    assert variable is not None
    message = variable.fact
    if not isinstance(node, ast.Constant):
        message = message.replace(f"`{_FLAG}`", "`torch.distributed.config.use_torchcomms`")
    return Finding("TL243", view.path, view.span(node), message, Severity.INFO, variable.advice)


def _import(use: Use, view: ModuleView) -> Iterator[Finding]:
    statement = view.statement(use.node)
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(statement, ast.ImportFrom) and use.node is not statement.names[0]:
        return  # of names that come together the first one speaks for all
    message = (
        "torchcomms is experimental and no dependency of torch; the only release on PyPI (0.0.1) raises ImportError when it is "
        "imported."
    )
    advice = (
        'Install a build from download.pytorch.org. The NCCL engine that came from torchcomms is what "nccl" means in torch '
        "2.15, without this package."
    )
    yield Finding("TL243", view.path, view.span(use.node), message, Severity.INFO, advice)


def _group(use: Use, call: ast.Call, context: Context) -> Iterator[Finding]:
    """Arguments that the mode refuses or reads in another way."""
    view, oldest = context.view, context.settings.min_torch
    span = view.span(use.node)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if use.target.endswith("new_group"):
        keywords = new_group_arguments(call) or keywords
    refused = [
        f"{name}={value}"
        for name, value in (("use_local_synchronization", True), ("sort_ranks", False))
        if isinstance(argument := keywords.get(name), ast.Constant) and argument.value is value
    ]
    if refused and use.target.endswith("new_group") and oldest < _NEW_COMM:
        message = (
            f"The project turns the torchcomms mode on. In torch 2.13 `new_group({refused[0]})` raises NotImplementedError "
            "under it; since 2.14 subgroups are made in the ordinary way."
        )
        advice = "Leave the argument out under the mode, or support torch 2.14 and later only."
        yield Finding("TL243", view.path, span, message, Severity.WARNING, advice)
    options = keywords.get("pg_options")
    if options is not None and not is_none(options):
        message = (
            "The project turns the torchcomms mode on. `pg_options` is dropped under it in torch 2.12 and 2.13, and turned "
            "into a dictionary of hints since 2.14."
        )
        advice = "Check that the options still take effect."
        yield Finding("TL243", view.path, span, message, Severity.INFO, advice)


def _timed_waits(call: ast.Call, view: ModuleView) -> Iterator[Finding]:
    """`work.wait(timeout)` of the handle that a call returns."""
    statement = view.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    binding = view.bound_by(target) if target is not None else None
    for read, _ in view.reads_of(binding) if binding is not None else ():
        method = view.parent(read)
        waits = isinstance(method, ast.Attribute) and method.attr == "wait" and view.parent(method)
        if isinstance(waits, ast.Call) and (waits.args or waits.keywords):
            message = (
                "The project turns the torchcomms mode on, under which waiting with a timeout raises RuntimeError "
                '("wait timeout not supported").'
            )
            advice = "Wait without a timeout; the group has one of its own."
            place = view.simple_statement_span(read)
            yield Finding("TL243", view.path, view.span(waits), message, Severity.WARNING, advice, statement=place)


def _assigned(view: ModuleView, node: ast.expr) -> ast.expr | None:
    statement = view.parent(node)
    return statement.value if isinstance(statement, ast.Assign) else None


def _is_off(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value in _OFF


def _collect(view: ModuleView) -> bool | None:
    for use in view.uses(frozenset({*TARGETS, _CONFIG})):
        if use.target == _CONFIG:
            if use.kind == "store" and isinstance(use.node, ast.expr) and not _is_off(_assigned(view, use.node)):
                return True
        elif any(store.name == _FLAG and not _is_off(store.value) for store in stores(view, use)):
            return True
    return None


_TORCHCOMMS = Collector("distributed.torchcomms", (_FLAG, "use_torchcomms"), _collect)


def _turned_on(project: Project) -> bool:
    """Whether some file of the project turns the mode on."""
    return bool(project.records(_TORCHCOMMS))


COLLECTORS = (_TORCHCOMMS,)

_ON = f'import os\n\nimport torch.distributed as dist\n\nos.environ["{_FLAG}"] = "1"\n'

EXAMPLES = (
    Bad(_ON, why="the environment variable"),
    Bad(
        "from torch.distributed import config as dist_config\n\ndist_config.use_torchcomms = True\n",
        why="the configuration module",
    ),
    Bad("import torchcomms\n\ncomm = torchcomms.new_comm('nccl', 'cuda')\n", why="the package itself"),
    Bad(
        "import os, torchcomms\n\ncomm = torchcomms.new_comm('nccl', os.environ['DEVICE'])\n", why="beside another one"
    ),
    Bad(
        "from torch.distributed import new_group as make\n\n\ndef build(ranks):\n"
        "    return make(ranks, use_local_synchronization=True)\n",
        why="an argument that the mode refuses in torch 2.13",
        files=(("start.py", _ON),),
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef build(ranks, options):\n"
        "    return dist.new_group(ranks, pg_options=options)\n",
        why="options under the mode",
        files=(("start.py", "import torch\n\ntorch.distributed.config.use_torchcomms = True\n"),),
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef share(tensor, limit):\n"
        "    work = dist.all_reduce(tensor, async_op=True)\n    work.wait(limit)\n",
        why="waiting with a timeout",
        files=(("start.py", _ON),),
    ),
    Ok(f'import os\n\nif os.environ.get("{_FLAG}") == "1":\n    print("on")\n', "only asks"),
    Ok(f'import os\n\nos.environ["{_FLAG}"] = "0"\n', "turned off"),
    Ok(
        "import torch.distributed as dist\n\n\ndef build(ranks, options):\n"
        "    return dist.new_group(ranks, pg_options=options, sort_ranks=False)\n",
        "without the mode",
    ),
    Ok("class config:\n    use_torchcomms = False\n\n\nconfig.use_torchcomms = True\n", "own configuration"),
    Ok("try:\n    import torchcomms\nexcept ImportError:\n    torchcomms = None\n", "guarded import"),
    Ok(f'"""Set {_FLAG}=1 to try torchcomms."""\n', "in a docstring"),
)
