"""`torch.lu` and `torch.lu_solve`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, ReplaceExpression, Template
from torchlift.rules.api.uses.old_call import CallAdvice, OldName, bind, changed, filled, old_uses, spelled, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL415",
    name="lu",
    summary="`torch.lu` or `torch.lu_solve`, deprecated in favour of `torch.linalg`",
    why=(
        "Both warn and will be removed. `torch.linalg.lu_factor` raises for a singular matrix where `torch.lu` returned; "
        "`torch.linalg.lu_solve` has its arguments reversed."
    ),
    fix=(
        "Safe for `lu_solve` with its three arguments written out, and for `lu` with `get_infos=True`, which is "
        "`lu_factor_ex`. For review for a plain `lu`, because a singular matrix raises then. Not offered for a `pivot` other than True."
    ),
    targets=("torch.lu", "torch.lu_solve"),
    triggers=(*triggers("lu_solve"), *triggers("lu", rare=False)),
    deprecated=TorchVersion(1, 13),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/functional.py, `_lu_impl`, of torch 2.13.0; a singular matrix run through both",
        "https://github.com/pytorch/pytorch/pull/73804 (lu), https://github.com/pytorch/pytorch/pull/73806 (lu_solve)",
    ),
)

_LU = OldName(
    "torch.lu",
    ("torch.linalg.lu_factor", "torch.linalg.lu_factor_ex"),
    "Write `LU, pivots = torch.linalg.lu_factor(A)`, which raises for a singular matrix, or `LU, pivots, info = "
    "torch.linalg.lu_factor_ex(A)`, which reports it in `info` as `get_infos=True` did.",
    TorchVersion(1, 13),
)
_SOLVE = OldName(
    "torch.lu_solve",
    ("torch.linalg.lu_solve",),
    "Write `torch.linalg.lu_solve(LU, pivots, B)`: the right hand side comes last.",
    TorchVersion(1, 13),
)


def _lu(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = bind(call, ("A", "pivot", "get_infos"))
    if given is None or "A" not in given:
        return CallAdvice(_LU.advice)
    infos = given["get_infos"].constant if "get_infos" in given else False
    if not isinstance(infos, bool) or ("pivot" in given and given["pivot"].constant is not True):
        return CallAdvice(_LU.advice)
    new = "torch.linalg.lu_factor_ex" if infos else "torch.linalg.lu_factor"
    name = spelled(view, use, new)
    if name is None:
        return CallAdvice(_LU.advice)
    drop = tuple(given[key].key for key in ("pivot", "get_infos") if key in given)
    edit = EditCall(view.span(call), Template(name[0]), view.span(call.func), drop=drop)
    review = "" if infos else "`lu_factor` raises for a singular matrix, for which `torch.lu` returned its factors."
    return changed(f"Use `{new}`", (edit, *name[1]), TorchVersion(1, 11), review)


def _solve(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = bind(call, ("input", "LU_data", "LU_pivots"))
    name = spelled(view, use, "torch.linalg.lu_solve")
    if given is None or len(given) != 3 or name is None or "#" in view.text(call):
        return CallAdvice(_SOLVE.advice)
    values = {"lu": given["LU_data"].value, "pivots": given["LU_pivots"].value, "b": given["input"].value}
    template = filled(f"{name[0]}($lu, $pivots, $b)", view, **values)
    return changed(
        "Use `torch.linalg.lu_solve`, the right hand side last",
        (ReplaceExpression(view.span(call), template), *name[1]),
        TorchVersion(1, 13),
    )


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.target == "torch.lu":
        yield from old_uses("TL415", use, context, _LU, lambda call: _lu(use, call, view))
    else:
        yield from old_uses("TL415", use, context, _SOLVE, lambda call: _solve(use, call, view))


_MATRIX = "A = torch.tensor([[2.0, 1.0], [1.0, 3.0]])\nB = torch.arange(4.0).reshape(2, 2)\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(A, B):\n    LU, pivots, info = torch.lu(A, get_infos=True)\n"
        "    return torch.lu_solve(B, LU, pivots), info\n",
        "import torch\n\n\ndef f(A, B):\n    LU, pivots, info = torch.linalg.lu_factor_ex(A)\n"
        "    return torch.linalg.lu_solve(LU, pivots, B), info\n",
        why="factors with their state, and a solution",
        run=_MATRIX + "result = [f(A, B), f(torch.ones(2, 2), B)[1]]",
    ),
    Bad(
        "from torch import lu_solve\n\n\ndef f(B, factors):\n    return lu_solve(LU_data=factors[0], LU_pivots=factors[1], input=B)\n",
        "import torch\n\n\ndef f(B, factors):\n    return torch.linalg.lu_solve(factors[0], factors[1], B)\n",
        why="arguments by keyword, imported by name",
        run="import torch\n" + _MATRIX + "result = f(B, torch.linalg.lu_factor(A))",
    ),
    Bad(
        "import torch\n\n\ndef f(A):\n    LU, pivots = torch.lu(A)\n    return LU\n",
        "import torch\n\n\ndef f(A):\n    LU, pivots = torch.linalg.lu_factor(A)\n    return LU\n",
        safety="unsafe",
        why="a matrix that may be singular",
        run="result = f(torch.ones(2, 2))",
        differs="The matrix is singular.",
    ),
    Bad("import torch\n\n\ndef f(A, pivot):\n    return torch.lu(A, pivot=pivot)\n", why="without pivoting"),
    Ok("import torch\n\n\ndef f(A):\n    return torch.linalg.lu(A)\n", "the new function"),
    Ok("import torch\nfrom scipy.linalg import lu\n\nfactors = lu([[1.0]])\n", "scipy's"),
    Ok(
        "import torch\n\n\ndef f(A):\n    return torch.lu_unpack(*torch.linalg.lu_factor(A))\n",
        "`lu_unpack`, which stays",
    ),
)
