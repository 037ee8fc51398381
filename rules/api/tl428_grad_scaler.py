"""`torch.cuda.amp.GradScaler` and `torch.cpu.amp.GradScaler`: they have to be told the device now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_amp import triggers
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, changed, old_uses, spelled
from torchlift.rules.api.uses.old_class_tests import (
    asks_for_new,
    class_tests,
    finding_about_annotation,
    finding_about_test,
    first_test,
    is_class_test,
    waits,
)
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_DEVICES = {
    "torch.cuda.amp.GradScaler": "cuda",
    "torch.cuda.amp.grad_scaler.GradScaler": "cuda",
    "torch.cpu.amp.GradScaler": "cpu",
    "torch.cpu.amp.grad_scaler.GradScaler": "cpu",
}
_TRIGGERS = triggers(("GradScaler",))

RULE = Rule(
    code="TL428",
    name="amp-grad-scaler",
    summary="`torch.cuda.amp.GradScaler`, deprecated in favour of `torch.amp.GradScaler`",
    why="It warns since 2.4 and is a subclass of `torch.amp.GradScaler` that fills in the device.",
    fix=(
        "Safe for calls: the device comes first, the other arguments stay as they are. Where the project asks for an instance "
        "of the old class, that test is offered for review first, to ask for the base class. References and base classes are only reported."
    ),
    targets=tuple(_DEVICES),
    triggers=_TRIGGERS,
    deprecated=TorchVersion(2, 4),
    sources=("torch/cuda/amp/grad_scaler.py:12-38 and torch/cpu/amp/grad_scaler.py:9 of torch 2.13.0",),
)


def _old(name: str) -> OldName:
    device = _DEVICES[name]
    advice = (
        f'Write `torch.amp.GradScaler("{device}", ...)`, the other arguments as they are; it exists since torch 2.3. It is the base class of the old one, so '
        "`isinstance` and annotations that name it hold for both."
    )
    return OldName(f"torch.{device}.amp.GradScaler", ("torch.amp.GradScaler",), advice, TorchVersion(2, 4))


_NAMES = {name: _old(name) for name in _DEVICES}


_TESTS = class_tests("old_grad_scaler_tests", _DEVICES, _TRIGGERS)
_BASE = "torch.amp.GradScaler"


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, old = context.view, _NAMES[use.target]
    device = _DEVICES[use.target]

    def answer(call: ast.Call) -> CallAdvice:
        name = spelled(view, use, "torch.amp.GradScaler")
        if name is None or any(keyword.arg == "device" for keyword in call.keywords):
            return CallAdvice(old.advice)  # what `**` brings cannot be a device, which the old class does not take
        if (test := first_test(context, _TESTS)) is not None:
            return waits(test, _BASE)
        edit = EditCall(view.span(call), Template(name[0]), view.span(call.func), first=Template(f'"{device}"'))
        return changed(f'Use `torch.amp.GradScaler("{device}", ...)`', (edit, *name[1]), TorchVersion(2, 3))

    if use.kind == "annotation":
        said = f"`{old.name}` is deprecated since torch 2.4."
        yield from finding_about_annotation("TL428", use, context, said, _BASE, TorchVersion(2, 3))
    elif asks_for_new(view, use):
        return
    elif is_class_test(view, use):
        yield finding_about_test(
            "TL428", use, context, f"`{old.name}` is deprecated since torch 2.4.", _BASE, TorchVersion(2, 3)
        )
    else:
        yield from old_uses("TL428", use, context, old, answer)


COLLECTORS = (_TESTS,)

_SEEN = """import torch
def seen(scaler):
    return [scaler._device, scaler.is_enabled(), isinstance(scaler, torch.amp.GradScaler), scaler.state_dict()]
"""

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef make(use_amp):\n    return torch.cuda.amp.GradScaler(1024.0, enabled=use_amp), torch.cpu.amp.GradScaler()\n",
        "import torch\n\n\ndef make(use_amp):\n"
        '    return torch.amp.GradScaler("cuda", 1024.0, enabled=use_amp), torch.amp.GradScaler("cpu")\n',
        why="made with other arguments",
        run=_SEEN + "result = [seen(scaler) for scaler in make(True)]",
    ),
    Bad(
        "import torch\n\noptions = {'init_scale': 4.0}\nscaler = torch.cuda.amp.GradScaler(**options)\n",
        "import torch\n\noptions = {'init_scale': 4.0}\nscaler = torch.amp.GradScaler(\"cuda\", **options)\n",
        why="arguments that are spread",
        run=_SEEN + "result = seen(scaler)",
    ),
    Bad(
        "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n",
        'import torch\n\nscaler = torch.amp.GradScaler("cuda")\n',
        why="imported by name",
        run=_SEEN + "result = seen(scaler)",
    ),
    Bad(
        "import torch\n\n\ndef make():\n    return torch.cuda.amp.GradScaler()\n\n\ndef is_scaler(value):\n"
        "    return isinstance(value, torch.amp.GradScaler) or isinstance(value, torch.cuda.amp.GradScaler)\n",
        'import torch\n\n\ndef make():\n    return torch.amp.GradScaler("cuda")\n\n\ndef is_scaler(value):\n'
        "    return isinstance(value, torch.amp.GradScaler) or isinstance(value, torch.amp.GradScaler)\n",
        safety="unsafe",
        why="a test for the old class, which moves first",
        run="result = is_scaler(make())",
    ),
    Bad(
        "from typing import Optional\n\nimport torch\nfrom torch.cuda.amp import GradScaler\n\n\n"
        'def make(scaler: "GradScaler", other: Optional[GradScaler] = None) -> GradScaler:\n'
        "    return other or GradScaler()\n",
        "from typing import Optional\n\nimport torch\n\n\n"
        'def make(scaler: "torch.amp.GradScaler", other: Optional[torch.amp.GradScaler] = None) -> torch.amp.GradScaler:\n'
        '    return other or torch.amp.GradScaler("cuda")\n',
        why="annotations, which move with what they tell of",
        run=_SEEN + "result = seen(make(None))",
    ),
    Bad("from torch.cuda.amp import GradScaler\n\n\nclass Scaler(GradScaler):\n    pass\n", why="a base class"),
    Ok("import torch\n\nscaler = torch.amp.GradScaler('cuda')\n", "the new class"),
    Ok(
        "from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler  # amp\n\ns = ShardedGradScaler()\n",
        "FSDP's own",
    ),
    Ok("import torch\nfrom mylib.amp import GradScaler\n\nscaler = GradScaler()\n", "another library's"),
    Ok(
        "import torch\nfrom torch.cuda.amp import GradScaler\n\n\ndef f(scaler: GradScaler):\n    return scaler\n",
        "an annotation",
    ),
)
