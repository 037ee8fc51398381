"""`all_gather_into_tensor` and `all_gather_single`: two names, of which each release prefers another."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_OTHER = {
    "torch.distributed.all_gather_into_tensor": "torch.distributed.all_gather_single",
    "torch.distributed.reduce_scatter_tensor": "torch.distributed.reduce_scatter_single",
}
_OLDER = {new: old for old, new in _OTHER.items()}

RULE = Rule(
    code="TL252",
    name="single-tensor-collective",
    summary="`all_gather_into_tensor` or `all_gather_single` in a release that has, or wants, the other one",
    why=(
        "torch 2.13 added `all_gather_single` and `reduce_scatter_single` and deprecated `all_gather_into_tensor` and "
        "`reduce_scatter_tensor`; 2.15 keeps these as plain aliases again, without a warning. Who followed the warning of 2.13 "
        "lost every release before it."
    ),
    fix=(
        "None, on purpose: both names work in the newest release, and the older ones in every release since 1.13. Said as an "
        "information if the target is torch 2.13 or 2.14, where they warn, and as an error if the new names are used in a "
        "project that supports a torch without them."
    ),
    targets=(*_OTHER, *_OLDER),
    severity=Severity.INFO,
    sources=(
        "torch/distributed/distributed_c10d.py of 2.12.1 (no `_single`), 2.13.0:4400 and 4948, 2.14.1:5176 (FutureWarning), "
        "2.15.0:5436 and 6177 (aliases), read 2026-11-21",
    ),
)

_SINGLE_SINCE = TorchVersion(2, 13)
_WARNING_ENDS = TorchVersion(2, 15)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, settings = context.view, context.settings
    if use.kind in {"store", "delete", "string"}:
        return
    name = use.target.rpartition(".")[2]
    span = view.span(use.node)
    if use.target in _OLDER:
        if settings.min_torch < _SINGLE_SINCE:
            older = _OLDER[use.target]
            message = (
                f"`{use.target}` is new in torch {_SINGLE_SINCE}, and this project {settings.supports}, where "
                "it raises AttributeError or ImportError."
            )
            advice = (
                f"Write `{older}`, which every release since 1.13 has and which does the same with the same arguments, or "
                f"require torch>={_SINGLE_SINCE}."
            )
            yield Finding("TL252", view.path, span, message, Severity.ERROR, advice)
        return
    if use.kind == "import" or not _SINGLE_SINCE <= settings.target < _WARNING_ENDS:
        return
    message = f"`{use.target}` gives a FutureWarning in torch {_SINGLE_SINCE} and 2.14 only: {_WARNING_ENDS} took the deprecation back."
    advice = (
        f"Leave it: `{_OTHER[use.target]}`, which the warning asks for, is missing before {_SINGLE_SINCE}. Where the warning "
        f'disturbs: `warnings.filterwarnings("ignore", ".*{name}. is deprecated", FutureWarning)`.'
    )
    yield Finding("TL252", view.path, span, message, Severity.INFO, advice)


EXAMPLES = (
    Bad(
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    dist.all_gather_single(whole, x)\n",
        why="a name that the lowest torch of the project lacks",
        min_torch=TorchVersion(2, 12),
    ),
    Bad(
        "from torch.distributed import reduce_scatter_single as scatter\n\n\ndef total(part, x):\n    scatter(part, x)\n",
        why="an import that fails on the lowest torch of the project",
        min_torch=TorchVersion(2, 12),
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    dist.all_gather_into_tensor(whole, x)\n",
        "the older name with torch 2.15 as target: nothing warns there",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n"
        "    if hasattr(dist, 'all_gather_single'):\n        dist.all_gather_single(whole, x)\n"
        "    else:\n        dist.all_gather_into_tensor(whole, x)\n",
        "hasattr",
    ),
    Ok(
        "import torch.distributed as dist\n\n\ndef gather(whole, x):\n    dist.all_gather_single(whole, x)\n",
        "the new name in a project that needs torch 2.15",
    ),
    Ok(
        "class Group:\n    def all_gather_single(self, whole, x):\n        return self.comm.all_gather_single(whole, x)\n",
        "own method",
    ),
)
