"""`torch.log(1 + x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.wording.messages import beside, one_line
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL440",
    name="log1p",
    summary="`torch.log(1 + x)` where `torch.log1p(x)` keeps small values",
    why="In float32 `1 + x` is 1 for x below 6e-8, and the logarithm 0. Advice on numerics, not on an upgrade.",
    fix="None: results change, for the better, which is for you to decide.",
    targets=("torch.log",),
    triggers=("torch.log", "log & torch as "),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR106",),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.log1p.html",),
)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float} and node.value == 1


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or len(call.args) != 1 or call.keywords:
        return
    value = call.args[0]
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return
    if _is_one(value.left):
        rest = value.right
    elif _is_one(value.right):
        rest = value.left
    else:
        return
    advice = f"For real numbers `{beside(view, call, 'log1p')}({one_line(view, rest)})` is accurate there; other results change in the last bits."
    if isinstance(rest, ast.Call):
        inner = view.resolve(rest.func)
        if inner is not None and inner.name == "torch.exp" and len(rest.args) == 1:
            advice = f"`torch.nn.functional.softplus({one_line(view, rest.args[0])})` computes the whole expression, and does not overflow."
    message = "`torch.log(1 + x)` loses the digits of a small `x`, which the addition rounds away."
    yield Finding("TL440", view.path, view.span(call), message, Severity.INFO, advice)


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(x):\n    return torch.log(1 + x) + torch.log(x.abs() + 1.0)\n",
        why="one on either side",
    ),
    Bad("import torch as th\n\n\ndef f(x):\n    return th.log(1 + th.exp(x))\n", why="softplus"),
    Ok("import torch\n\n\ndef f(x):\n    return torch.log1p(x)\n", "the accurate function"),
    Ok("import torch\n\n\ndef f(x):\n    return torch.log(2 + x) + torch.log(x)\n", "another sum"),
    Ok("import math\nimport torch\n\n\ndef f(x):\n    return math.log(1 + x)\n", "Python's"),
)
