"""`torch.cholesky`, removed in torch 2.14."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, old_uses, spelled, triggers, value_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL411",
    name="cholesky",
    summary="`torch.cholesky`, which torch 2.14 removed",
    why="Deprecated since 1.9, it raises `RuntimeError` since 2.14. `torch.linalg.cholesky` takes `upper` by keyword only.",
    fix=(
        "Safe: the new function gives the same bits, the upper factor included (the often advised "
        "`torch.linalg.cholesky(A).mH` does not). With `upper` it needs torch 1.10."
    ),
    targets=("torch.cholesky",),
    triggers=triggers("cholesky"),
    deprecated=TorchVersion(1, 9),
    removed=TorchVersion(2, 14),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/_linalg_utils.py:74 of torch 2.14.0; https://github.com/pytorch/pytorch/pull/186817",
        "80 calls compared on torch 2.13.0 (4 dtypes, batches, non-symmetric input): equal bits",
    ),
)

_OLD = OldName(
    "torch.cholesky",
    ("torch.linalg.cholesky", "torch.linalg.cholesky_ex"),
    "Write `torch.linalg.cholesky(A)`, with `upper=True` by keyword for the upper factor.",
    TorchVersion(1, 9),
    TorchVersion(2, 14),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view

    def answer(call: ast.Call) -> CallAdvice:
        given = bind(call, ("input", "upper", "out"))
        name = spelled(view, use, "torch.linalg.cholesky")
        if given is None or name is None or "input" not in given or given["input"].key != 0:
            return CallAdvice(_OLD.advice)
        if "out" in given and given["out"].key != "out":
            return CallAdvice(_OLD.advice)
        upper = given.get("upper")
        lower = upper is None or upper.constant is False
        edit = EditCall(
            view.span(call),
            Template(name[0]),
            view.span(call.func),
            drop=(upper.key,) if upper is not None and (lower or upper.key == 1) else (),
            add=(("upper", value_of(view, upper)),) if upper is not None and upper.key == 1 and not lower else (),
        )
        needs = TorchVersion(1, 9) if lower else TorchVersion(1, 10)
        return changed("Use `torch.linalg.cholesky`", (edit, *name[1]), needs)

    yield from old_uses("TL411", use, context, _OLD, answer)


_MATRIX = "A = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(A):\n    return torch.cholesky(A), torch.cholesky(A, False)\n",
        "import torch\n\n\ndef f(A):\n    return torch.linalg.cholesky(A), torch.linalg.cholesky(A)\n",
        why="the lower factor",
        run=_MATRIX + "result = f(A)",
    ),
    Bad(
        "import torch as th\n\n\ndef f(A, up):\n    return th.cholesky(A, True), th.cholesky(A, up), th.cholesky(A, upper=True)\n",
        "import torch as th\n\n\ndef f(A, up):\n"
        "    return th.linalg.cholesky(A, upper=True), th.linalg.cholesky(A, upper=up), th.linalg.cholesky(A, upper=True)\n",
        why="the upper factor",
        run="import torch\n" + _MATRIX + "result = f(A, True)",
    ),
    Bad(
        "from torch import cholesky\n\n\ndef f(A):\n    return cholesky(\n        A,  # positive definite\n    )\n",
        "import torch\n\n\ndef f(A):\n    return torch.linalg.cholesky(\n        A,  # positive definite\n    )\n",
        why="imported by name, with a comment",
        run="import torch\n" + _MATRIX + "result = f(A)",
    ),
    Bad("import torch\n\n\ndef f(*given):\n    return torch.cholesky(*given)\n", why="arguments that are spread"),
    Bad("import torch\n\nfactor = map(torch.cholesky, [])\n", why="a reference that is no call"),
    Ok("import torch\n\n\ndef f(A):\n    return torch.linalg.cholesky(A)\n", "the new function"),
    Ok("import numpy as torch\n\ntorch.cholesky(1)\n", "another module called torch"),
    Ok(
        "import torch\n\n\ndef g(A):\n    return torch.linalg.cholesky(A) if hasattr(torch, 'linalg') else torch.cholesky(A)\n",
        "hasattr handles both",
    ),
)
