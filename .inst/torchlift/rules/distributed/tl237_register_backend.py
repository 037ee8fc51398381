"""`Backend.register_backend` without the devices that the backend serves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL237",
    name="register-backend-without-devices",
    summary="`register_backend` without `devices=`",
    why=(
        "A backend registered without devices is taken for one that serves CPU tensors and the accelerator, with a "
        "UserWarning. Since torch 2.14 which accelerator that is depends on the machine; before, it was CUDA."
    ),
    fix="Manual: only the backend's author knows its devices.",
    targets=("torch.distributed.Backend.register_backend",),
    severity=Severity.INFO,
    triggers=("register_backend",),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.13.0 (line 393), 2.14.1 and 2.15.0 (line 714), register_backend",
    ),
)

_MESSAGE = (
    "`register_backend` without `devices=` warns and registers the backend for `cpu` and the accelerator of the machine "
    "(up to torch 2.13 for `cpu` and `cuda`, whatever the machine has)."
)
_ADVICE = (
    'Pass the devices it serves, such as `devices=["cpu"]`. A package can also announce its backend as an entry point of '
    "`torch.distributed.backends` (2.14+)."
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call = use.call
    if call is None or use.kind != "call" or len(call.args) > 3:
        return
    if any(keyword.arg in {None, "devices"} for keyword in call.keywords):
        return
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    yield Finding("TL237", context.view.path, context.view.span(use.node), _MESSAGE, Severity.INFO, _ADVICE)


EXAMPLES = (
    Bad(
        'import torch.distributed as dist\n\ndist.Backend.register_backend("mine", lambda *options: None)\n',
        why="by position",
    ),
    Bad(
        "from torch.distributed import Backend as Known\n\n\ndef make(options, extra): ...\n\n\n"
        'Known.register_backend("mine", make, extended_api=True)\n',
        why="another import name",
    ),
    Bad(
        "from torch.distributed.distributed_c10d import Backend\n\nBackend.register_backend('mine', print, False)\n",
        why="private module",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.Backend.register_backend("mine", print, devices=["cpu"])\n',
        "has them",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.Backend.register_backend("mine", print, False, "cpu")\n',
        "has them by position",
    ),
    Ok("import pyroapi\n\npyroapi.register_backend('funsor', {})\n", "another library"),
    Ok("def register_backend(name, maker): ...\n\n\nregister_backend('a', print)\n", "own function"),
)
