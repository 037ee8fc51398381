"""Layers that a class derived from ScriptModule may hold to be rewritten: scripted and plain, with the same outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from layers_to_compare import DEFAULT, LAYERS
from torch_programs import TorchPrograms

from torchlift.rules.torchscript.facts.trusted_operations import STATEFUL_LAYERS, STATELESS_LAYERS

_COMPARE = """
import copy, json, torch
result = []

class Longer(torch.nn.Module):
    def __init__(self, layer, floating: bool):
        super().__init__()
        self.layer = layer
        self.floating = floating

    def forward(self, x):
        if self.floating:
            x = x * 1.5
        return self.layer(x) * 2.0 + 0.5

def outcome(module, x):
    x = x.clone()
    if x.is_floating_point():
        x.requires_grad_()
    torch.manual_seed(3)
    y = module(x)
    module.zero_grad()
    if y.requires_grad:
        y.abs().sum().backward()
    state = [value.clone() for value in module.state_dict().values()]
    return [y, x.grad, *[p.grad for p in module.parameters()], *state]

def same(left, right):
    if left is None or right is None:
        return left is right
    return left.dtype == right.dtype and left.shape == right.shape and torch.allclose(left, right, rtol=1e-5, atol=1e-6)

def compare(name, layer, x):
    torch.manual_seed(0)
    for mode in ("train", "eval"):
        plain = Longer(layer, x.is_floating_point())
        getattr(plain, mode)()
        scripted = torch.jit.script(copy.deepcopy(plain))
        for call in range(3):
            alike = all(map(same, outcome(plain, x), outcome(scripted, x)))
            result.append([name, mode, call, alike, sorted(plain.state_dict()) == sorted(scripted.state_dict())])
"""


@pytest.mark.parametrize("part", range(3))
def test_every_trusted_layer_does_the_same_scripted_and_plain(
    part: int, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    layers = sorted(STATELESS_LAYERS | STATEFUL_LAYERS)[part::3]
    calls = []
    for layer in layers:
        if layer == "Embedding":
            calls.append("compare('Embedding', torch.nn.Embedding(9, 3), torch.randint(0, 9, (4, 5)))")
            continue
        arguments, shape = LAYERS.get(layer, DEFAULT)
        calls.append(f"compare({layer!r}, torch.nn.{layer}{arguments}, torch.rand((4, *{shape})) * 4 - 2)")
    code = "from layers import *\n" + "\n".join(calls) + "\nresult = json.dumps(result)\n"
    outcome = json.loads(torch_programs.run(tmp_path, {"layers.py": _COMPARE}, code)[1])
    assert {name for name, *_ in outcome} == set(layers)
    assert [item for item in outcome if not (item[3] and item[4])] == []
