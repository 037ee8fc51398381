"""`torchvision.transforms.v2.ToTensor`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, ReplaceExpression, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, changed, old_uses, spelled
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_V2 = "torchvision.transforms.v2"
# torchvision 0.16, which brought `ToImage` and `scale=`, is the one for torch 2.1.
_SINCE = TorchVersion(2, 1)

RULE = Rule(
    code="TL431",
    name="v2-to-tensor",
    summary="`torchvision.transforms.v2.ToTensor`, deprecated in favour of `ToImage` and `ToDtype`",
    why="It warns and will be removed; it mixed two steps, the conversion to an image and the scaling to floats.",
    fix="For review, where the file has torch at hand: the two transforms in a `Compose`, as torchvision's documentation says.",
    targets=(f"{_V2}.ToTensor",),
    triggers=("ToTensor & v2",),
    deprecated=_SINCE,
    aliases=("TOR202",),
    sources=("torchvision/transforms/v2/_deprecated.py:12-45 of torchvision 0.28.0, and of 0.15.2",),
)

_OLD = OldName(
    f"{_V2}.ToTensor",
    (f"{_V2}.ToImage",),
    "Write `v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`, or put the two into the list of transforms around it.",
    _SINCE,
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view

    def answer(call: ast.Call) -> CallAdvice:
        names = [spelled(view, use, f"{_V2}.{name}") for name in ("Compose", "ToImage", "ToDtype")]
        dtype = view.spell("torch.float32", use.node)
        if call.args or call.keywords or dtype is None or None in names:
            return CallAdvice(_OLD.advice)
        compose, image, convert = (name for name in names if name is not None)
        imports = dict.fromkeys((*compose[1], *image[1], *convert[1], *dtype.imports))
        text = f"{compose[0]}([{image[0]}(), {convert[0]}({dtype.text}, scale=True)])"
        review = (
            "the result is a `tv_tensors.Image`, which other v2 transforms treat as one, and not a plain tensor; integer and float "
            "arrays that were left unscaled are scaled by their dtype, and values between 0 and 1 may differ in the last digit."
        )
        return changed(
            "Use `v2.ToImage` and `v2.ToDtype`",
            (ReplaceExpression(view.span(call), Template(text)), *imports),
            _SINCE,
            review,
        )

    for finding in old_uses("TL431", use, context, _OLD, answer):
        said = f"`{_OLD.name}` is deprecated since torchvision 0.15 and will be removed."
        yield Finding("TL431", finding.path, finding.span, said, finding.severity, finding.help, finding.fix)


EXAMPLES = (
    Bad(
        "import torch\nfrom torchvision.transforms import v2\n\nsteps = v2.Compose([v2.ToTensor(), v2.Resize(8)])\nkind = torch.uint8\n",
        "import torch\nfrom torchvision.transforms import v2\n\n"
        "steps = v2.Compose([v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]), v2.Resize(8)])\nkind = torch.uint8\n",
        safety="unsafe",
        why="a call",
    ),
    Bad("from torchvision.transforms.v2 import ToTensor\n\nsteps = [ToTensor]\n", why="a reference that is no call"),
    Bad("from torchvision.transforms.v2 import ToTensor\n\n__all__ = ['ToTensor']\n", why="imported for others"),
    Ok(
        "from torchvision import transforms  # v2 later\n\nstep = transforms.ToTensor()\n",
        "the first version of the transforms, which stays",
    ),
    Ok("from torchvision.transforms import v2\n\nstep = v2.PILToTensor()\n", "another transform"),
    Ok("from albumentations.pytorch import ToTensorV2 as ToTensor\n\nv2 = ToTensor()\n", "another library's"),
)
