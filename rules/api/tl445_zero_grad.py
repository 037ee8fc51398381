"""`zero_grad(set_to_none=False)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL445",
    name="zero-grad",
    summary="`zero_grad(set_to_none=False)`, which keeps gradients in memory",
    why="Advice on speed, not on an upgrade.",
    fix="For review: None and zero are not the same to optimizers.",
    targets=("*.zero_grad",),
    triggers=("set_to_none", "zero_grad(False"),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR402",),
    sources=(
        "torch/profiler/_pattern_matcher.py of torch 2.13.0, `GradNotSetToNonePattern`",
        "torch/optim/optimizer.py, `zero_grad`",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or len(call.args) + len(call.keywords) != 1 or view.path.rpartition("/")[2].startswith("test_"):
        return
    key: int | str = 0
    value = call.args[0] if call.args else call.keywords[0].value
    if call.keywords:
        key = call.keywords[0].arg or "**"
    if key not in {0, "set_to_none"} or not isinstance(value, ast.Constant) or value.value is not False:
        return
    message = (
        "Gradients are filled with zeros, which takes memory and time; since torch 2.0 the default is to drop them."
    )
    review = (
        "what reads `.grad` between this call and the next backward pass meets None then, optimizers skip parameters without a "
        "gradient, where a zero gradient still moves momentum and weight decay, and gradients that live in a buffer of somebody else "
        "(CUDA graphs, FSDP, flattened gradients) leave it."
    )
    fix = Fix("Leave `set_to_none` out", Safety.UNSAFE, (EditCall(view.span(call), drop=(key,)),), TorchVersion(2, 0))
    yield Finding("TL445", view.path, view.span(call), message, Severity.INFO, f"Needs review: {review}", fix)


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(optimizer, model):\n    optimizer.zero_grad(set_to_none=False)\n    model.zero_grad(False)\n",
        "import torch\n\n\ndef f(optimizer, model):\n    optimizer.zero_grad()\n    model.zero_grad()\n",
        safety="unsafe",
        why="said either way",
    ),
    Ok("import torch\n\n\ndef f(optimizer):\n    optimizer.zero_grad()  # set_to_none\n", "the default"),
    Ok(
        "import torch\n\n\ndef f(optimizer, flag):\n    optimizer.zero_grad(set_to_none=flag)\n",
        "known at run time only",
    ),
    Ok("import torch\n\n\ndef f(optimizer):\n    optimizer.reset(set_to_none=False)\n", "another method"),
)
