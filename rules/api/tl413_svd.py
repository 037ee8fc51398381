"""`torch.svd`: V where `torch.linalg.svd` gives its conjugate transpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, InsertStatements, ReplaceExpression, Rewrite, Severity, Template
from torchlift.rules.api.uses import old_call
from torchlift.rules.api.uses.old_call import CallAdvice, OldName
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL413",
    name="svd",
    summary="`torch.svd`, deprecated in favour of `torch.linalg.svd`",
    why=(
        "Its documentation says that it is deprecated and will be removed; it does not warn. The new function returns the "
        "conjugate transpose of V and computes the full matrices unless told not to, so a mere rename gives wrong results."
    ),
    fix=(
        "Safe where the result is unpacked into names or one field of it is taken: `torch.svd` is itself "
        "`torch.linalg.svd(A, full_matrices=not some)` with `V = Vh.mH`, bit for bit. Not offered where the result is kept whole."
    ),
    targets=("torch.svd",),
    triggers=old_call.triggers("svd"),
    severity=Severity.INFO,
    deprecated=TorchVersion(1, 8),
    aliases=("TOR101", "TOR103"),
    sources=(
        "https://pytorch.org/docs/1.8.1/generated/torch.svd.html, deprecated",
        "torch/_torch_docs.py, `svd`, of torch 2.13.0: deprecated, with these replacements",
        "complex and real, reduced and full results compared on torch 2.13.0: equal bits, strides and conjugate flags",
    ),
)

_OLD = OldName(
    "torch.svd",
    ("torch.linalg.svd", "torch.linalg.svdvals"),
    "Write `U, S, Vh = torch.linalg.svd(A, full_matrices=False)` (`full_matrices=True` for `some=False`) and `V = Vh.mH`; "
    "`torch.linalg.svdvals(A)` for the singular values alone, as with `compute_uv=False`.",
    TorchVersion(1, 8),
    severity=Severity.INFO,
)
# `Tensor.mH` is new in 1.11.
_SINCE = TorchVersion(1, 11)
_TITLE = "Use `torch.linalg.svd`"


def _answer(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = old_call.bind(call, ("input", "some", "compute_uv"))
    name = old_call.spelled(view, use, "torch.linalg.svd")
    if given is None or name is None or "input" not in given:
        return CallAdvice(_OLD.advice)
    some = given["some"].constant if "some" in given else True
    vectors = given["compute_uv"].constant if "compute_uv" in given else True
    if not isinstance(some, bool) or not isinstance(vectors, bool):
        return CallAdvice(_OLD.advice)
    taken = old_call.taken_part(view, call, ("U", "S", "V"))
    if not vectors:
        values = old_call.spelled(view, use, "torch.linalg.svdvals")
        if taken is None or taken[1] != "S" or values is None:
            return CallAdvice(_OLD.advice)
        template = old_call.filled(f"{values[0]}($a)", view, a=given["input"].value)
        return old_call.changed(
            "Use `torch.linalg.svdvals`", (ReplaceExpression(view.span(taken[0]), template), *values[1]), _SINCE
        )
    edit = EditCall(
        view.span(call),
        Template(name[0]),
        view.span(call.func),
        drop=tuple(given[key].key for key in ("some", "compute_uv") if key in given),
        add=(("full_matrices", Template(str(not some))),),
        rename=(("input", "A"),) if given["input"].key == "input" else (),
    )
    if taken is not None and taken[1] == "V":
        # The field and the index change with it, so the whole expression is one edit.
        inner = old_call.filled(f"{name[0]}($a, full_matrices={not some}).Vh.mH", view, a=given["input"].value)
        return old_call.changed(_TITLE, (ReplaceExpression(view.span(taken[0]), inner), *name[1]), _SINCE)
    if taken is not None:
        return old_call.changed(_TITLE, (edit, *name[1]), _SINCE)
    targets = old_call.unpacked(view, call, 3)
    if targets is None:
        return CallAdvice(_OLD.advice)
    last = targets[1][2]
    if old_call.is_unread(view, last):
        return old_call.changed(_TITLE, (edit, *name[1]), _SINCE)
    if not isinstance(last, ast.Name):
        return CallAdvice(_OLD.advice)
    behind: Rewrite = InsertStatements(view.span(view.statement(call)), (f"{last.id} = {last.id}.mH",))
    return old_call.changed(_TITLE, (edit, behind, *name[1]), _SINCE)


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from old_call.old_uses("TL413", use, context, _OLD, lambda call: _answer(use, call, context.view))


_MATRIX = "A = torch.complex(torch.arange(15.0).reshape(5, 3).cos(), torch.arange(15.0).reshape(5, 3).sin())\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(A):\n    U, S, V = torch.svd(A)\n    return U, S, V\n",
        "import torch\n\n\ndef f(A):\n    U, S, V = torch.linalg.svd(A, full_matrices=False)\n    V = V.mH\n    return U, S, V\n",
        why="all three parts",
        run=_MATRIX + "result = f(A)",
    ),
    Bad(
        "import torch as th\n\n\ndef f(A):\n    u, s, _ = th.svd(A, some=False)\n    return u, s\n",
        "import torch as th\n\n\ndef f(A):\n    u, s, _ = th.linalg.svd(A, full_matrices=True)\n    return u, s\n",
        why="V is not read",
        run="import torch\n" + _MATRIX + "result = f(A)",
    ),
    Bad(
        "from torch import svd\n\n\ndef f(A):\n    return svd(A).S, svd(A)[2], svd(A, compute_uv=False)[1]\n",
        "import torch\n\n\ndef f(A):\n    return torch.linalg.svd(A, full_matrices=False).S, "
        "torch.linalg.svd(A, full_matrices=False).Vh.mH, torch.linalg.svdvals(A)\n",
        why="one part at a time",
        run="import torch\n" + _MATRIX + "result = f(A)",
    ),
    Bad(
        "import torch\n\n\ndef f(A):\n    parts = torch.svd(A)\n    return parts.V\n",
        why="the result is kept whole",
    ),
    Bad(
        "import torch\n\n\ndef f(A):\n    parts = torch.svd(A, compute_uv=False)\n    return parts.S\n",
        why="the values alone, and the result is kept whole",
    ),
    Bad(
        "import torch\n\n\ndef f(A, some):\n    U, S, V = torch.svd(A, some)\n    return V\n",
        why="which form is known at run time only",
    ),
    Ok("import torch\n\n\ndef f(A):\n    return torch.linalg.svd(A)\n", "the new function"),
    Ok("import torch\n\n\ndef f(A):\n    return torch.svd_lowrank(A)\n", "another function"),
    Ok("import numpy as np\nimport torch\n\nu, s, vh = np.linalg.svd(np.eye(3))\n", "numpy's"),
)
