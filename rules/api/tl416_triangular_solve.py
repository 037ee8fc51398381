"""`torch.triangular_solve`: the matrix second, and a copy of it in the result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, ReplaceExpression
from torchlift.rules.api.uses import old_call
from torchlift.rules.api.uses.old_call import CallAdvice, OldName
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL416",
    name="triangular-solve",
    summary="`torch.triangular_solve`, deprecated in favour of `torch.linalg.solve_triangular`",
    why=(
        "It warns since 1.11 and will be removed. The new function takes the matrix first, wants `upper` said, has no "
        "`transpose`, and returns the solution without a copy of the matrix."
    ),
    fix="Safe where only the solution is used and the flags are written out as True or False.",
    targets=("torch.triangular_solve",),
    triggers=old_call.triggers("triangular_solve"),
    deprecated=TorchVersion(1, 11),
    aliases=("TOR101", "TOR103"),
    sources=("all eight combinations of the flags compared on torch 2.13.0: equal bits and strides",),
)

_OLD = OldName(
    "torch.triangular_solve",
    ("torch.linalg.solve_triangular",),
    "Write `X = torch.linalg.solve_triangular(A, B, upper=True)`: the matrix comes first, `upper` has to be given, and the "
    "result is the solution alone. `transpose=True` is `A.mT` there, with the other value of `upper`.",
    TorchVersion(1, 11),
)


def _answer(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = old_call.bind(call, ("input", "A", "upper", "transpose", "unitriangular"))
    name = old_call.spelled(view, use, "torch.linalg.solve_triangular")
    if given is None or name is None or "A" not in given or "input" not in given or "#" in view.text(call):
        return CallAdvice(_OLD.advice)
    flags = [
        given[key].constant if key in given else value
        for key, value in (("upper", True), ("transpose", False), ("unitriangular", False))
    ]
    if not all(isinstance(flag, bool) for flag in flags):
        return CallAdvice(_OLD.advice)
    upper, transpose, unit = flags
    matrix = "$a.mT" if transpose else "$a"
    more = ", unitriangular=True" if unit else ""
    text = f"{name[0]}({matrix}, $b, upper={upper != transpose}{more})"
    template = old_call.filled(text, view, a=given["A"].value, b=given["input"].value)
    title = "Use `torch.linalg.solve_triangular`, the matrix first"
    taken = old_call.taken_part(view, call, ("solution", "cloned_coefficient"))
    if taken is not None and taken[1] == "solution":
        return old_call.changed(
            title, (ReplaceExpression(view.span(taken[0]), template), *name[1]), TorchVersion(1, 11)
        )
    targets = old_call.unpacked(view, call, 2)
    if targets is None or not old_call.is_unread(view, targets[1][1]):
        return CallAdvice(_OLD.advice)
    first = ReplaceExpression(view.span(targets[0]), old_call.filled("$x", view, x=targets[1][0]), bare=True)
    return old_call.changed(title, (first, ReplaceExpression(view.span(call), template), *name[1]), TorchVersion(1, 11))


def check(use: Use, context: Context) -> Iterator[Finding]:
    yield from old_call.old_uses("TL416", use, context, _OLD, lambda call: _answer(use, call, context.view))


_MATRIX = "A = torch.tensor([[2.0, 1.0], [0.5, 3.0]])\nB = torch.arange(4.0).reshape(2, 2)\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(A, B):\n    return torch.triangular_solve(B, A).solution, "
        "torch.triangular_solve(B, A, upper=False, transpose=True, unitriangular=True)[0]\n",
        "import torch\n\n\ndef f(A, B):\n    return torch.linalg.solve_triangular(A, B, upper=True), "
        "torch.linalg.solve_triangular(A.mT, B, upper=True, unitriangular=True)\n",
        why="the solution alone",
        run=_MATRIX + "result = f(A, B)",
    ),
    Bad(
        "from torch import triangular_solve\n\n\ndef f(A, B):\n    x, _ = triangular_solve(B, A, False)\n    return x\n",
        "import torch\n\n\ndef f(A, B):\n    x = torch.linalg.solve_triangular(A, B, upper=False)\n    return x\n",
        why="the copy is never read",
        run="import torch\n" + _MATRIX + "result = f(A, B)",
    ),
    Bad(
        "import torch\n\n\ndef f(A, B):\n    x, copy = torch.triangular_solve(B, A)\n    return x, copy\n",
        why="the copy is read",
    ),
    Bad(
        "import torch\n\n\ndef f(A, B, upper):\n    return torch.triangular_solve(B, A, upper)[0]\n",
        why="which triangle is known at run time only",
    ),
    Ok(
        "import torch\n\n\ndef f(A, B):\n    return torch.linalg.solve_triangular(A, B, upper=True)\n",
        "the new function",
    ),
    Ok("import torch\n\n\ndef f(A, B):\n    return torch.cholesky_solve(B, A)\n", "another function"),
    Ok(
        "import torch\nfrom scipy.linalg import solve_triangular\n\nx = solve_triangular([[1.0]], [1.0])\n",
        "scipy's",
    ),
)
