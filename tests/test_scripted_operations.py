"""Operations that a scripted function may hold to be rewritten: each one compiled and plain, with the same outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import TorchPrograms

from torchlift.rules.torchscript.scripted_operations import (
    FUNCTIONS,
    METHODS,
    PAIRS,
    PAIRS_WITH_DIMENSION,
    SEQUENCES,
)

# An expression of x and y, both of shape (4, 6), for what does not take `x` alone.
_SHARED = {
    "add": "{f}(y, alpha=2)",
    "addcdiv": "{f}(y, y, value=0.5)",
    "addcmul": "{f}(y, y)",
    "atan2": "{f}(y)",
    "broadcast_to": "{f}((4, 6))",
    "clamp": "{f}(min=-1.0, max=1.0)",
    "clamp_max": "{f}(1)",
    "clamp_min": "{f}(0.5)",
    "clip": "{f}(0, 1)",
    "cross": "torch.cross(x[:, :3], y[:, :3], dim=1)",
    "cumprod": "{f}(0)",
    "cumsum": "{f}(dim=0)",
    "diff": "{f}(dim=1)",
    "div": "{f}(y)",
    "eq": "{f}(y)",
    "flatten": "{f}(0)",
    "flip": "{f}((0,))",
    "floor_divide": "{f}(y)",
    "fmod": "{f}(y)",
    "full_like": "{f}(2)",
    "gather": "{f}(1, y.argsort(1))",
    "ge": "{f}(y)",
    "gt": "{f}(0.5)",
    "hypot": "{f}(y)",
    "index_select": "{f}(0, y[0].argsort()[:3] % 4)",
    "inner": "{f}(y)",
    "isclose": "{f}(y)",
    "kron": "{f}(y)",
    "le": "{f}(y)",
    "lerp": "{f}(y, 0.3)",
    "log_softmax": "{f}(dim=1)",
    "logaddexp": "{f}(y)",
    "logical_and": "{f}(y)",
    "logical_or": "{f}(y)",
    "logical_xor": "{f}(y)",
    "logsumexp": "{f}(dim=1)",
    "lt": "{f}(y)",
    "masked_fill": "{f}(y > 0, 0.0)",
    "masked_select": "{f}(y > 0)",
    "matmul": "{f}(y.t())",
    "maximum": "{f}(y)",
    "mean": "{f}(dim=1, keepdim=True)",
    "minimum": "{f}(y)",
    "mm": "{f}(y.t())",
    "mul": "{f}(y)",
    "mv": "{f}(y[0])",
    "narrow": "{f}(0, 1, 2)",
    "ne": "{f}(y)",
    "norm": "torch.norm(x, dim=1)",
    "permute": "{f}((1, 0))",
    "pow": "{f}(2)",
    "prod": "{f}(1)",
    "remainder": "{f}(y)",
    "repeat_interleave": "{f}(2, dim=0)",
    "reshape": "{f}((-1,))",
    "roll": "{f}(1, 0)",
    "scatter": "{f}(1, y.argsort(1), 0.5)",
    "scatter_add": "{f}(1, y.argsort(1), y)",
    "softmax": "{f}(dim=-1)",
    "var": "{f}(dim=1)",
    "sub": "{f}(y, alpha=2)",
    "sum": "{f}(dim=1, keepdim=True)",
    "take": "torch.take(x, y[0].argsort())",
    "tensordot": "torch.tensordot(x, y.t(), 1)",
    "tile": "{f}((2, 1))",
    "transpose": "{f}(0, 1)",
    "true_divide": "{f}(y)",
    "unflatten": "x.unflatten(1, (2, 3))",
    "unsqueeze": "{f}(-1)",
    "where": "torch.where(x > 0, x, y)",
    "xlogy": "{f}(y)",
    "max": "{f}(dim=1)[0]",
    "min": "{f}(dim=1)[1]",
    "median": "{f}(dim=1)[0]",
    "sort": "{f}(dim=1)[0]",
    "topk": "{f}(2)[1]",
    "cummax": "{f}(0)[0]",
    "cummin": "{f}(0)[0]",
    "chunk": "torch.cat({f}(2, 1), 0)",
    "unbind": "{f}(1)[2]",
}
_FUNCTIONS = {
    "baddbmm": "torch.baddbmm(x[None], x[None], (y.t() @ y)[None])",
    "bmm": "torch.bmm(x[None], y.t()[None])",
    "bucketize": "torch.bucketize(x, y[0].sort()[0])",
    "cat": "torch.cat([x, y], dim=1)",
    "cdist": "torch.cdist(x, y)",
    "column_stack": "torch.column_stack((x, y))",
    "concat": "torch.concat((x, y), 1)",
    "dot": "torch.dot(x[0], y[0])",
    "einsum": "torch.einsum('ij,kj->ik', x, y)",
    "hstack": "torch.hstack((x, y))",
    "outer": "torch.outer(x[0], y[0])",
    "squeeze": "torch.squeeze(x[None], 0)",
    "stack": "torch.stack([x, y])",
    "trace": "torch.trace(x)",
    "vstack": "torch.vstack((x, y))",
    "threshold": "F.threshold(x, 0.1, 0.2)",
    "softmin": "F.softmin(x, dim=-1)",
    "normalize": "F.normalize(x, dim=-1)",
    "layer_norm": "F.layer_norm(x, (6,))",
    "group_norm": "F.group_norm(x, 2)",
    "linear": "F.linear(x, y)",
    "conv2d": "F.conv2d(x[None, None], y[None, None, :2, :2])",
    "pad": "F.pad(x, (1, 1))",
    "dropout": "F.dropout(x, p=0.5, training=True)",
    "one_hot": "F.one_hot(y.argsort(1), 6)",
    "embedding": "F.embedding(y.argsort(1)[:, :2] % 4, x)",
    "grid_sample": "F.grid_sample(x[None, None], y.reshape(1, 4, 3, 2), align_corners=False)",
    "unfold": "F.unfold(x[None, None], (2, 2))",
    "avg_pool1d": "F.avg_pool1d(x, 2)",
    "avg_pool2d": "F.avg_pool2d(x[None], 2)",
    "max_pool1d": "F.max_pool1d(x, 2)",
    "max_pool2d": "F.max_pool2d(x[None], 2)",
    "adaptive_avg_pool2d": "F.adaptive_avg_pool2d(x[None], (2, 2))",
    "mse_loss": "F.mse_loss(x, y)",
    "l1_loss": "F.l1_loss(x, y)",
    "smooth_l1_loss": "F.smooth_l1_loss(x, y)",
    "huber_loss": "F.huber_loss(x, y)",
    "cross_entropy": "F.cross_entropy(x, y.argmax(1))",
    "nll_loss": "F.nll_loss(x, y.argmax(1))",
    "binary_cross_entropy": "F.binary_cross_entropy(x.sigmoid(), y.sigmoid())",
    "binary_cross_entropy_with_logits": "F.binary_cross_entropy_with_logits(x, y)",
    "kl_div": "F.kl_div(x, y)",
    "cosine_similarity": "F.cosine_similarity(x, y)",
    "pairwise_distance": "F.pairwise_distance(x, y)",
    "pixel_shuffle": "F.pixel_shuffle(x.reshape(1, 4, 2, 3), 2)",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention(x[None], y[None], y[None])",
}
_METHODS = {
    "bmm": "x[None].bmm(y.t()[None])",
    "dot": "x[0].dot(y[0])",
    "expand": "x[:1].expand(4, -1)",
    "expand_as": "x[:1].expand_as(y)",
    "index_add": "x.index_add(0, y[0].argsort()[:4] % 4, y)",
    "index_fill": "x.index_fill(0, y[0].argsort()[:2] % 4, 0.0)",
    "movedim": "x.movedim(0, 1)",
    "new_full": "x.new_full((2, 3), 0.5)",
    "new_ones": "x.new_ones((2, 3))",
    "new_zeros": "x.new_zeros(x.size(0), 3)",
    "outer": "x[0].outer(y[0])",
    "repeat": "x.repeat(2, 1)",
    "reshape_as": "x.reshape(-1).reshape_as(y)",
    "select": "x.select(0, 1)",
    "squeeze": "x[None].squeeze(0)",
    "swapaxes": "x.swapaxes(0, 1)",
    "t": "x.t()",
    "to": "x.to(torch.float64)",
    "unfold": "x.unfold(0, 2, 1)",
    "view": "x.view(x.size(0), -1)",
    "view_as": "x.view_as(y)",
    "where": "x.where(y > 0, y)",
    "add_": "x.add_(y)",
    "clamp_": "x.clamp_(min=0)",
    "copy_": "x.copy_(y)",
    "div_": "x.div_(2)",
    "fill_": "x.fill_(0.5)",
    "index_add_": "x.index_add_(0, y[0].argsort()[:4] % 4, y)",
    "masked_fill_": "x.masked_fill_(y > 0, 0.0)",
    "mul_": "x.mul_(2)",
    "pow_": "x.pow_(2)",
    "scatter_": "x.scatter_(1, y.argsort(1), y)",
    "scatter_add_": "x.scatter_add_(1, y.argsort(1), y)",
    "sub_": "x.sub_(y)",
}
_NUMBERS = ("2", "-3", "0.5")
_OPERATORS = [
    *(f"x {op} y" for op in "+ - * / // % & | ^ < <= > >= == !=".split()),
    "x @ y.t()",
    *(f"x {op} {number}" for op in "+ - * / // % **".split() for number in _NUMBERS),
    *(f"x {op} 2" for op in "& | ^".split()),
    *(f"{number} {op} x" for op in "+ * / % **".split() for number in _NUMBERS),
    "2 - x",
    "1.0 - torch.sigmoid(x)",
    *(f"x {op} {number}" for op in "< <= > >= == !=".split() for number in _NUMBERS),
    "-x",
    "~x",
    "x * (x.size(0) + x.shape[1] - 2 * x.dim() // 3 % 5)",
    "x / x.size(-1) ** 0.5",
    "x * math.sqrt(2.0 / math.pi) * math.exp(1) + math.log(2) * math.e",
    "x[: math.ceil(x.size(0) / 2), math.floor(x.size(1) / 2) :]",
    "x.masked_fill(y > 0, -math.inf)",
    "x * int(y[0, 0]) + float(y[0, 1])",
    "x * min(x.size(0), 2) + max(len(x), 3) - abs(x.size(0) - 9)",
    "x if bool(y[0, 0] > 0) else y",
    "x[0] + x[:, 0].sum() + x[-1, 1:3].sum() + x[..., ::2].sum()",
    "x[None, :, None] + x[..., None].sum()",
    "x[x > 0]",
    "x[y.argsort(1)[:, 0] % 4]",
    "x.T @ y + x.mT @ y",
    "x.to(y.dtype).to(device=y.device)",
    "torch.zeros_like(x, dtype=torch.float32)",
    "(x, (y, x))",
    "x.max(dim=1).values",
    "x.max(dim=0)[0] + x.max()",
    "(x + 1, x + 1)",
    "(x.sum(), x.sum(), torch.zeros_like(x), torch.zeros_like(x))",
    "x * 1 + 0",
    "x.float().contiguous().reshape(x.shape)",
]
# The same with other arguments, which have other implementations and other formulas for the gradient.
_VARIANTS = [
    "x.sum()",
    "x.mean()",
    "x.sum((0, 1))",
    "x.var()",
    "x.max()",
    "x.min()",
    "x.mul(2)",
    "x.add(2)",
    "x.div(2)",
    "x.sub(2)",
    "x.pow(0.5)",
    "x.pow(3)",
    "x.clamp(0, 1)",
    "x.clamp(max=0.5)",
    "x.clamp(min=0.0)",
    "torch.clamp(x, -1.0, 1.0)",
    "torch.where(x > 0, x, 0.0)",
    "torch.where(x > 0, 1.0, x)",
    "F.gelu(x, approximate='tanh')",
    "F.layer_norm(x, (6,), y[0], y[1])",
    "F.dropout(x, 0.5, False)",
    "F.softmax(x, dim=0)",
    "F.linear(x, y, y[:, 0])",
    "F.smooth_l1_loss(x, y, beta=0.5)",
    "F.elu(x, 0.5)",
    "F.leaky_relu(x, 0.2)",
    "F.hardtanh(x, -2.0, 2.0)",
    "F.softplus(x, 2, 10)",
    "x.expand(2, 4, 6)",
    "torch.matmul(x[None], y.t())",
    "torch.matmul(x, y[0])",
    "x.masked_fill(x > 0, 2.0)",
    "x / 2",
    "2 / x",
    "x - 2",
    "x * y[0]",
    "x + y[:, :1]",
    "x * y.sum()",
    "x / (y.abs() + 1)",
    "x - y[0, 0]",
    "torch.lerp(x, y, y)",
    "torch.addcmul(x, x, y, value=2)",
    "x.mean(0)",
    "x.mean((0, 1), keepdim=True)",
    "x.sum(-1)",
    "x.prod()",
    "x.prod(0)",
    "x.amax(1)",
    "x.amax((0, 1))",
    "x.amin(0)",
    "x.logsumexp((0, 1))",
    "torch.cat([x, y, x])",
    "torch.stack([x, x], dim=-1)",
    "x.max(1)[0]",
    "x.min(dim=0)[0]",
    "x.sort()[0]",
    "x.topk(3)[0]",
    "x.median()",
    "torch.median(x)",
    "x.cumsum(-1)",
    "x.flip(0, 1)",
    "x.roll((1, 2), (0, 1))",
    "x.permute(1, 0)",
    "x.view(6, 4)",
    "x.reshape(-1)",
    "x.unsqueeze(0)",
    "x.repeat(1, 2)",
    "x.abs()",
    "abs(x)",
    "x.sign()",
    "x.round()",
    "x.exp()",
    "x.log()",
    "x.sqrt()",
    "x.rsqrt()",
    "x.reciprocal()",
    "torch.sigmoid(x)",
    "torch.tanh(x)",
    "x.relu()",
    "F.relu(x)",
    "F.relu6(x)",
    "F.silu(x)",
    "F.mish(x)",
    "F.selu(x)",
    "F.hardswish(x)",
    "F.glu(x)",
    "F.normalize(x, p=1.0, dim=1)",
    "F.mse_loss(x, y)",
    "F.mse_loss(x, y, reduction='none')",
    "F.l1_loss(x, y, reduction='sum')",
    "F.cross_entropy(x, y.argmax(1), reduction='none')",
    "F.cross_entropy(x, y.softmax(1))",
    "F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction='none')",
    "F.kl_div(x.log_softmax(1), y.softmax(1), reduction='batchmean')",
    "F.log_softmax(x, dim=0)",
    "F.cosine_similarity(x, y, dim=0)",
    "F.avg_pool2d(x[None], 2, 1, 1)",
    "F.max_pool2d(x[None], 2, 1, 1)",
    "F.conv2d(x[None, None], y[None, None, :2, :2], padding=1)",
    "F.pad(x, (1, 1), mode='reflect')",
    "F.pad(x, (1, 0, 2, 0), value=0.5)",
    "torch.einsum('ij,ij->i', x, y)",
    "torch.bmm(x[None], y.t()[None])",
    "torch.outer(x[0], y[0])",
    "x[0] * y",
    "x[:, 1:3] * y[:, :2]",
    "x[x > 0] * 2",
    "x[..., None] * y[:, None]",
    "x.select(1, 2)",
    "x.gather(1, y.argsort(1))",
    "x.index_select(1, y[0].argsort())",
    "x.scatter_add(0, y.argsort(0), y)",
    "x.T @ y",
    "x @ y.mT",
    "x.diagonal()",
    "x.tril(1)",
    "x.triu()",
    "torch.diff(x)",
    "x.clone()",
    "x.detach() * y",
    "x.float()",
    "x.double()",
    "x.to(torch.float32)",
    "x.half()",
    "x.contiguous()",
    "x.swapaxes(0, 1)",
    "x.unflatten(1, (2, 3))",
    "x.unfold(1, 2, 2)",
    "x.new_zeros(2) + x[0, 0]",
    "torch.zeros_like(x) + x",
    "torch.full_like(x, 2.0) * x",
    "torch.hypot(x, y)",
    "torch.atan2(x, y)",
    "torch.logaddexp(x, y)",
    "torch.maximum(x, y)",
    "torch.minimum(x, y)",
    "torch.fmod(x, 2)",
    "torch.remainder(x, 2.5)",
    "x % y",
    "x // y",
    "torch.square(x)",
    "torch.erf(x)",
    "torch.expm1(x)",
    "torch.log1p(x.abs())",
    "torch.nan_to_num(x)",
    "torch.cdist(x, y)",
    "torch.kron(x, y)",
    "torch.cross(x[:, :3], y[:, :3], dim=-1)",
    "torch.tensordot(x, y, dims=2)",
    "x.var(1, unbiased=False)",
    "torch.var(x, dim=0)",
    "x.addcdiv(x, y.abs() + 1)",
    "torch.baddbmm(x[None], x[None], (y.t() @ y)[None])",
    "x ** 2",
    "x ** 0.5",
    "x ** -1",
    "x ** 3.0",
    "2 ** x",
    "0.5 ** x",
    "x.chunk(2, 1)[0]",
    "x.unbind(0)[1]",
    "F.one_hot(y.argsort(1), 6) * x[:, :, None]",
    "F.embedding(y.argsort(1)[:, :2] % 4, x)",
    "torch.masked_select(x, y > 0)",
    "torch.sinc(x)",
    "torch.deg2rad(x)",
    "torch.xlogy(x, y.abs() + 1)",
    "torch.float_power(x.abs(), 2)",
    "torch.frac(x)",
    "torch.trunc(x)",
    "F.threshold(x, 0.5, 0.1)",
    "F.softshrink(x, 0.3)",
    "F.hardshrink(x)",
    "F.tanhshrink(x)",
    "F.softsign(x)",
    "F.logsigmoid(x)",
    "F.celu(x, 2.0)",
    "F.group_norm(x, 3)",
    "F.softmin(x, dim=1)",
    "F.huber_loss(x, y, delta=0.5)",
    "F.nll_loss(x, y.argmax(1))",
    "F.pairwise_distance(x, y)",
    "F.grid_sample(x[None, None], y.reshape(1, 4, 3, 2), align_corners=True)",
    "F.unfold(x[None, None], (2, 2))",
    "F.pixel_shuffle(x.reshape(1, 4, 2, 3), 2)",
    "F.scaled_dot_product_attention(x[None], y[None], y[None])",
    "F.avg_pool1d(x, 2)",
    "F.max_pool1d(x, 2)",
    "F.adaptive_avg_pool2d(x[None], (2, 2))",
]
_STATEMENTS = [
    "x += y\nreturn x",
    "x -= 2\nreturn x",
    "x *= 0.5\nreturn x",
    "x /= y\nreturn x",
    "x[0] = 0\nreturn x",
    "x[x > 0] = 1.5\nreturn x",
    "x[:, :2] *= y[:, :2]\nreturn x",
    "x[y > 0] = y[y > 0]\nreturn x",
    "z = x\nz += 1\nreturn z, x",
    "a, b = x.chunk(2, dim=-1)\nreturn a * torch.sigmoid(b)",
    "v, i = torch.topk(x, 2)\nreturn v, i",
    "a, b = x.shape\nreturn x.reshape(b, a)",
    "if x.dim() == 2:\n    return x\nreturn y",
    "if x.sum() > 0:\n    z = x * 2\nelse:\n    z = y\nreturn z",
    "if x.shape == y.shape and x.dtype != torch.float64:\n    x = x * 2\nreturn x",
    "z = x[0]\nfor i in range(1, x.size(0)):\n    z = z + x[i] * i\nreturn z",
    "z = x[0]\nfor i in range(x.size(0) - 1, -1, -1):\n    z = z * 0.5 + x[i]\nreturn z",
    "z = torch.zeros_like(x[0])\nfor row in x:\n    z = z + row\nreturn z",
    "n = 0\nwhile n < x.size(0):\n    x = x + 1\n    n += 1\nreturn x",
    "while bool((x < 100).any()):\n    x = x * 1 + 50\nreturn x",
    "x.mul_(2)",
]

_COMPARE = """
import json, warnings, torch, ops
warnings.simplefilter("ignore")

def tensor(dtype, seed):
    torch.manual_seed(seed)
    if dtype is torch.bool:
        return torch.rand(4, 6) > 0.5
    if dtype.is_floating_point:
        return (torch.randn(4, 6) * 3).to(dtype)
    return torch.randint(1, 9, (4, 6)).to(dtype)

def outcome(f, inputs):
    torch.manual_seed(3)
    try:
        return f(*inputs)
    except Exception:
        return "an error"

def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, torch.Tensor):
        return a == b
    if (a.dtype, a.shape, a.stride(), a.requires_grad) != (b.dtype, b.shape, b.stride(), b.requires_grad):
        return False
    return torch.allclose(a.double(), b.double(), rtol=1e-6, atol=1e-6, equal_nan=True)

def storages(value):
    items = value if isinstance(value, tuple) else (value,)
    return [item.untyped_storage().data_ptr() if isinstance(item, torch.Tensor) else 0 for item in items]

def shared(result, inputs):
    # which results share memory with which inputs and with each other
    places = [*storages(tuple(inputs)), *storages(result)]
    return [[a == b for b in places] for a in places]

def gradient(f, inputs):
    inputs = [item.clone().requires_grad_() for item in inputs]
    result = outcome(f, inputs)
    first = result[0] if isinstance(result, tuple) else result
    if not isinstance(first, torch.Tensor) or not first.requires_grad:
        return None
    try:
        first.abs().sum().backward()
    except RuntimeError:
        return "an error"
    return tuple(item.grad for item in inputs)

different, never = [], []
for name in NAMES:
    plain = getattr(ops, name)
    scripted = torch.jit.script(plain)
    worked = False
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
        for call in range(3):
            left, right = ([tensor(dtype, 1), tensor(dtype, 2)] for _ in range(2))
            one, two = outcome(plain, left), outcome(scripted, right)
            worked |= not isinstance(one, str)
            if not same(one, two) or (not isinstance(one, str) and not same(tuple(left), tuple(right))):
                different.append([name, str(dtype), call])
            elif not isinstance(one, str) and shared(one, left) != shared(two, right):
                different.append([name, str(dtype), call])
    # TorchScript has formulas of its own for the gradient of several operations together, so the operation is put
    # into a longer computation; with equal numbers, zeros and negative ones, where formulas differ.
    longer = getattr(ops, "longer_" + name, plain)
    try:
        scripted = torch.jit.script(longer)
    except RuntimeError:
        longer = plain
    ties = [tensor(torch.int64, seed).double() % 3 - 1 for seed in (1, 2)]
    equal = [torch.ones(4, 6).double() for _ in range(2)]
    for pair in ([tensor(torch.float64, 1), tensor(torch.float64, 2)], ties, equal):
        for call in range(3):
            if not same(gradient(longer, pair), gradient(scripted, pair)):
                different.append([name, "gradient", call])
    if not worked:
        never.append(name)
result = json.dumps([different, never])
"""


def _run(folder: Path, programs: TorchPrograms, bodies: dict[str, str]) -> tuple[list[list[object]], list[str]]:
    """What differs, and what never ran without an error, by the text of the body."""
    lines = ["import math", "import torch", "import torch.nn.functional as F", "", ""]
    for number, body in enumerate(bodies.values()):
        lines += [f"def f{number}(x, y):", *(f"    {line}" for line in body.split("\n")), "", ""]
        if body.startswith("return ") and not body.startswith("return ("):
            lines += [
                f"def longer_f{number}(x, y):",
                "    x = x * 1.5",
                "    y = y * 1.5",
                f"    r = {body.removeprefix('return ')}",
                "    return r * 2.0 + 0.5",
                "",
                "",
            ]
    names = [f"f{number}" for number in range(len(bodies))]
    description = programs.run(folder, {"ops.py": "\n".join(lines)}, f"NAMES = {names!r}\n{_COMPARE}")
    title = dict(zip(names, bodies, strict=True))
    different, never = json.loads(description[1])
    return [[title[name], *rest] for name, *rest in different], [title[name] for name in never]


def _expressions() -> dict[str, str]:
    expressions = {}
    modules = {f"torch.{name}" for name in SEQUENCES | PAIRS}
    for name in sorted(FUNCTIONS | modules):
        last = name.rpartition(".")[2]
        template = _FUNCTIONS.get(last) or _SHARED.get(last, "{f}()")
        expressions[name] = template.replace("{f}(", f"{name}(x, ").replace(", )", ")")
    for name in sorted(METHODS | SEQUENCES | PAIRS):
        template = _METHODS.get(name) or _SHARED.get(name, "{f}()")
        expressions[f"Tensor.{name}"] = template.replace("{f}", f"x.{name}")
    for name in sorted(PAIRS_WITH_DIMENSION):
        expressions[f"torch.{name} of all"] = f"torch.{name}(x)"
    return expressions


@pytest.mark.parametrize("part", range(4))
def test_every_function_and_method_does_the_same_compiled_and_plain(
    part: int, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    chosen = dict(sorted(_expressions().items())[part::4])
    bodies = {name: f"return {expression}" for name, expression in chosen.items()}
    assert _run(tmp_path, torch_programs, bodies) == ([], [])


def test_every_operator_and_statement_does_the_same_compiled_and_plain(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    bodies = {expression: f"return {expression}" for expression in [*_OPERATORS, *_VARIANTS]}
    bodies |= {statement: statement for statement in _STATEMENTS}
    assert _run(tmp_path, torch_programs, bodies) == ([], [])


@pytest.mark.parametrize(
    "body",
    ["return 1.0 - x", "x %= 2\nreturn x", "x **= 2\nreturn x", "return x.size(0) ** 2", "return 2 // x", "return x.shape",
     "return x.chunk(2)", "return x.max(dim=1)", "return x + True", "return torch.max(x, y)", "return x ** y",
     "return x.std(dim=1)", "return x.type_as(y)", "return x.clamp(min=y)", "return (x > 0) * 1 * (y > 0)",
     "return y.sigmoid_() % 3", "b = x + 1\nz = x + 2\nfor i in range(4):\n    z += 1\n    z = b\nreturn b"],
)  # fmt: skip
def test_a_difference_between_compiled_and_plain_is_seen(
    body: str, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    different, _ = _run(tmp_path, torch_programs, {body: body})
    assert different
