"""A process group of a project's own whose `new_group` does not take the `backend` that torch passes since 2.14."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL253",
    name="new-group-override-without-backend",
    summary="A `new_group` of an own process group that does not take `backend`",
    why=(
        "Where the default group is an object of an own class with a method `new_group`, `dist.new_group` hands the work to "
        "it, in 2.13 with `ranks` and the keywords `timeout`, `pg_options`, `group_name` and `group_desc`. Since 2.14 "
        "`backend` is among them: a method without it raises `TypeError: new_group() got an unexpected keyword argument "
        "'backend'` as soon as a group is made, in DeviceMesh and FSDP, too."
    ),
    fix="Manual: whether the backend matters to the group is for its author to say.",
    since=TorchVersion(2, 14),
    targets=("torch.distributed.ProcessGroup", "torch._C._distributed_c10d.ProcessGroup"),
    triggers=("new_group & ProcessGroup",),
    severity=Severity.ERROR,
    sources=(
        "https://github.com/pytorch/pytorch/pull/188489 (`backend` is passed), read 2026-11-24",
        "https://github.com/pytorch/pytorch/pull/184262 (the call), read 2026-11-24; "
        "torch/distributed/distributed_c10d.py of the 2.13.0 wheel, lines 6032-6039",
    ),
)

_MESSAGE = (
    "`{owner}.new_group` does not take `backend`, which `torch.distributed.new_group` passes to the method of the default "
    "group since torch 2.14: TypeError."
)
_ADVICE = (
    "Take it, by name: `def new_group(self, ranks, *, backend=None, timeout=None, pg_options=None, group_name=None, "
    "group_desc=None)`, which older releases call as well."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    owner = view.parent(use.node)
    if use.kind != "base" or not isinstance(owner, ast.ClassDef):
        return
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name == "new_group" and not _takes_backend(method.args):
            message = _MESSAGE.format(owner=owner.name)
            yield Finding(
                "TL253",
                view.path,
                view.span(method.args.args[0] if method.args.args else use.node),
                message,
                Severity.ERROR,
                _ADVICE,
            )


def _takes_backend(arguments: ast.arguments) -> bool:
    named = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
    return "backend" in named or arguments.kwarg is not None


_HEAD = "import torch.distributed as dist\n\n\nclass Fabric(dist.ProcessGroup):\n"

EXAMPLES = (
    Bad(
        _HEAD + "    def new_group(self, ranks, timeout=None, pg_options=None, group_name=None, group_desc=None):\n"
        "        return Fabric(ranks)\n",
        why="the keywords of torch 2.13",
    ),
    Bad(
        "from torch._C._distributed_c10d import ProcessGroup as Group\n\n\nclass Ring(Group):\n    def size(self):\n"
        "        return 1\n\n    def new_group(self, ranks, *, timeout, pg_options, group_name, group_desc):\n"
        "        return self\n",
        why="the class by its private name, keywords only",
    ),
    Ok(
        _HEAD + "    def new_group(self, ranks, timeout=None, pg_options=None, group_name=None, group_desc=None, "
        "backend=None):\n        return Fabric(ranks)\n",
        "it takes it",
    ),
    Ok(_HEAD + "    def new_group(self, ranks, **options):\n        return Fabric(ranks)\n", "it takes anything"),
    Ok(_HEAD + "    def getBackendName(self):\n        return 'fabric'\n", "no method of that name"),
    Ok(
        "class Fabric:\n    def new_group(self, ranks):\n        return ranks\n\n\n"
        '"""as torch.distributed.ProcessGroup has it"""\n',
        "an own class",
    ),
)
