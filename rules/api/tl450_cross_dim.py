"""`torch.cross` without `dim`, whose default will change."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.view import Use

RULE = Rule(
    code="TL450",
    name="cross-dim",
    summary="`torch.cross` without `dim`: deprecated, and its default will change",
    why=(
        "Without `dim` it takes the first dimension of size 3, so a batch of three gives other products than a batch of two. Torch warns "
        "that this is deprecated, and that the default becomes that of `torch.linalg.cross`, the last dimension."
    ),
    fix="Needs review: `dim=-1`, where the vectors are taken to lie in the last dimension, and no earlier one to have the size 3.",
    targets=("torch.cross",),
    triggers=("cross & torch",),
    sources=("torch 2.13.0 (aten/src/ATen/native/Cross.cpp:63), the warning, run 2026-11-26",),
)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    return len(call.args) < 3 and not any(keyword.arg in {"dim", "axis", None} for keyword in call.keywords)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if use.kind != "call" or call is None or use.name != use.target or not matters(use.target, call, context.settings):
        return
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    span = view.span(call)
    message = (
        "`torch.cross` without `dim` takes the first dimension of size 3; it is deprecated, and will take the last one."
    )
    advice = (
        "Needs review: the vectors are taken to lie in the last dimension, and no earlier one to have the size 3, not even a "
        "batch of three (which gave other products so far). With vectors along another dimension pass that one."
    )
    fix = Fix("Pass `dim=-1`", Safety.UNSAFE, (EditCall(span, add=(("dim", Template("-1")),)),))
    yield Finding("TL450", view.path, span, message, Severity.WARNING, advice, fix)


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef normal(a, b):\n    return torch.cross(a, b)\n",
        "import torch\n\n\ndef normal(a, b):\n    return torch.cross(a, b, dim=-1)\n",
        "unsafe",
        why="vectors in the last dimension",
        run="result = normal(torch.eye(3)[:2], torch.ones(2, 3))",
    ),
    Bad(
        "from torch import cross\n\n\ndef normal(a, b, out):\n    return cross(a, other=b, out=out)\n",
        "from torch import cross\n\n\ndef normal(a, b, out):\n    return cross(a, other=b, out=out, dim=-1)\n",
        "unsafe",
        why="an imported name",
    ),
    Ok("import torch\n\n\ndef f(a, b):\n    return torch.cross(a, b, 1) + torch.cross(a, b, dim=1)\n", "a dimension"),
    Ok("import torch\n\n\ndef f(a, b):\n    return torch.linalg.cross(a, b)\n", "the function of linalg"),
    Ok("import numpy as np\nimport torch\n\n\ndef f(a, b):\n    return np.cross(a, b)\n", "another library's function"),
)
