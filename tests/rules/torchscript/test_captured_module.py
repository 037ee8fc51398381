"""The layers and functions that TL101 trusts really capture alike: traced and exported, on several batch sizes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from layers_to_compare import DEFAULT, LAYERS
from torch_programs import TorchPrograms, same

from torchlift.rules.torchscript.facts.trusted_operations import (
    PURE_FUNCTIONS,
    PURE_METHODS,
    STATEFUL_LAYERS,
    STATELESS_LAYERS,
)

# An expression of x, shape (batch, 4, 6), for every function and method; `w` and `b` are parameters.
_FUNCTIONS = {
    "cat": "torch.cat([x, 2 * x], dim=1)",
    "stack": "torch.stack([x, 2 * x], dim=1)",
    "flatten": "torch.flatten(x, 1)",
    "softmax": "{f}(x, dim=-1)",
    "log_softmax": "{f}(x, dim=-1)",
    "matmul": "torch.matmul(x, x.transpose(1, 2))",
    "bmm": "torch.bmm(x, x.transpose(1, 2))",
    "add": "torch.add(x, x, alpha=2)",
    "mul": "torch.mul(x, x)",
    "sub": "torch.sub(x, 2 * x)",
    "div": "torch.div(x, 2 + x * x)",
    "clamp": "torch.clamp(x, min=0)",
    "transpose": "torch.transpose(x, 1, 2)",
    "permute": "torch.permute(x, (0, 2, 1))",
    "unsqueeze": "torch.unsqueeze(x, 1)",
    "squeeze": "torch.squeeze(x.unsqueeze(1), 1)",
    "reshape": "torch.reshape(x, (x.size(0), -1))",
    "outer": "{f}(x[:, 0, 0], x[0, 0])",
    "ger": "{f}(x[:, 0, 0], x[0, 0])",
    "where": "torch.where(x > 0, x, -x)",
    "max": "torch.max(x, x * x)",
    "min": "torch.min(x, x * x)",
    "amax": "torch.amax(x, dim=1)",
    "amin": "torch.amin(x, dim=1)",
    "chunk": "torch.cat(torch.chunk(x, 2, dim=1), dim=2)",
    "log": "torch.log(x * x + 1)",
    "sqrt": "torch.sqrt(x * x + 1)",
    "mean": "torch.mean(x, dim=1)",
    "sum": "torch.sum(x, dim=1)",
    "norm": "torch.norm(x, dim=1)",
    "normalize": "torch.nn.functional.normalize(x, dim=1)",
    "max_pool2d": "torch.nn.functional.max_pool2d(x, 2)",
    "avg_pool2d": "torch.nn.functional.avg_pool2d(x, 2)",
    "adaptive_avg_pool2d": "torch.nn.functional.adaptive_avg_pool2d(x, (2, 2))",
    "linear": "torch.nn.functional.linear(x, self.w, self.b)",
    "conv2d": "torch.nn.functional.conv2d(x.unsqueeze(1), self.k)",
    "pad": "torch.nn.functional.pad(x, (1, 1))",
    "layer_norm": "torch.nn.functional.layer_norm(x, (6,))",
}
_METHODS = {
    "view": "x.view(x.size(0), -1)",
    "reshape": "x.reshape(x.shape[0], -1)",
    "flatten": "x.flatten(1)",
    "mean": "x.mean(dim=1)",
    "sum": "x.sum(dim=1)",
    "softmax": "x.softmax(dim=1)",
    "log_softmax": "x.log_softmax(dim=1)",
    "log": "(x * x + 1).log()",
    "sqrt": "(x * x + 1).sqrt()",
    "transpose": "x.transpose(1, 2)",
    "permute": "x.permute(0, 2, 1)",
    "unsqueeze": "x.unsqueeze(1)",
    "squeeze": "x.unsqueeze(1).squeeze(1)",
    "matmul": "x.matmul(x.transpose(1, 2))",
    "mm": "x[:, 0].mm(x[0].t())",
    "bmm": "x.bmm(x.transpose(1, 2))",
    "add": "x.add(x)",
    "mul": "x.mul(2.0)",
    "sub": "x.sub(2 * x)",
    "div": "x.div(3)",
    "clamp": "x.clamp(0, 1)",
    "t": "x[:, 0].t()",
    "pow": "x.pow(2)",
    "amax": "x.amax(dim=1)",
    "amin": "x.amin(dim=1)",
    "size": "x.view(x.size(0), 24)",
    "dim": "x.sum(dim=x.dim() - 1)",
    "chunk": "x.chunk(2, dim=1)[0]",
    "expand_as": "x[:1].expand_as(x)",
}

_COMPARE = """
import json, warnings, torch
warnings.simplefilter("ignore")
A = torch.export.Dim.AUTO
result = []
def compare(name, module, shape, make=torch.rand):
    module.eval()
    torch.manual_seed(0)
    example = make((4, *shape))
    traced = torch.jit.trace(module, example)
    exported = torch.export.export(module, (example.clone(),), dynamic_shapes=([A] * example.dim(),)).module()
    for batch in (4, 7, 2):
        x = make((batch, *shape))
        result.append([name, batch, torch.equal(traced(x), exported(x)) or torch.allclose(traced(x), exported(x), atol=1e-6)])
"""


def _run(folder: Path, programs: TorchPrograms, lines: list[str]) -> list[tuple[str, int, bool]]:
    description = programs.run(folder, {}, _COMPARE + "\n".join(lines) + "\nresult = json.dumps(result)\n")
    return [tuple(item) for item in json.loads(description[1])]


@pytest.mark.parametrize("chunk", range(4))
def test_every_trusted_layer_captures_alike(chunk: int, tmp_path: Path, torch_programs: TorchPrograms) -> None:
    layers = sorted(STATELESS_LAYERS | STATEFUL_LAYERS)[chunk::4]
    lines = []
    for layer in layers:
        if layer == "Embedding":
            lines.append("compare('Embedding', torch.nn.Embedding(9, 3), (5,), make=lambda s: torch.randint(0, 9, s))")
            continue
        arguments, shape = LAYERS.get(layer, DEFAULT)
        lines.append(f"compare({layer!r}, torch.nn.{layer}{arguments}, {shape})")
    outcome = _run(tmp_path, torch_programs, lines)
    assert {name for name, _, _ in outcome} == set(layers)
    assert [item for item in outcome if not item[2]] == []


@pytest.mark.parametrize("chunk", range(4))
def test_every_trusted_function_captures_alike(chunk: int, tmp_path: Path, torch_programs: TorchPrograms) -> None:
    expressions = {}
    for name in sorted(PURE_FUNCTIONS):
        template = _FUNCTIONS.get(name.rpartition(".")[2], "{f}(x)")
        expressions[name] = template.replace("{f}", name)
    for name in sorted(PURE_METHODS):
        expressions[f"Tensor.{name}"] = _METHODS.get(name, f"x.{name}()")
    chosen = dict(sorted(expressions.items())[chunk::4])
    lines = []
    for number, (name, expression) in enumerate(chosen.items()):
        lines += [
            f"class M{number}(torch.nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.w = torch.nn.Parameter(torch.ones(3, 6)); self.b = torch.nn.Parameter(torch.ones(3))",
            "        self.k = torch.nn.Parameter(torch.ones(1, 1, 2, 2))",
            f"    def forward(self, x): return {expression}",
            f"compare({name!r}, M{number}(), (4, 6))",
        ]
    outcome = _run(tmp_path, torch_programs, lines)
    assert {name for name, _, _ in outcome} == set(chosen)
    assert [item for item in outcome if not item[2]] == []


def test_a_difference_between_the_captures_would_be_seen(tmp_path: Path, torch_programs: TorchPrograms) -> None:
    lines = [
        "class Branch(torch.nn.Module):",
        "    def forward(self, x): return -x if torch.jit.is_tracing() else x",
        "compare('branch', Branch(), (4, 6))",
    ]
    assert not any(same(item[2], True) for item in _run(tmp_path, torch_programs, lines))
