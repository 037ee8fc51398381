"""`_register_on_completion_hook`, which only the old NCCL engine serves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL244",
    name="on-completion-hook",
    summary="`_register_on_completion_hook` of a process group",
    why=(
        "The private hook that is called when a collective has finished is implemented by the old NCCL engine; the library of "
        'torch 2.15 still says that only that one supports it. The engine that "nccl" means since 2.15 has abort hooks and '
        "recorder hooks instead. That the call raises follows from this and was not run on hardware."
    ),
    fix="Manual: there is no public replacement.",
    since=NEW_ENGINE,
    targets=("*._register_on_completion_hook",),
    triggers=("_register_on_completion_hook",),
    collectors=(BACKENDS,),
    sources=(
        "messages in the torch 2.15.0 wheel; c10d/nccl2/ProcessGroupNCCL.hpp of 2.15.0; "
        "https://github.com/pytorch/pytorch/pull/192281 (nccl2 is the default)",
    ),
)

_MESSAGE = (
    '`_register_on_completion_hook` serves the old NCCL engine only ("Only ProcessGrouppNCCL supports onCompletion hook"). '
    'Since torch 2.15 "nccl" is a new engine with other hooks, so this call probably raises.'
)
_ADVICE = (
    "Record times with `torch.profiler` or the flight recorder (`TORCH_FR_BUFFER_SIZE`), which work with every backend. "
    f"{ESCAPE}"
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if (
        call is None
        or use.kind != "call"
        or not isinstance(use.node, ast.Attribute)
        or not may_use_nccl(context.project)
    ):
        return
    if isinstance(use.node.value, ast.Name) and use.node.value.id in {"self", "cls"}:
        return
    if "torch.distributed" not in view.source.text and "from torch import distributed" not in view.source.text:
        return
    yield Finding("TL244", view.path, view.span(use.node), _MESSAGE, Severity.WARNING, _ADVICE)


EXAMPLES = (
    Bad(
        "import torch.distributed as dist\n\n\ndef watch(group, hook):\n    group._register_on_completion_hook(hook)\n",
        why="a group",
    ),
    Bad(
        "from torch.distributed.distributed_c10d import _get_default_group\n\n"
        "_get_default_group()._register_on_completion_hook(print)\n",
        why="the default group",
    ),
    Bad(
        "from torch import distributed as dist\n\n\ndef watch(hook):\n"
        "    dist.group.WORLD._register_on_completion_hook(hook)\n",
        why="another import",
    ),
    Ok(
        "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
        "dist.group.WORLD._register_on_completion_hook(print)\n",
        "a gloo project",
    ),
    Ok("class Queue:\n    def start(self):\n        self._register_on_completion_hook(print)\n", "own method"),
    Ok("import jobs\n\njobs.current()._register_on_completion_hook(print)\n", "another library"),
    Ok("def _register_on_completion_hook(f): ...\n\n\n_register_on_completion_hook(print)\n", "own function"),
)
