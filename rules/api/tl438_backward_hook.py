"""`Module.register_backward_hook`."""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL438",
    name="backward-hook",
    summary="`register_backward_hook` of a module, deprecated in favour of `register_full_backward_hook`",
    why=(
        "Its documentation calls it deprecated, and nothing warns. For a module with more than one operation its `grad_input` is "
        "that of the last operation alone; the full hook gets the gradients of the inputs of the module."
    ),
    fix="Manual: the two get other gradients, so what the hook computes may change.",
    targets=("*.register_backward_hook",),
    triggers=("register_backward_hook",),
    deprecated=TorchVersion(1, 8),
    severity=Severity.INFO,
    sources=("torch/nn/modules/module.py, `register_backward_hook`, of torch 2.13.0, read 2026-11-23",),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.call is None:
        return
    yield Finding(
        "TL438",
        context.view.path,
        context.view.span(use.node),
        "`register_backward_hook` is deprecated: a module of several operations gives it the gradients of the last one only.",
        Severity.INFO,
        "Write `register_full_backward_hook` and look at what the hook does with `grad_input`: it has one gradient for each input of "
        "`forward`, and no input may be changed in place.",
    )


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef watch(model: torch.nn.Module, seen):\n    model.register_backward_hook(seen)\n",
        why="a method of a module",
    ),
    Bad(
        "def watch(model, seen):\n    return [layer.register_backward_hook(seen) for layer in model.children()]\n",
        why="a file that names no torch",
    ),
    Ok("import torch\n\n\ndef watch(model, seen):\n    model.register_full_backward_hook(seen)\n", "the new method"),
    Ok("class Bus:\n    def register_backward_hook(self, f):\n        return f\n", "a definition of that name"),
    Ok('"""model.register_backward_hook is deprecated."""\n', "text"),
)
