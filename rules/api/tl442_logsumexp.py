"""`torch.log(torch.sum(torch.exp(x), dim))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.value_of import value_of
from torchlift.rules.analysis.wording.messages import beside, one_line
from torchlift.rules.api.uses.old_call import bind
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL442",
    name="logsumexp",
    summary="`torch.log(torch.sum(torch.exp(x), dim))` where `torch.logsumexp` does not overflow",
    why="In float32 the exponential of 89 is infinite. Advice on numerics, not on an upgrade.",
    fix="None: results change, for the better. Not said without `dim`, which `logsumexp` wants.",
    targets=("torch.log",),
    triggers=("torch.log", "log & torch as "),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR108",),
    sources=("https://docs.pytorch.org/docs/stable/generated/torch.logsumexp.html", "pytorch/pytorch issue 144339"),
)


def _called(view: ModuleView, node: ast.expr, name: str) -> ast.Call | None:
    if not isinstance(node, ast.Call):
        return None
    return node if view.certain_name(node.func) == name else None


def _without_maximum(view: ModuleView, node: ast.expr) -> bool:
    """Whether the exponents are a difference, `x - x.max()` as a rule, and do not overflow."""
    value = value_of(view, node)
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or len(call.args) != 1:
        return
    total = _called(view, call.args[0], "torch.sum")
    given = bind(total, ("input", "dim", "keepdim")) if total is not None else None
    if given is None or "input" not in given or "dim" not in given or given["dim"].constant is None:
        return
    powers = _called(view, given["input"].value, "torch.exp")
    if powers is None or len(powers.args) != 1 or _without_maximum(view, powers.args[0]):
        return
    more = f", keepdim={one_line(view, given['keepdim'].value)}" if "keepdim" in given else ""
    new = f"{beside(view, call, 'logsumexp')}({one_line(view, powers.args[0])}, dim={one_line(view, given['dim'].value)}{more})"
    message = "Such exponentials overflow to infinity, or all round to 0, at values whose logarithm of the sum is an ordinary number."
    yield Finding("TL442", view.path, view.span(call), message, Severity.INFO, f"`{new}` computes it without that.")


EXAMPLES = (
    Ok(
        "import torch\n\n\ndef f(x):\n    m = x.max(1, keepdim=True)[0]\n    y = x - m\n    return m + torch.log(torch.sum(torch.exp(y), 1, keepdim=True))\n",
        "what was taken from the maximum before",
    ),
    Bad(
        "import torch\n\n\ndef f(x):\n    return torch.log(torch.sum(torch.exp(x), 1, keepdim=True))\n",
        why="over one dimension",
    ),
    Ok("import torch\n\n\ndef f(x):\n    return torch.logsumexp(x, 1)\n", "the stable function"),
    Ok("import torch\n\n\ndef f(x):\n    return torch.log(torch.sum(torch.exp(x)))\n", "over all dimensions"),
    Ok(
        "import torch\n\n\ndef f(x):\n    return torch.log(torch.sum(torch.exp(x) + 2, 1))\n",
        "a sum of something else",
    ),
)
