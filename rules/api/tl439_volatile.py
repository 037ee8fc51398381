"""`Variable(..., volatile=True)` and `x.volatile`, which have had no effect since torch 0.4."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL439",
    name="volatile",
    summary="`volatile=` of a `Variable`, which has had no effect since torch 0.4",
    why=(
        "`volatile=True` switched autograd off for everything computed from it. Torch warns (`volatile was removed and now has no "
        "effect`) and records the graph: evaluation takes the memory of training, and a loop that adds up losses keeps every graph."
    ),
    fix="Safe where it is False, which means nothing. Else manual: `with torch.no_grad():` goes around the computation, which the call does not show.",
    targets=("torch.autograd.Variable",),
    triggers=("volatile",),
    deprecated=TorchVersion(0, 4),
    sources=(
        "torch 2.13.0, run 2026-11-26: the warning, and `requires_grad` of what is computed from it",
        "https://pytorch.org/blog/pytorch-0_4_0-migration-guide/",
    ),
)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    return any(keyword.arg == "volatile" for keyword in call.keywords)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if use.kind != "call" or call is None or use.name != use.target:
        return
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "volatile"), None)
    if given is None:
        return
    span = view.span(call)
    if isinstance(given, ast.Constant) and not given.value:
        fix = Fix("Leave out `volatile`", Safety.SAFE, (EditCall(span, drop=("volatile",)),))
        yield Finding("TL439", view.path, span, "`volatile=False` says nothing since torch 0.4, and warns.", fix=fix)
        return
    message = "`volatile` has no effect since torch 0.4: without `torch.no_grad()` the graph is recorded, and its memory kept."
    advice = "Put what is computed from it under `with torch.no_grad():`, and leave out `volatile`."
    if isinstance(given, ast.Attribute) and given.attr == "volatile":
        advice = f"`{view.text(given)}` of a tensor is always False since then: leave `volatile` out."
    elif not isinstance(given, ast.Constant):
        advice = f"Put what is computed from it under `with torch.set_grad_enabled(not ({view.source.slice(view.span(given))})):`, and leave out `volatile`."
    yield Finding("TL439", view.path, span, message, Severity.WARNING, advice)


EXAMPLES = (
    Bad(
        "from torch.autograd import Variable\n\n\ndef f(x):\n    return Variable(x, volatile=False)\n",
        "from torch.autograd import Variable\n\n\ndef f(x):\n    return Variable(x)\n",
        why="what means nothing",
        run="import torch\n\nresult = f(torch.ones(2))",
    ),
    Bad(
        "from torch.autograd import Variable\n\n\ndef evaluate(model, x):\n    return model(Variable(x.cuda(), volatile=True))\n",
        why="an evaluation that records its graph",
    ),
    Bad(
        "import torch\n\n\ndef wrap(x, train):\n    return torch.autograd.Variable(x, volatile=not train)\n",
        why="known at run time only",
    ),
    Bad(
        "from torch.autograd import Variable\n\n\ndef like(x, y):\n    return Variable(x, volatile=y.volatile)\n",
        why="what another one has",
    ),
    Ok(
        "from torch.autograd import Variable\n\n\ndef f(x):\n    return Variable(x, requires_grad=True)\n",
        "another argument",
    ),
    Ok("import torch\n\n\ndef f(x, make):\n    return make(x, volatile=True)\n", "a function that is handed in"),
    Ok("import torch\nfrom jax import Variable\n\nv = Variable(1, volatile=True)\n", "another library's class"),
)
