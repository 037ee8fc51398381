"""`torch.qr`, removed in torch 2.14."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, filled, old_uses, spelled, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL412",
    name="qr",
    summary="`torch.qr`, which torch 2.14 removed",
    why="Deprecated since 1.8, it raises `RuntimeError` since 2.14. `torch.linalg.qr` has `mode` in the place of `some`.",
    fix='Safe: `some=True` is `mode="reduced"`, the default of both; `some=False` is `mode="complete"`.',
    targets=("torch.qr",),
    triggers=triggers("qr"),
    deprecated=TorchVersion(1, 8),
    removed=TorchVersion(2, 14),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/_linalg_utils.py:164 of torch 2.14.0; https://github.com/pytorch/pytorch/pull/186815",
        "https://docs.pytorch.org/1.8.0/generated/torch.qr.html, deprecated",
        "84 calls compared on torch 2.13.0: equal bits",
    ),
)

_OLD = OldName(
    "torch.qr",
    ("torch.linalg.qr",),
    'Write `torch.linalg.qr(A)`; `some=False` is `mode="complete"` there.',
    TorchVersion(1, 8),
    TorchVersion(2, 14),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view

    def answer(call: ast.Call) -> CallAdvice:
        given = bind(call, ("input", "some"))
        name = spelled(view, use, "torch.linalg.qr")
        if given is None or name is None or "input" not in given:
            return CallAdvice(_OLD.advice)
        some = given.get("some")
        mode: tuple[tuple[str, Template], ...] = ()
        if some is not None and some.constant is False:
            mode = (("mode", Template('"complete"')),)
        elif some is not None and some.constant is not True:
            mode = (("mode", filled('"reduced" if $some else "complete"', view, some=some.value)),)
        edit = EditCall(
            view.span(call),
            Template(name[0]),
            view.span(call.func),
            drop=(some.key,) if some is not None else (),
            add=mode,
            rename=(("input", "A"),) if given["input"].key == "input" else (),
        )
        return changed("Use `torch.linalg.qr`", (edit, *name[1]), TorchVersion(1, 9))

    yield from old_uses("TL412", use, context, _OLD, answer)


_MATRIX = "A = torch.arange(15.0).reshape(5, 3).cos()\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(A):\n    q, r = torch.qr(A)\n    return q, r, torch.qr(A, some=False).Q, torch.qr(A, True)[1]\n",
        "import torch\n\n\ndef f(A):\n    q, r = torch.linalg.qr(A)\n"
        '    return q, r, torch.linalg.qr(A, mode="complete").Q, torch.linalg.qr(A)[1]\n',
        why="reduced and complete",
        run=_MATRIX + "result = f(A)",
    ),
    Bad(
        "import torch\n\n\ndef f(A, full):\n    return torch.qr(input=A, some=not full)[0]\n",
        'import torch\n\n\ndef f(A, full):\n    return torch.linalg.qr(A=A, mode="reduced" if (not full) else "complete")[0]\n',
        why="a choice made at run time",
        run=_MATRIX + "result = [f(A, True), f(A, False)]",
    ),
    Bad(
        "from torch import qr as factors\n\n\ndef f(A):\n    return factors(A)[0]\n",
        "import torch\n\n\ndef f(A):\n    return torch.linalg.qr(A)[0]\n",
        why="imported under another name",
        run="import torch\n" + _MATRIX + "result = f(A)",
    ),
    Bad("import torch\n\n\ndef f(A, q, r):\n    torch.qr(A, out=(q, r))\n", why="results written into tensors"),
    Ok("from torch.linalg import qr\n\n\ndef f(A):\n    return qr(A)\n", "the new function"),
    Ok("import torch\n\n\ndef f(torch, A):\n    return torch.qr(A)\n", "a parameter shadows the module"),
    Ok("import numpy as np\nimport torch\n\nq, r = np.linalg.qr(np.eye(3))\n", "numpy's"),
)
