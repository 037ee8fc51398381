"""`torch.chain_matmul`: matrices one by one where `torch.linalg.multi_dot` takes a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, changed, filled, old_uses, spelled, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL414",
    name="chain-matmul",
    summary="`torch.chain_matmul`, deprecated in favour of `torch.linalg.multi_dot`",
    why="It warns since 1.9 and will be removed. The new function takes the matrices as a list and wants at least two.",
    fix=(
        "Safe where two or more matrices are written out. A spread argument is only reported: with a single matrix "
        "`chain_matmul` returns it, `multi_dot` raises."
    ),
    targets=("torch.chain_matmul",),
    triggers=triggers("chain_matmul"),
    deprecated=TorchVersion(1, 9),
    aliases=("TOR101", "TOR103"),
    sources=("torch/functional.py:2057 of torch 2.13.0; https://github.com/pytorch/pytorch/pull/57735",),
)

_OLD = OldName(
    "torch.chain_matmul",
    ("torch.linalg.multi_dot",),
    "Write `torch.linalg.multi_dot([A, B, ...])`, with the matrices in a list. It needs two or more of them.",
    TorchVersion(1, 9),
)
_TITLE = "Use `torch.linalg.multi_dot` with a list"
_SINCE = TorchVersion(1, 9)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view

    def answer(call: ast.Call) -> CallAdvice:
        name = spelled(view, use, "torch.linalg.multi_dot")
        if name is None or any(keyword.arg != "out" for keyword in call.keywords):
            return CallAdvice(_OLD.advice)
        matrices = call.args
        if len(matrices) < 2 or any(isinstance(matrix, ast.Starred) for matrix in matrices) or "#" in view.text(call):
            return CallAdvice(_OLD.advice)
        holes = {f"m{index}": matrix for index, matrix in enumerate(matrices)}
        listed = filled(f"[{', '.join(f'${hole}' for hole in holes)}]", view, **holes)
        edit = EditCall(
            view.span(call),
            Template(name[0]),
            view.span(call.func),
            drop=tuple(range(len(matrices))),
            first=listed,
        )
        return changed(_TITLE, (edit, *name[1]), _SINCE)

    yield from old_uses("TL414", use, context, _OLD, answer)


_MATRICES = "a, b, c = (torch.arange(6.0).reshape(shape).cos() for shape in ((2, 3), (3, 2), (2, 3)))\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(a, b, c):\n    return torch.chain_matmul(a, b, torch.chain_matmul(c, b))\n",
        "import torch\n\n\ndef f(a, b, c):\n    return torch.linalg.multi_dot([a, b, torch.linalg.multi_dot([c, b])])\n",
        why="nested calls",
        run=_MATRICES + "result = f(a, b, c)",
    ),
    Bad(
        "from torch import chain_matmul\n\n\ndef f(a, b, out):\n    return chain_matmul(a, b @ a, out=out)\n",
        "import torch\n\n\ndef f(a, b, out):\n    return torch.linalg.multi_dot([a, b @ a], out=out)\n",
        why="with `out`",
        run="import torch\n" + _MATRICES + "result = f(a, b, torch.empty(2, 3))",
    ),
    Bad(
        "import torch\n\n\ndef f(matrices):\n    return torch.chain_matmul(*matrices)\n",
        why="perhaps one matrix only",
    ),
    Bad("import torch\n\n\ndef f(a):\n    return torch.chain_matmul(a)\n", why="one matrix"),
    Ok("import torch\n\n\ndef f(a, b):\n    return torch.linalg.multi_dot([a, b])\n", "the new function"),
    Ok("def chain_matmul(*m):\n    return m\n\n\nimport torch\n\nx = chain_matmul(1, 2)\n", "an own function"),
    Ok("import torch\n\n\ndef f(net, a):\n    return net.chain_matmul(a, a)\n", "a method"),
)
