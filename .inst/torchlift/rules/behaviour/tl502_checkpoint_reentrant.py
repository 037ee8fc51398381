"""`torch.utils.checkpoint.checkpoint` without `use_reentrant`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import Use

_NAMES = ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")

RULE = Rule(
    code="TL502",
    name="checkpoint-reentrant",
    summary="`torch.utils.checkpoint.checkpoint` without `use_reentrant`",
    why=(
        "It warns since 2.1 and takes True; the warning up to 2.14 names 2.9 as the release that raises, that of 2.15 a future one. True and "
        "False are two implementations: with False gradients flow also where no input requires one, keyword arguments and "
        "`torch.autograd.grad` work, and fewer things are computed again."
    ),
    fix=(
        "Safe: `use_reentrant=True`, which is what the call does today. Going to False, which torch recommends, is a change of behaviour "
        "and left to you."
    ),
    targets=_NAMES,
    triggers=("checkpoint & torch.utils.checkpoint", "checkpoint & torch.utils import checkpoint"),
    deprecated=TorchVersion(2, 1),
    aliases=("TOR003",),
    sources=(
        "torch/utils/checkpoint.py:486-496 and 590-600 of torch 2.13.0, :635 of 2.15.0 (still a warning), read 2026-11-21",
        "https://docs.pytorch.org/docs/stable/checkpoint.html",
    ),
)

_KNOWN = frozenset(
    {"function", "functions", "segments", "input", "preserve_rng_state", "determinism_check", "early_stop"}
)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    if any(keyword.arg in {"use_reentrant", None} for keyword in call.keywords):
        return False
    return not target.endswith(".checkpoint_sequential") or len(call.args) <= 3


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or not matters(use.target, call, context.settings):
        return
    short = use.target.rpartition(".")[2]
    given = [keyword.arg for keyword in call.keywords]
    message = f"`{short}` without `use_reentrant`: it warns and takes True; a later release is to raise, and torch recommends False."
    span = view.span(call)
    other = next((name for name in given if name not in _KNOWN), None)
    if other is not None:
        message = f"`{short}` without `use_reentrant` takes True, with which `{other}` raises ValueError."
        yield Finding(
            "TL502", view.path, span, message, Severity.WARNING, "Write `use_reentrant=False`, which accepts it."
        )
        return
    advice = (
        "True keeps what the code does today. `use_reentrant=False` is recommended where nothing depends on the old form: it needs no "
        "input that requires a gradient, takes keyword arguments and works with `torch.autograd.grad`, hooks and DDP."
    )
    edit = EditCall(span, add=(("use_reentrant", Template("True")),))
    fix = Fix("Say `use_reentrant=True`", Safety.SAFE, (edit,), TorchVersion(1, 11))
    yield Finding("TL502", view.path, span, message, Severity.WARNING, advice, fix)


_RUN = "x = torch.ones(3, requires_grad=True)\ny = f(x)\ny.sum().backward()\nresult = [y, x.grad, type(y.grad_fn).__name__]"

EXAMPLES = (
    Bad(
        "import torch\nfrom torch.utils.checkpoint import checkpoint\n\n\ndef f(x):\n    return checkpoint(torch.sin, x * 1)\n",
        "import torch\nfrom torch.utils.checkpoint import checkpoint\n\n\n"
        "def f(x):\n    return checkpoint(torch.sin, x * 1, use_reentrant=True)\n",
        why="a function",
        run=_RUN,
    ),
    Bad(
        "import torch\nimport torch.utils.checkpoint as cp\n\n\ndef f(*args):\n    return cp.checkpoint(\n"
        "        torch.sin,\n        *args,  # activations\n        preserve_rng_state=False,\n    )\n",
        "import torch\nimport torch.utils.checkpoint as cp\n\n\ndef f(*args):\n    return cp.checkpoint(\n"
        "        torch.sin,\n        *args,  # activations\n        preserve_rng_state=False,\n        use_reentrant=True,\n    )\n",
        why="spread arguments, over several lines",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.utils import checkpoint\n\n\ndef f(x):\n"
        "    return checkpoint.checkpoint_sequential([torch.sin, torch.cos], 2, x)\n",
        "import torch\nfrom torch.utils import checkpoint\n\n\ndef f(x):\n"
        "    return checkpoint.checkpoint_sequential([torch.sin, torch.cos], 2, x, use_reentrant=True)\n",
        why="a sequence",
        run=_RUN,
    ),
    Bad(
        "from torch.utils.checkpoint import checkpoint\n\n\ndef f(layer, x, mask):\n    return checkpoint(layer, x, mask=mask)\n",
        why="keyword arguments for the function, which True refuses",
    ),
    Ok(
        "from torch.utils.checkpoint import checkpoint\n\n\ndef f(layer, x):\n    return checkpoint(layer, x, use_reentrant=False)\n",
        "it is said",
    ),
    Ok(
        "from torch.utils.checkpoint import checkpoint\n\n\ndef f(layer, x, **options):\n    return checkpoint(layer, x, **options)\n",
        "it may be said",
    ),
    Ok(
        "import torch\nfrom deepspeed.checkpointing import checkpoint\n\ny = checkpoint(len, [])\n",
        "another library's",
    ),
    Ok("import torch\n\n\ndef save(trainer):\n    trainer.checkpoint('torch.utils.checkpoint')\n", "a method"),
)
