"""`torch.export.export` without `strict`, whose default changed in torch 2.8."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import Use

_FLIPPED = TorchVersion(2, 8)

RULE = Rule(
    code="TL504",
    name="export-strict-default",
    summary="`torch.export.export` without `strict` in a project that supports torch releases with both defaults",
    why=(
        "`strict` was True up to torch 2.7 and is False since 2.8. Strict export reads the bytecode with TorchDynamo: Python "
        "that it cannot read is an error. Non-strict export runs the code once: Python side effects happen while exporting and "
        "are not in the program. Most models give the same graph. Projects whose lowest torch is 2.8 or later are not reported, "
        "because the call means one thing there."
    ),
    fix=(
        "For review: `strict=True` keeps what the call meant up to 2.7, on every release. The calls that torchlift writes for "
        "TorchScript say `strict=False`."
    ),
    targets=("torch.export.export",),
    since=_FLIPPED,
    triggers=("export.export", "export & torch.export", "import export"),
    severity=Severity.INFO,
    sources=(
        "torch/export/__init__.py:181 of torch 2.8.0 (`strict: bool = False`), :176 of 2.7.1 (`strict: bool = True`)",
        "https://github.com/pytorch/pytorch/pull/148790",
        "a module that appends to a list exported both ways with torch 2.13.0 and 2.15.0",
    ),
)

_PARAMETER_SINCE = TorchVersion(2, 2)
_KNOWN_FORM = 3


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    # Where every supported release has the new default, the call means one thing.
    if settings.min_torch >= _FLIPPED:
        return False
    if any(keyword.arg in {"strict", None} for keyword in call.keywords):
        return False
    return len(call.args) <= _KNOWN_FORM and not any(isinstance(argument, ast.Starred) for argument in call.args)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call, settings = context.view, use.call, context.settings
    if call is None or not matters(use.target, call, settings):
        return
    message = (
        f"`torch.export.export` without `strict` reads the bytecode up to torch 2.7 (`strict=True`); torch {_FLIPPED} and later run the "
        "Python code on tensors without values (`strict=False`)."
    )
    review = (
        "Needs review: `strict=True` is what the call meant when it was written for torch 2.7 or earlier. It rejects code that "
        "`strict=False` runs once and forgets (prints, files, libraries it cannot read), and checks more of what it captures. "
        "`strict=False` is as good where the model exports the same both ways, which most do."
    )
    edit = EditCall(view.span(call), add=(("strict", Template("True")),))
    fix = Fix("Say `strict=True`, the default of before 2.8", Safety.UNSAFE, (edit,), _PARAMETER_SINCE)
    yield Finding("TL504", view.path, view.span(call), message, Severity.INFO, review, fix)


_BOTH = TorchVersion(2, 6)

EXAMPLES = (
    Bad(
        "import torch\n\nseen = []\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        seen.append(type(x).__name__)\n        return x + 1\n\n\n"
        "def capture():\n    return torch.export.export(Net(), (torch.ones(3),))\n",
        "import torch\n\nseen = []\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        seen.append(type(x).__name__)\n        return x + 1\n\n\n"
        "def capture():\n    return torch.export.export(Net(), (torch.ones(3),), strict=True)\n",
        safety="unsafe",
        why="a side effect, which non-strict export performs",
        min_torch=_BOTH,
        run="program = capture()\nresult = len(seen)",
        differs="Run on a torch whose default is `strict=False`: there the code runs while it is exported.",
    ),
    Bad(
        "from torch.export import Dim, export\n\n\ndef capture(net, x):\n"
        "    return export(net, (x,), dynamic_shapes={'x': {0: Dim('n')}})\n",
        "from torch.export import Dim, export\n\n\ndef capture(net, x):\n"
        "    return export(net, (x,), dynamic_shapes={'x': {0: Dim('n')}}, strict=True)\n",
        safety="unsafe",
        why="imported by name",
        min_torch=_BOTH,
    ),
    Ok("import torch\n\n\ndef f(net, x):\n    return torch.export.export(net, (x,))\n", "only releases from 2.8 on"),
    Ok(
        "import torch\n\n\ndef f(net, x):\n    return torch.export.export(net, (x,), strict=False)\n",
        "it is said, as torchlift writes it",
    ),
    Ok(
        "import torch\n\n\ndef f(net, x, **options):\n    return torch.export.export(net, (x,), **options)\n",
        "it may be said",
    ),
    Ok("from mylib import export\n\n\ndef f(net, x):\n    return export.export(net, (x,))\n", "another module's"),
)
