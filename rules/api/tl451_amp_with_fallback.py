"""torch's old amp where something stands by for a torch without it: it warns there as anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.api.old_amp import triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.walk import walk

_OLD = ("torch.cuda.amp.autocast", "torch.cuda.amp.GradScaler", "torch.cpu.amp.autocast", "torch.cpu.amp.GradScaler")
_SINCE = TorchVersion(2, 4)

RULE = Rule(
    code="TL451",
    name="amp-with-fallback",
    summary="The deprecated amp of `torch.cuda` where a `try` or a `hasattr` stands by for a torch that lacks it",
    why=(
        "`try: from torch.cuda.amp import autocast` and `hasattr(torch.cuda.amp, 'autocast')` ask for torch 1.6. Every torch since has "
        "the name, and since 2.4 each call of it warns, whatever stands by."
    ),
    fix="Manual: the fallback can go, and every call gets the device and, for `autocast`, keywords (TL423, TL428 once it is gone).",
    targets=_OLD,
    triggers=triggers(("autocast", "GradScaler")),
    sees_guarded=True,
    sources=("torch/cuda/amp/autocast_mode.py:18-56 and torch/cuda/amp/grad_scaler.py:12-38 of torch 2.13.0",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, node = context.view, use.node
    if context.settings.target < _SINCE or use.kind in {"string", "store", "delete"} or not _stands_by(view, node):
        return
    _, device, _, name = use.target.split(".")
    message = f"`torch.{device}.amp.{name}` warns on every call since torch 2.4; what stands by for a torch without it is never used."
    call = f'torch.amp.{name}("{device}")'
    advice = f"Take out the fallback and write `{call}`."
    if name == "autocast":
        advice = f"Take out the fallback and write `{call}`, with `enabled=` and `dtype=` by name where they are given."
    yield Finding("TL451", view.path, view.span(node), message, Severity.WARNING, advice)


def _stands_by(view: ModuleView, node: ast.AST) -> bool:
    """Whether a use is tried or asked for only because an old torch may lack it, and nothing around it knows the new names."""
    child: ast.AST = node
    for around in view.ancestors(node):
        if isinstance(around, (ast.Try, ast.If)) and any(child is statement for statement in around.body):
            if isinstance(around, ast.Try):
                tried = bool(around.handlers) and isinstance(view.statement(node), (ast.Import, ast.ImportFrom))
            else:
                tried = _asks_for_old(view, around.test)
            if tried and not _names_the_new(view, around):
                return True
        child = around
    return False


def _asks_for_old(view: ModuleView, test: ast.expr) -> bool:
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "hasattr"
        and view.text(call.args[0] if call.args else call).endswith(("torch.cuda.amp", "torch.cpu.amp"))
        for call in walk(test)
    )


def _names_the_new(view: ModuleView, around: ast.stmt) -> bool:
    text = view.text(around)
    return any(name in text for name in ("torch.amp", "torch.autocast", "version"))


EXAMPLES = (
    Bad(
        "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    from contextlib import contextmanager\n\n"
        "    @contextmanager\n    def autocast(enabled=None):\n        yield\n\n\ndef step(model, x):\n    with autocast():\n"
        "        return model(x)\n",
        why="an import with a stand-in",
    ),
    Bad(
        "import contextlib\nimport torch\n\n\ndef run(model, x, amp):\n"
        "    if amp and hasattr(torch.cuda, 'amp') and hasattr(torch.cuda.amp, 'autocast'):\n        autocast = torch.cuda.amp.autocast\n"
        "    else:\n        autocast = contextlib.nullcontext\n    with autocast():\n        return model(x)\n",
        why="a question first",
    ),
    Ok(
        "import torch\n\n\ndef run(model, x, amp):\n    with torch.cuda.amp.autocast() if amp else torch.no_grad():\n        return model(x)\n",
        "a choice in one expression, which has a body that is no list",
    ),
    Ok("import torch\n\nmake = lambda: torch.cuda.amp.GradScaler()\n", "nothing stands by in a lambda"),
    Ok(
        "try:\n    from torch.amp import GradScaler\nexcept ImportError:\n    from torch.cuda.amp import GradScaler\n",
        "the new name first",
    ),
    Ok(
        "try:\n    from torch.cuda.amp import GradScaler\n\n    OLD = True\nexcept ImportError:\n    from torch.amp import GradScaler\n",
        "the new name last",
    ),
    Ok(
        "import torch\n\nif hasattr(torch, 'autocast'):\n    autocast = torch.autocast\nelse:\n    autocast = torch.cuda.amp.autocast\n",
        "a question about the new name",
    ),
)
