"""`get_backend()` compared with "nccl" in a project whose group has another name for the same thing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.distributed.groups.backends import BACKENDS, named_backends, project_backends
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL241",
    name="backend-name-compared",
    summary='`get_backend() == "nccl"` where the group has another name',
    why=(
        '`get_backend()` returns the name the group was created with. A group created without one says "undefined" '
        '(measured on torch 2.13 and 2.15), and one moved to "nccl-lazy" or "nccl-legacy" (2.14+) says that.'
    ),
    fix='Manual. With the plain name "nccl" the comparison is right and is not reported.',
    targets=("torch.distributed.get_backend",),
    severity=Severity.INFO,
    triggers=("get_backend & nccl", "get_backend & NCCL"),
    collectors=(BACKENDS,),
    sources=(
        "torch/distributed/distributed_c10d.py of 2.13.0, 2.14.1 and 2.15.0, get_backend",
        "Measured: init_process_group() without arguments, torch 2.13.0 and 2.15.0",
    ),
)

_VARIANTS = frozenset({"nccl-lazy", "nccl-legacy", "nccl2"})


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or use.kind != "call" or call.args or call.keywords:
        return
    comparison = view.parent(call)
    if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
        return
    if not isinstance(comparison.ops[0], (ast.Eq, ast.NotEq)):
        return
    other = comparison.comparators[0] if comparison.left is call else comparison.left
    if not _is_nccl(view, other):
        return
    variants = sorted(_VARIANTS & {name for name in named_backends(context.project) if name})
    if variants:
        message = (
            f'A default group of the project is "{variants[0]}", and `get_backend()` says so: it does not equal "nccl".'
        )
        advice = f'Compare with `dist.get_backend().startswith("nccl")`, or with "{variants[0]}" as well.'
    elif project_backends(context.project) == {"absent"}:
        message = (
            "The project calls `init_process_group` without a backend; unless `device_id` is passed, `get_backend()` is then "
            '"undefined" and not "nccl", although CUDA tensors go through NCCL.'
        )
        advice = 'Name the backend: `init_process_group("cpu:gloo,cuda:nccl")` and `"nccl" in dist.get_backend()`.'
    else:
        return
    span = view.span(comparison)
    yield Finding("TL241", view.path, span, message, Severity.INFO, advice)


def _is_nccl(view: ModuleView, node: ast.expr) -> bool:
    named = isinstance(node, ast.Constant) and node.value == "nccl"
    return named or view.possible_name(node) == "torch.distributed.Backend.NCCL"


EXAMPLES = (
    Bad(
        'import torch.distributed as dist\n\ndist.init_process_group("nccl-lazy")\nif dist.get_backend() == "nccl":\n'
        "    print('GPU')\n",
        why="nccl-lazy",
    ),
    Bad(
        "from torch.distributed import Backend, get_backend as name, init_process_group\n\ninit_process_group()\n"
        "print(Backend.NCCL != name())\n",
        why="no backend named, compared with the constant",
    ),
    Bad(
        "import torch.distributed.distributed_c10d as c10d\n\n\ndef device():\n"
        "    return 'cuda' if c10d.get_backend() == 'nccl' else 'cpu'\n",
        why="created in another file",
        files=(("train.py", "import torch.distributed as dist\n\ndist.init_process_group(backend='nccl-legacy')\n"),),
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("nccl")\nprint(dist.get_backend() == "nccl")\n',
        "the plain name",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group()\nprint(dist.get_backend() == "gloo")\n',
        "asks for gloo",
    ),
    Ok(
        'import torch.distributed as dist\n\n\ndef f(group):\n    return dist.get_backend(group) == "nccl"\n',
        "another group",
    ),
    Ok('import matplotlib as dist\n\nprint(dist.get_backend() == "nccl")\n', "another library"),
)
