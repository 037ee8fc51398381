"""`torch.cuda.amp.custom_fwd` and `custom_bwd`: they have to be told the device now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, ReplaceExpression, Rewrite, Safety, Template
from torchlift.rules.api.uses.old_amp import triggers
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, may_leave_import, old_uses, spelled
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_PARAMETERS = {"custom_fwd": ("fwd", "cast_inputs"), "custom_bwd": ("bwd",)}
_MODULES = ("", "autocast_mode.")

RULE = Rule(
    code="TL424",
    name="amp-custom-function",
    summary="`torch.cuda.amp.custom_fwd` or `custom_bwd`, deprecated in favour of those in `torch.amp`",
    why='They warn since 2.4. The new ones serve every device and have to be told which: `device_type="cuda"`.',
    fix="Safe: the old functions are the new ones with that argument. Offered for decorators and calls.",
    targets=tuple(f"torch.cuda.amp.{module}{short}" for short in _PARAMETERS for module in _MODULES),
    triggers=triggers(("custom_fwd", "custom_bwd")),
    deprecated=TorchVersion(2, 4),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/cuda/amp/autocast_mode.py:90-110 of torch 2.13.0: `functools.partial(torch.amp.custom_fwd, device_type='cuda')`",
    ),
)

_SINCE = TorchVersion(2, 4)


def _old(short: str) -> OldName:
    return OldName(
        f"torch.cuda.amp.{short}",
        (f"torch.amp.{short}",),
        f'Write `torch.amp.{short}(device_type="cuda")`, beside what else it is given and as a decorator too; inside `functools.partial` it is one more argument.',
        TorchVersion(2, 4),
    )


_NAMES = {f"torch.cuda.amp.{module}{short}": (_old(short), short) for short in _PARAMETERS for module in _MODULES}


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    old, short = _NAMES[use.target]
    name = spelled(view, use, f"torch.amp.{short}")
    title = f'Use `torch.amp.{short}(device_type="cuda")`'

    def answer(call: ast.Call) -> CallAdvice:
        if bind(call, _PARAMETERS[short]) is None or name is None:
            return CallAdvice(old.advice)
        edit = EditCall(
            view.span(call), Template(name[0]), view.span(call.func), add=(("device_type", Template('"cuda"')),)
        )
        more = ", beside what is passed" if call.args or call.keywords else ""
        return changed(f"{title}{more}", (edit, *name[1]), _SINCE)

    for finding in old_uses("TL424", use, context, old, answer):
        if use.kind == "decorator" and name is not None and isinstance(use.node, ast.expr):
            template = Template(f'{name[0]}(device_type="cuda")')
            rewrites: tuple[Rewrite, ...] = (ReplaceExpression(finding.span, template), *name[1])
            fix = Fix(title, Safety.SAFE, rewrites, _SINCE, still_reported=may_leave_import(use))
            yield Finding("TL424", finding.path, finding.span, finding.message, finding.severity, None, fix)
        else:
            yield finding


_BODY = "    def forward(ctx, x):\n        return x * 2\n\n    @staticmethod\n"
_RUN = (
    "import torch\nx = torch.ones(2, requires_grad=True)\ny = Double.apply(x)\ny.sum().backward()\nresult = [y, x.grad]"
)

EXAMPLES = (
    Bad(
        "import torch\n\n\nclass Double(torch.autograd.Function):\n    @staticmethod\n    @torch.cuda.amp.custom_fwd\n"
        + _BODY
        + "    @torch.cuda.amp.custom_bwd\n    def backward(ctx, grad):\n        return grad * 2\n",
        'import torch\n\n\nclass Double(torch.autograd.Function):\n    @staticmethod\n    @torch.amp.custom_fwd(device_type="cuda")\n'
        + _BODY
        + '    @torch.amp.custom_bwd(device_type="cuda")\n    def backward(ctx, grad):\n        return grad * 2\n',
        why="bare decorators",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch.cuda.amp import custom_bwd, custom_fwd\n\n\nclass Double(torch.autograd.Function):\n"
        "    @staticmethod\n    @custom_fwd(cast_inputs=torch.float32)\n"
        + _BODY
        + "    @custom_bwd\n    def backward(ctx, grad):\n        return grad * 2\n",
        "import torch\n\n\nclass Double(torch.autograd.Function):\n"
        '    @staticmethod\n    @torch.amp.custom_fwd(cast_inputs=torch.float32, device_type="cuda")\n'
        + _BODY
        + '    @torch.amp.custom_bwd(device_type="cuda")\n    def backward(ctx, grad):\n        return grad * 2\n',
        why="imported by name, one of them called",
        run=_RUN,
    ),
    Bad(
        "import functools\n\nfrom torch.cuda.amp import custom_fwd\n\nhalf = functools.partial(custom_fwd, cast_inputs=None)\n",
        why="a reference that is neither",
    ),
    Ok('import torch\n\nforward = torch.amp.custom_fwd(device_type="cuda")\n', "the new one"),
    Ok(
        "import torch\nfrom mylib.amp import custom_fwd\n\n\n@custom_fwd\ndef f(x):\n    return x\n",
        "another library's",
    ),
    Ok(
        "import torch\n\n\ndef custom_fwd(f):\n    return f\n\n\n@custom_fwd\ndef f(x):\n    '''see torch.cuda.amp'''\n    return x\n",
        "an own function",
    ),
    Ok(
        "import torch\n\nif hasattr(torch.amp, 'custom_fwd'):\n    from torch.amp import custom_fwd\nelse:\n"
        "    from torch.cuda.amp import custom_fwd\n",
        "a test that handles both",
    ),
)
