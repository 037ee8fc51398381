"""Functions that give the same compiled and plain with autocast on, and operations for which TorchScript casts more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from torch_programs import TorchPrograms

from torchlift.project import Project
from torchlift.rules.torchscript.compilers.dtype_choices import chooses_dtypes

_UNTOUCHED = {
    "slices": "return x[1:, :2]",
    "parts put together": "return torch.cat((-x[..., :3], x[..., 3:]), dim=-1)",
    "a mask": "return torch.where(x > 0.5, x, y)",
    "a copy that is filled": "z = x.clone()\n    z[x > 0] = 0\n    return z",
    "sizes": "n = x.shape[0]\n    return x.reshape(n * 2, -1)",
    "a stack and its maximum": "return torch.stack((x, y)).max(dim=0)[0]",
    "another of its kind": "return half(x)",
    "roots and rounding": "return x.abs().sqrt().round()",
    "what saturates": "return torch.relu(torch.tanh(x)).sigmoid().mean(dim=0)",
    "a tensor changed in place": "x += y\n    x[0] *= y[0]\n    x[:, 1] -= y[:, 1]\n    return x",
    "parts of it changed in place": "x[x > 0.5] += 1\n    x[x > 0.5] /= 2\n    return x",
    "products of matrices": "return torch.einsum('ij,kj->ik', x, x @ y.t().mm(y))",
    "a norm and a remainder": "return torch.norm(x % 2, dim=-1).var(0) // 1",
    "functions of modules": "return F.pad(F.silu(F.relu(F.dropout(x, 0.0, True))), (1, 1))",
    "classes": "return F.one_hot((x > 0.5).long(), num_classes=2).float() if x.dim() == 2 else torch.randn(3)",
    "rows of a table": "return F.embedding((x > 0.5).long(), y)",
    "a mask changed in place": "z = x > 0.5\n    z *= y > 0.2\n    return z",
    "a size put together": "return torch.zeros(list(x.shape) + [3])",
    "a number in a type comment": "return commented(x, 2)",
}
_CHOSEN = {
    "a product": "return x * y",
    "a sum": "return x.sum(dim=-1)",
    "an addition to what began as a number": "z = 0.0\n    z += y\n    return z",
    "a matrix times a vector": "return torch.mv(x, y[0])",
    "a value of a dict": "d = {'a': x}\n    d['a'] += y\n    return d['a']",
    "a power in place": "x **= 2\n    return x",
    "a product in what it calls": "return twice(x)",
    "a function that nobody knows": "return torch.cross(x, y)",
}
_HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef half(x):\n    return x[::2]\n\n\ndef twice(x):\n    return x * 2\n\n\n"
_HEAD += "def commented(x, n):\n    # type: (Tensor, int) -> Tensor\n    return x[: n * 2]\n\n\n"


def _of(tmp_path: Path, body: str) -> bool:
    (tmp_path / "a.py").write_text(f"{_HEAD}def f(x, y):\n    {body}\n", encoding="utf-8")
    project = Project(tmp_path, ("a.py",))
    view = project.view("a.py")
    assert view is not None
    node = next(item for item in view.tree.body if isinstance(item, ast.FunctionDef) and item.name == "f")
    return chooses_dtypes(view, node, project)


@pytest.mark.parametrize("body", _UNTOUCHED.values(), ids=_UNTOUCHED)
def test_a_function_gets_the_dtypes_of_python_where_torchscript_adds_no_casts(tmp_path: Path, body: str) -> None:
    assert not _of(tmp_path, body)


@pytest.mark.parametrize("body", _CHOSEN.values(), ids=_CHOSEN)
def test_torchscript_may_choose_a_dtype_for_what_is_computed(tmp_path: Path, body: str) -> None:
    assert _of(tmp_path, body)


_COMPARE = """
import warnings, torch, ops
warnings.simplefilter("ignore")
different = []
for name in ops.NAMES:
    plain = getattr(ops, name)
    scripted = torch.jit.script(plain)
    for dtypes in ((torch.bfloat16, torch.bfloat16), (torch.float32, torch.bfloat16)):
        x, y = (torch.rand(4, 6).to(dtype) for dtype in dtypes)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            results = [(r.dtype, r.tolist()) for f in (plain, scripted, scripted) for r in (f(x.clone(), y.clone()),)]
        if any(result != results[0] for result in results):
            different.append(name)
result = different
"""


def test_such_a_function_is_the_same_scripted_and_plain_under_autocast(
    tmp_path: Path, torch_programs: TorchPrograms
) -> None:
    bodies = "\n\n".join(f"def f{k}(x, y):\n    {body}\n" for k, body in enumerate(_UNTOUCHED.values()))
    ops = f"{_HEAD}{bodies}\n\nNAMES = {[f'f{k}' for k in range(len(_UNTOUCHED))]}\n"
    assert torch_programs.run(tmp_path, {"ops.py": ops}, _COMPARE) == ["list", []]
