"""Operations that a scripted function may hold to be rewritten: each one compiled and plain, with the same outcome."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from exhaustive import is_exhaustive
from expressions_to_compare import OPERATORS, VARIANTS, expressions
from torch_programs import TorchPrograms

from torchlift.rules.torchscript.functions.script_only_methods import SCRIPT_ONLY_METHODS

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

# Without --exhaustive one of each kind: full and half precision, whole numbers with and without sign, truth. The first call
# of a compiled function is profiled, the second runs what was made of it; a third should find nothing more.
_DTYPES = ["float32", "bfloat16", "int64", "uint8", "bool"]
if is_exhaustive():
    _DTYPES += ["float64", "float16"]
_CALLS = 3 if is_exhaustive() else 2

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
    for dtype in DTYPES:
        for call in range(CALLS):
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
        for call in range(CALLS):
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
    dtypes = ", ".join(f"torch.{dtype}" for dtype in _DTYPES)
    chosen = f"import torch\nNAMES, DTYPES, CALLS = {names!r}, ({dtypes},), {_CALLS}\n"
    description = programs.run(folder, {"ops.py": "\n".join(lines)}, chosen + _COMPARE)
    title = dict(zip(names, bodies, strict=True))
    different, never = json.loads(description[1])
    return [[title[name], *rest] for name, *rest in different], [title[name] for name in never]


@pytest.mark.parametrize("part", range(4))
def test_every_function_and_method_does_the_same_compiled_and_plain(
    part: int, tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    chosen = dict(sorted(expressions().items())[part::4])
    bodies = {name: f"return {expression}" for name, expression in chosen.items()}
    assert _run(tmp_path, torch_programs, bodies) == ([], [])


def test_every_operator_and_statement_does_the_same_compiled_and_plain(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    bodies = {expression: f"return {expression}" for expression in [*OPERATORS, *VARIANTS]}
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


def test_methods_of_torchscript_only_are_operators_and_no_attributes_of_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    for name in sorted(SCRIPT_ONLY_METHODS):
        firsts = [str(one.arguments[0].type) for one in torch._C._jit_get_schemas_for_operator(f"aten::{name}")]
        assert "Tensor" in firsts, name
        assert not hasattr(torch.Tensor, name), name
