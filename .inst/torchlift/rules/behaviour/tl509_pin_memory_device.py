"""`DataLoader(pin_memory_device=...)`, which has no effect since torch 2.9."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use
from torchlift.view.walk import walk

_IGNORED_SINCE = TorchVersion(2, 9)

RULE = Rule(
    code="TL509",
    name="pin-memory-device",
    summary="`DataLoader(pin_memory_device=...)`, which is ignored since torch 2.9",
    why=(
        "Up to torch 2.8 it named the device to pin memory for; since 2.9 the current accelerator is taken, whatever is passed, "
        "and the loader warns."
    ),
    fix=(
        "Safe where the lowest supported torch is 2.9 or later, which do not look at the value, and where no file of the project "
        "reads the attribute; for review where a call computes the value."
    ),
    targets=("torch.utils.data.DataLoader",),
    triggers=("pin_memory_device",),
    severity=Severity.INFO,
    deprecated=_IGNORED_SINCE,
    sources=(
        "torch/utils/data/dataloader.py:658-675 of torch 2.9.1, :650-679 of 2.15.0; :654-699 of 2.8.0 (still used)",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or context.settings.target < _IGNORED_SINCE:
        return
    given = next((keyword for keyword in call.keywords if keyword.arg == "pin_memory_device"), None)
    if given is None:
        return
    message = (
        "`pin_memory_device` is ignored since torch 2.9: memory is pinned for the current accelerator, and a warning says so "
        "where `pin_memory=True` is given too."
    )
    if context.project.files_with_attribute("pin_memory_device"):
        advice = "Drop it where only torch 2.9 and later are supported; the project reads it from the loader, so look there too."
        yield Finding("TL509", view.path, view.span(given), message, Severity.INFO, advice)
        return
    acts = any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in walk(given.value))
    fix = Fix(
        "Drop `pin_memory_device`",
        Safety.UNSAFE if acts else Safety.SAFE,
        (EditCall(view.span(call), drop=("pin_memory_device",)),),
        _IGNORED_SINCE,
    )
    before = "Needs review: its value is computed by a call, which is not made any more." if acts else None
    if context.settings.min_torch < _IGNORED_SINCE:
        before = "Up to torch 2.8 it chose the device."
    yield Finding("TL509", view.path, view.span(given), message, Severity.INFO, before, fix)


EXAMPLES = (
    Bad(
        "from torch.utils.data import DataLoader\n\n\ndef loader(data):\n"
        "    return DataLoader(data, batch_size=2, pin_memory_device='cuda', drop_last=True)\n",
        "from torch.utils.data import DataLoader\n\n\ndef loader(data):\n"
        "    return DataLoader(data, batch_size=2, drop_last=True)\n",
        why="a device by name",
        run="import torch\nresult = list(loader(torch.arange(5.)))",
    ),
    Bad(
        "import torch.utils.data as data\n\n\ndef loader(items, device):\n    return data.DataLoader(\n        items,\n"
        "        pin_memory=True,  # faster copies\n        pin_memory_device=device,\n    )\n",
        "import torch.utils.data as data\n\n\ndef loader(items, device):\n    return data.DataLoader(\n        items,\n"
        "        pin_memory=True,  # faster copies\n    )\n",
        why="a device in a variable",
        run="import torch\nresult = list(loader(torch.arange(5.), 'cuda'))",
    ),
    Bad(
        "from torch.utils.data import DataLoader\n\n\ndef loader(data):\n"
        "    return DataLoader(data, pin_memory=True, pin_memory_device='xpu')\n",
        why="torch 2.7 is supported, which pins for that device",
        min_torch=TorchVersion(2, 7),
    ),
    Ok(
        "from torch.utils.data import DataLoader\n\n\ndef f(data):\n    return DataLoader(data, pin_memory=True)\n",
        "not passed",
    ),
    Ok(
        "from mylib import DataLoader\n\n\ndef f(data):\n    return DataLoader(data, pin_memory_device='cuda')\n",
        "another loader",
    ),
    Ok(
        "import torch\nfrom torch.utils.data import DataLoader\n\n\ndef f(data):\n    if torch.__version__ < '2.9':\n"
        "        return DataLoader(data, pin_memory=True, pin_memory_device='cuda')\n    return DataLoader(data, pin_memory=True)\n",
        "under a test of the version",
    ),
)
