"""`DistributedDataParallel(broadcast_buffers=...)`, deprecated since torch 2.13."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import Use

_SINCE = TorchVersion(2, 13)

RULE = Rule(
    code="TL510",
    name="ddp-broadcast-buffers",
    summary="`DistributedDataParallel(broadcast_buffers=...)`, deprecated since torch 2.13",
    why=(
        "torch 2.13 split it: `forward_sync_buffers` is about the broadcast at the beginning of every forward, and the one when "
        "the module is wrapped has no switch yet. `broadcast_buffers` goes on meaning both and warns (FutureWarning)."
    ),
    fix=(
        "Safe: `broadcast_buffers=True` is dropped, because it is the default of every release. For review: "
        "`broadcast_buffers=False` becomes `forward_sync_buffers=False` (torch 2.13 and later), which still broadcasts once."
    ),
    targets=("torch.nn.parallel.DistributedDataParallel",),
    triggers=("broadcast_buffers & DistributedDataParallel", "broadcast_buffers & parallel"),
    deprecated=_SINCE,
    sources=(
        "torch/nn/parallel/distributed.py:961-990 of torch 2.13.0, :969-998 of 2.15.0; 2.12.1 has `broadcast_buffers=True` only",
        "https://github.com/pytorch/pytorch/pull/178054",
        "two and three ranks on gloo with buffers that differ, with torch 2.13.0",
    ),
)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    names = {keyword.arg for keyword in call.keywords}
    unclear = None in names or "forward_sync_buffers" in names
    return settings.target >= _SINCE and "broadcast_buffers" in names and not unclear


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or not matters(use.target, call, context.settings):
        return
    given = next(keyword for keyword in call.keywords if keyword.arg == "broadcast_buffers")
    span = view.span(call)
    message = "`broadcast_buffers` of `DistributedDataParallel` is deprecated since torch 2.13 and warns."
    value = given.value.value if isinstance(given.value, ast.Constant) else given.value
    if value is True:
        fix = Fix("Drop it: True is the default", Safety.SAFE, (EditCall(span, drop=("broadcast_buffers",)),))
        yield Finding("TL510", view.path, view.span(given), message, Severity.WARNING, None, fix)
        return
    if value is False:
        review = (
            "Needs review: `forward_sync_buffers=False` turns off the broadcast of every forward, and buffers are broadcast once "
            "when the module is wrapped, which `broadcast_buffers=False` does not do since torch 2.1. Where ranks start with buffers of their "
            "own, keep `broadcast_buffers=False` until torch has the announced `init_sync_buffers`."
        )
        edit = EditCall(span, rename=(("broadcast_buffers", "forward_sync_buffers"),))
        fix = Fix("Use `forward_sync_buffers`", Safety.UNSAFE, (edit,), _SINCE)
        yield Finding("TL510", view.path, view.span(given), message, Severity.WARNING, review, fix)
        return
    advice = (
        "`forward_sync_buffers=` takes its place (torch 2.13 and later), but for the first broadcast, when the module is wrapped: "
        "`broadcast_buffers=False` leaves that out since torch 2.1, and `forward_sync_buffers=False` does not."
    )
    yield Finding("TL510", view.path, view.span(given), message, Severity.WARNING, advice)


_WRAP = "from torch.nn.parallel import DistributedDataParallel as DDP\n\n\ndef wrap(net):\n    return DDP(net{})\n"
_RUN = (
    "import torch\nimport torch.distributed as dist\ndist.init_process_group('gloo')\ntorch.manual_seed(0)\n"
    "net = torch.nn.BatchNorm1d(3)\n{}net = wrap(net)\n"
    "for step in range(2):\n    net(torch.arange(6.).reshape(2, 3) * (dist.get_rank() + 1))\n"
    "result = net.module.running_mean\n"
)

EXAMPLES = (
    Bad(
        _WRAP.format(", broadcast_buffers=True"),
        _WRAP.format(""),
        why="the default",
        run=_RUN.format(""),
        ranks=(2, 3),
    ),
    Bad(
        _WRAP.format(", find_unused_parameters=True, broadcast_buffers=False"),
        _WRAP.format(", find_unused_parameters=True, forward_sync_buffers=False"),
        safety="unsafe",
        why="no broadcast, and buffers that differ from the start",
        run=_RUN.format("net.running_mean.fill_(dist.get_rank())\n"),
        differs="The buffers are broadcast once, when the module is wrapped.",
        ranks=(2,),
    ),
    Bad(
        "import torch\n\n\ndef wrap(net, args):\n"
        "    return torch.nn.parallel.DistributedDataParallel(net, broadcast_buffers=args.broadcast)\n",
        why="a value that is not known here",
    ),
    Bad(
        _WRAP.format(", broadcast_buffers=False"),
        why="torch 2.6 is supported, which has no other name",
        min_torch=TorchVersion(2, 6),
    ),
    Ok(_WRAP.format("  # no broadcast_buffers\n    "), "not passed"),
    Ok(_WRAP.format(", forward_sync_buffers=False"), "the new name, not broadcast_buffers"),
    Ok(
        "from fairscale.nn.data_parallel import ShardedDataParallel as DDP\n\n\ndef wrap(net, optimizer):\n"
        "    return DDP(net, optimizer, broadcast_buffers=False)\n",
        "another library's",
    ),
    Ok(
        "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n\ndef wrap(net):\n"
        "    if torch.__version__ < '2.13':\n        return DDP(net, broadcast_buffers=False)\n"
        "    return DDP(net, forward_sync_buffers=False)\n",
        "under a test of the version",
    ),
)
