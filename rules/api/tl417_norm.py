"""`torch.norm`, deprecated in its documentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Severity, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, old_uses, spelled, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL417",
    name="norm",
    summary="`torch.norm`, deprecated in favour of `torch.linalg.vector_norm` and `matrix_norm`",
    why=(
        "Its documentation says: deprecated and may be removed; it does not warn. `torch.linalg.norm` is not its new name: for "
        "a matrix and `p=2` that is the largest singular value, where `torch.norm` sums the squares of all elements."
    ),
    fix=(
        "For review: `torch.linalg.vector_norm` with the same arguments is what `torch.norm` calls for a dense tensor, unless p "
        'is `"nuc"`. Offered where p is a number, infinity, `"fro"` or left out.'
    ),
    targets=("torch.norm", "torch.functional.norm"),
    triggers=triggers("norm", rare=False),
    severity=Severity.INFO,
    deprecated=TorchVersion(1, 7),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/functional.py:1843-1890 of torch 2.13.0; https://github.com/pytorch/pytorch/pull/57986",
        "https://pytorch.org/docs/1.7.0/generated/torch.norm.html, which names torch.linalg.norm, new in 1.7",
    ),
)

_OLD = OldName(
    "torch.norm",
    ("torch.linalg.vector_norm", "torch.linalg.norm", "torch.linalg.matrix_norm"),
    'Write `torch.linalg.vector_norm(x, p, dim)`; `torch.linalg.matrix_norm(A, "nuc")` for `p="nuc"`. Beware of '
    "`torch.linalg.norm(A, 2)`, which is the spectral norm of a matrix where `torch.norm(A, 2)` is that of all its elements.",
    TorchVersion(1, 7),
    severity=Severity.INFO,
)
# As `torch.linalg.vector_norm` itself.
_SINCE = TorchVersion(1, 9)
_REVIEW = (
    "`vector_norm` takes no sparse tensors, as `torch.norm` does. For dense ones on a CPU, CUDA or XPU device `torch.norm` calls it "
    "itself; on MPS, XLA and others it computes in another way, and results may differ in the last digits."
)


def _answer(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = bind(call, ("input", "p", "dim", "keepdim", "out", "dtype"))
    name = spelled(view, use, "torch.linalg.vector_norm")
    if given is None or name is None or "input" not in given:
        return CallAdvice(_OLD.advice)
    if any(isinstance(given[key].key, int) for key in ("out", "dtype") if key in given):
        return CallAdvice(_OLD.advice)
    p = given["p"].constant if "p" in given else "fro"
    number = isinstance(p, (int, float)) and not isinstance(p, bool)
    if "p" in given and _is_infinity(view, given["p"].value):
        number = True
    if p not in {"fro", None} and not number:
        return CallAdvice(_OLD.advice)
    drop: tuple[int | str, ...] = ()
    replaced: tuple[tuple[int | str, Template], ...] = ()
    rename: tuple[tuple[str, str], ...] = (("p", "ord"),) if "p" in given and given["p"].key == "p" else ()
    if not number and "p" in given:
        # The default is the same norm; it is only named where another argument stands behind it.
        if given["p"].key == "p" or len(call.args) == 2:
            drop, rename = (given["p"].key,), ()
        else:
            replaced = ((given["p"].key, Template("2")),)
    if given["input"].key != 0:
        return CallAdvice(_OLD.advice)
    edit = EditCall(
        view.span(call), Template(name[0]), view.span(call.func), arguments=replaced, drop=drop, rename=rename
    )
    return changed("Use `torch.linalg.vector_norm`", (edit, *name[1]), _SINCE, _REVIEW)


def _is_infinity(view: ModuleView, node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Call):
        text = node.args[0] if len(node.args) == 1 else None
        known = isinstance(node.func, ast.Name) and node.func.id == "float" and isinstance(text, ast.Constant)
        return known and isinstance(text, ast.Constant) and str(text.value).lstrip("+-") in {"inf", "Inf", "infinity"}
    return view.possible_name(node) in {"math.inf", "numpy.inf", "torch.inf"}


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from old_uses("TL417", use, context, _OLD, lambda call: _answer(use, call, context.view))


_X = "x = torch.arange(12.0).reshape(3, 4).cos()\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(x):\n    return torch.norm(x), torch.norm(x, 2), torch.norm(x, p=1, dim=-1, keepdim=True)\n",
        "import torch\n\n\ndef f(x):\n    return torch.linalg.vector_norm(x), torch.linalg.vector_norm(x, 2), "
        "torch.linalg.vector_norm(x, ord=1, dim=-1, keepdim=True)\n",
        safety="unsafe",
        why="numbers for p",
        run=_X + "result = f(x)",
    ),
    Bad(
        'import math\n\nimport torch as th\n\n\ndef f(x):\n    return th.norm(x, "fro"), th.norm(x, "fro", 0), th.norm(x, math.inf), '
        'th.norm(x, dim=1, p="fro")\n',
        "import math\n\nimport torch as th\n\n\ndef f(x):\n    return th.linalg.vector_norm(x), th.linalg.vector_norm(x, 2, 0), "
        "th.linalg.vector_norm(x, math.inf), th.linalg.vector_norm(x, dim=1)\n",
        safety="unsafe",
        why="the Frobenius norm is that of the elements",
        run="import torch\n" + _X + "result = f(x)",
    ),
    Bad("from torch import norm\n\n\ndef f(x, p):\n    return norm(x, p)\n", why="p is known at run time only"),
    Bad('import torch\n\n\ndef f(x):\n    return torch.norm(x, "nuc")\n', why="the nuclear norm"),
    Bad(
        'import pytest\n\ntorch = pytest.importorskip("torch")\n\n\ndef f(x):\n    return torch.norm(x)\n',
        'import pytest\n\ntorch = pytest.importorskip("torch")\n\n\ndef f(x):\n    return torch.linalg.vector_norm(x)\n',
        "unsafe",
        why="a module that a test imports or is skipped",
        run="result = f(torch.tensor([[3.0, 4.0], [1.0, 2.0]]))",
    ),
    Ok("import torch\n\n\ndef f(x):\n    return torch.linalg.norm(x)\n", "a function of torch.linalg"),
    Ok("import torch\n\n\ndef f(x):\n    return x.norm()\n", "a method, whose value nobody knows"),
    Ok("import torch\nfrom numpy.linalg import norm\n\nn = norm([1.0, 2.0])\n", "numpy's"),
    Ok("import torch\n\nnorm = torch.nn.LayerNorm(3)\n", "a layer called norm"),
)
