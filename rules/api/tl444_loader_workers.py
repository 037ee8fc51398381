"""`DataLoader` without workers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Use

RULE = Rule(
    code="TL444",
    name="loader-workers",
    summary="A `DataLoader` that loads in the training process",
    why="Advice on speed, not on an upgrade; for small datasets in memory no workers are the better choice.",
    fix="None.",
    targets=("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"),
    triggers=("DataLoader & torch",),
    severity=Severity.INFO,
    default=False,
    aliases=("TOR401",),
    sources=("torch/profiler/_pattern_matcher.py of torch 2.13.0, `SynchronizedDataLoaderPattern`",),
)

_POSITION = 5


def check(use: Use, context: Context) -> Iterator[Finding]:
    call, view = use.call, context.view
    if call is None or any(keyword.arg is None for keyword in call.keywords):
        return
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    workers = next((keyword.value for keyword in call.keywords if keyword.arg == "num_workers"), None)
    if workers is None and len(call.args) > _POSITION:
        workers = call.args[_POSITION]
    if workers is not None and not (isinstance(workers, ast.Constant) and workers.value == 0):
        return
    if _needs_none(context, call):
        return
    message = "This `DataLoader` loads in the process that asks it for batches, which waits for each."
    advice = (
        "Pass `num_workers` above 0, with `persistent_workers=True` where epochs are short, if the dataset does real work and does "
        "not change meanwhile: each worker reads a copy of its own, which is pickled, with `collate_fn`, where processes are not forked."
    )
    yield Finding("TL444", view.path, view.span(call), message, Severity.INFO, advice)


def _needs_none(context: Context, call: ast.Call) -> bool:
    """Whether workers would have nothing to do, or nothing to do it with: ready tensors, numbers, and a class that works on the GPU."""
    view = context.view
    data = call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "dataset"), None)
    binding = view.definition(data) if isinstance(data, ast.Name) else None
    if binding is not None and binding.value is not None:
        data = binding.value
    if not isinstance(data, ast.Call):
        return isinstance(data, (ast.List, ast.ListComp))
    if view.possible_name(data.func).endswith("data.TensorDataset") or view.text(data.func) == "range":
        return True
    found = definition_of(view, data.func, context.project, ast.ClassDef)
    return found is not None and "cuda" in found[0].text(found[1])


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(data):\n    a = torch.utils.data.DataLoader(data, batch_size=8)\n"
        "    return a, torch.utils.data.DataLoader(data, 8, False, None, None, 0)\n",
        why="none, said or not",
    ),
    Ok(
        "from torch.utils.data import DataLoader\n\n\ndef f(data):\n    return DataLoader(data, num_workers=4)\n",
        "workers",
    ),
    Ok(
        "from torch.utils.data import DataLoader\n\n\ndef f(data, n):\n    return DataLoader(data, num_workers=n)\n",
        "a number from elsewhere",
    ),
    Ok(
        "from torch.utils.data import DataLoader\n\n\ndef f(x):\n    return [x[i] for i in DataLoader(range(len(x)), 8, shuffle=True)]\n",
        "indices alone",
    ),
    Ok(
        "from torch.utils.data import DataLoader\n\n\ndef f(data, **more):\n    return DataLoader(data, **more)\n",
        "options from elsewhere",
    ),
)
