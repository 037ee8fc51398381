"""`nn.UpsamplingNearest2d` and `nn.UpsamplingBilinear2d`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Severity, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, old_uses, spelled
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_ARGUMENTS = {
    "torch.nn.UpsamplingNearest2d": (("mode", '"nearest"'),),
    "torch.nn.UpsamplingBilinear2d": (("mode", '"bilinear"'), ("align_corners", "True")),
}

RULE = Rule(
    code="TL419",
    name="upsampling-layer",
    summary="`nn.UpsamplingNearest2d` or `nn.UpsamplingBilinear2d`, deprecated in favour of `nn.Upsample`",
    why="Their documentation says that they are deprecated; they do not warn. Both are `nn.Upsample` with arguments filled in.",
    fix="For review: the new layer computes the same, but its class is another one.",
    targets=tuple(_ARGUMENTS),
    severity=Severity.INFO,
    deprecated=TorchVersion(1, 4),
    aliases=("TOR101", "TOR103"),
    sources=("torch/nn/modules/upsampling.py:201-296 of torch 2.13.0",),
)


def _old(name: str) -> OldName:
    shown = ", ".join(f"{key}={value}" for key, value in _ARGUMENTS[name])
    advice = f"Write `torch.nn.Upsample(..., {shown})`, which it is a subclass of."
    return OldName(name, ("torch.nn.Upsample",), advice, TorchVersion(1, 4), severity=Severity.INFO)


_NAMES = {name: _old(name) for name in _ARGUMENTS}


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, old = context.view, _NAMES[use.target]

    def answer(call: ast.Call) -> CallAdvice:
        name = spelled(view, use, "torch.nn.Upsample")
        if name is None or bind(call, ("size", "scale_factor")) is None:
            return CallAdvice(old.advice)
        edit = EditCall(
            view.span(call),
            Template(name[0]),
            view.span(call.func),
            add=tuple((key, Template(value)) for key, value in _ARGUMENTS[use.target]),
        )
        review = (
            "the layer computes the same and has another class: check `isinstance`, printed models, and models that are "
            "pickled whole."
        )
        return changed("Use `nn.Upsample`", (edit, *name[1]), TorchVersion(1, 4), review)

    if use.kind == "isinstance":
        return
    yield from old_uses("TL419", use, context, old, answer)


EXAMPLES = (
    Bad(
        "from torch import nn\n\nup = nn.UpsamplingNearest2d(scale_factor=2)\nwide = nn.UpsamplingBilinear2d((4, 6))\n",
        'from torch import nn\n\nup = nn.Upsample(scale_factor=2, mode="nearest")\n'
        'wide = nn.Upsample((4, 6), mode="bilinear", align_corners=True)\n',
        safety="unsafe",
        why="layers",
        run="import torch\nx = torch.arange(8.0).reshape(1, 2, 2, 2)\nresult = [up(x), wide(x)]",
    ),
    Bad(
        "from torch.nn import UpsamplingNearest2d\n\n\nclass Up(UpsamplingNearest2d):\n    pass\n",
        why="a base class",
    ),
    Ok("from torch import nn\n\nup = nn.Upsample(scale_factor=2)\n", "the new layer"),
    Ok(
        "import torch\n\n\ndef f(m):\n    return isinstance(m, torch.nn.UpsamplingNearest2d)\n",
        "code that reads models",
    ),
    Ok("from mylib import nn\nimport torch\n\nup = nn.UpsamplingNearest2d(2)\n", "a class of that name elsewhere"),
)
