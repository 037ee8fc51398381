"""`a / torch.sqrt(b)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.wording.messages import beside, one_line
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL443",
    name="rsqrt",
    summary="`a / torch.sqrt(b)` where `a * torch.rsqrt(b)` is one step less",
    why="Advice on speed, not on an upgrade.",
    fix="None: results change in the last bits.",
    targets=("torch.sqrt",),
    triggers=("torch.sqrt", "sqrt & torch as "),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR109",),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.rsqrt.html",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or len(call.args) != 1 or call.keywords:
        return
    around = view.parent(call)
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, ast.Div) or around.right is not call:
        return
    root = f"{beside(view, call, 'rsqrt')}({one_line(view, call.args[0])})"
    single = isinstance(around.left, ast.Constant) and around.left.value == 1
    above = one_line(view, around.left)
    if not isinstance(around.left, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)):
        above = f"({above})"
    new = root if single else f"{above} * {root}"
    message = "`torch.rsqrt` is the square root and its reciprocal in one step."
    advice = f"`{new}` does the same for a tensor, up to the last bits; measure whether it is faster here."
    yield Finding("TL443", view.path, view.span(around), message, Severity.INFO, advice)


EXAMPLES = (
    Bad("import torch\n\n\ndef f(a, b):\n    return a / torch.sqrt(b + 1e-6), 1 / torch.sqrt(b)\n", why="a quotient"),
    Ok("import torch\n\n\ndef f(a, b):\n    return a * torch.rsqrt(b)\n", "the one step"),
    Ok("import torch\n\n\ndef f(a, b):\n    return torch.sqrt(b) / a\n", "the other way round"),
    Ok("import math\nimport torch\n\n\ndef f(a):\n    return a / math.sqrt(3)\n", "Python's"),
)
