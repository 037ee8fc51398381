"""Examples of TL101."""

from __future__ import annotations

from torchlift.rules.rule import Bad, Ok
from torchlift.versions import TorchVersion

_HEAD = '''\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())

    def forward(self, x):
        return self.body(x) + x.mean()


torch.manual_seed(0)
net = Net()
net.eval()
'''
_BATCHES = "result = [traced(torch.ones(n, 3)) for n in (4, 7, 4, 1)]"

EXAMPLES: tuple[Bad | Ok, ...] = (
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        _HEAD
        + "traced = torch.export.export(net, (torch.rand(4, 3),), "
        + "dynamic_shapes=([torch.export.Dim.AUTO] * 2,)).module()\n",
        why="called only",
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        _HEAD
        + "traced = torch.export.export(net, (torch.rand(4, 3),), "
        + "dynamic_shapes=([torch.export.Dim.AUTO] * 2,), strict=False).module()\n",
        why="torch 2.5 is supported: strict had another default",
        min_torch=TorchVersion(2, 5),
        run=_BATCHES,
    ),
    Bad(
        _HEAD + "traced = torch.jit.trace(net, torch.rand(4, 3))\n",
        safety="manual",
        why="torch 1.13 is supported: no torch.export there",
        min_torch=TorchVersion(1, 13),
    ),
)
