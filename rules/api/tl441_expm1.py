"""`torch.exp(x) - 1`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.wording.messages import beside, one_line
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL441",
    name="expm1",
    summary="`torch.exp(x) - 1` where `torch.expm1(x)` keeps small values",
    why="In float32 the result is 0 for x below 6e-8. Advice on numerics, not on an upgrade.",
    fix="None: results change, for the better, which is for you to decide.",
    targets=("torch.exp",),
    triggers=("torch.exp", "exp & torch as "),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR107",),
    sources=("https://docs.pytorch.org/docs/stable/special.html#torch.special.expm1",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or len(call.args) != 1 or call.keywords:
        return
    around = view.parent(call)
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, ast.Sub) or around.left is not call:
        return
    one = around.right
    if not isinstance(one, ast.Constant) or type(one.value) not in {int, float} or one.value != 1:
        return
    message = (
        "`torch.exp(x) - 1` loses the digits of a small `x`, whose exponential is rounded to something near 1 first."
    )
    advice = f"For real numbers `{beside(view, call, 'expm1')}({one_line(view, call.args[0])})` is accurate there; other results change in the last bits."
    yield Finding("TL441", view.path, view.span(around), message, Severity.INFO, advice)


EXAMPLES = (
    Bad("import torch\n\n\ndef f(x):\n    return (torch.exp(x) - 1) * 2, torch.exp(-x) - 1.0\n", why="one taken off"),
    Ok("import torch\n\n\ndef f(x):\n    return torch.expm1(x)\n", "the accurate function"),
    Ok("import torch\n\n\ndef f(x):\n    return 1 - torch.exp(x), torch.exp(x) - 2\n", "other differences"),
    Ok("import math\nimport torch\n\n\ndef f(x):\n    return math.exp(x) - 1\n", "Python's"),
)
