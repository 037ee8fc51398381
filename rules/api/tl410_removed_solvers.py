"""`torch.solve`, `lstsq`, `symeig` and `matrix_rank`: functions that only raise any more."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlift.finding import EditCall, Finding, ReplaceExpression, Rewrite, Template
from torchlift.rules.api.uses import old_call
from torchlift.rules.api.uses.old_call import CallAdvice, OldName
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL410",
    name="removed-solver",
    summary="`torch.solve`, `torch.lstsq`, `torch.symeig` or `torch.matrix_rank`, which only raise any more",
    why=(
        "`torch.solve` was removed in 1.12, `torch.lstsq` and `torch.matrix_rank` in 1.13, `torch.symeig` in 2.0: the names are "
        "still there and raise `RuntimeError` when they are called. The functions of `torch.linalg` are no plain renames: "
        "`solve` and `lstsq` take the matrix first and give other results, `eigh` reads the other triangle."
    ),
    fix=(
        "Always for review, because no release since has both functions to compare. Offered where the code uses only what the new "
        "function gives too: `.solution`, `[0]` or an unpacked result whose second part nobody reads."
    ),
    targets=("torch.solve", "torch.lstsq", "torch.symeig", "torch.matrix_rank"),
    triggers=(
        *old_call.triggers("lstsq"),
        *old_call.triggers("symeig"),
        *old_call.triggers("matrix_rank"),
        *old_call.triggers("solve", rare=False),
    ),
    deprecated=TorchVersion(1, 8),
    removed=TorchVersion(2, 0),
    aliases=("TOR001", "TOR004"),
    sources=(
        "torch/_linalg_utils.py:74-130 of torch 2.13.0: each raises RuntimeError and says what replaces it",
        "stubs of the 1.11 to 2.0 wheels for the last release that works, read 2026-11-21",
        "https://github.com/pytorch/pytorch/pull/70986 (solve), 70980 (lstsq), 70988 (symeig), 70981 (matrix_rank)",
    ),
)

_SINCE = TorchVersion(1, 9)
_NOT_RUN = "torch.{} raises in every release since {}, so the two were not run side by side."

_SOLVE = OldName(
    "torch.solve",
    ("torch.linalg.solve",),
    "Write `X = torch.linalg.solve(A, B)`: the matrix comes first, and the result is the solution alone. Who used the second "
    "part of the old result gets it from `torch.linalg.lu_factor(A)`.",
    TorchVersion(1, 8),
    TorchVersion(1, 12),
)
_LSTSQ = OldName(
    "torch.lstsq",
    ("torch.linalg.lstsq",),
    "Write `X = torch.linalg.lstsq(A, B).solution`: the matrix comes first, and the solution has as many rows as A has "
    "columns; the old one had those of the residuals below.",
    TorchVersion(1, 9),
    TorchVersion(1, 13),
)
_SYMEIG = OldName(
    "torch.symeig",
    ("torch.linalg.eigh", "torch.linalg.eigvalsh"),
    'Write `torch.linalg.eigh(A, UPLO="U")` for values and vectors, `torch.linalg.eigvalsh(A, UPLO="U")` for the values '
    'alone; `UPLO="L"` where `upper=False` was passed. The new default is the lower triangle, the old one was the upper.',
    TorchVersion(1, 9),
    TorchVersion(2, 0),
)
_RANK = OldName(
    "torch.matrix_rank",
    ("torch.linalg.matrix_rank",),
    "Write `torch.linalg.matrix_rank(A, tol=..., hermitian=...)`; `hermitian` was called `symmetric`.",
    TorchVersion(1, 9),
    TorchVersion(1, 13),
)


def _solve(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    review = (
        f"{_NOT_RUN.format('solve', 1.12)} B must have as many dimensions as A; with one less it may be taken for a batch "
        "of vectors."
    )
    return _solution(use, call, view, _SOLVE, "torch.linalg.solve", "", review)


def _lstsq(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    review = (
        f"{_NOT_RUN.format('lstsq', 1.13)} The solution has no rows of residuals any more; for A with fewer rows than "
        "columns or of low rank the result may be another one."
    )
    return _solution(use, call, view, _LSTSQ, "torch.linalg.lstsq", ".solution", review)


def _solution(
    use: Use, call: ast.Call, view: ModuleView, old: OldName, new: str, suffix: str, review: str
) -> CallAdvice:
    """A call `old(B, A)` of which only the first part of the result, the solution, is used."""
    given = old_call.bind(call, ("input", "A"))
    name = old_call.spelled(view, use, new)
    if given is None or name is None or set(given) != {"input", "A"}:
        return CallAdvice(old.advice)
    template = old_call.filled(f"{name[0]}($a, $b){suffix}", view, a=given["A"].value, b=given["input"].value)
    title = f"Use `{new}` with the matrix first"
    taken = old_call.taken_part(view, call, ("solution", "rest"))
    if taken is not None and taken[1] == "solution":
        return old_call.changed(title, (ReplaceExpression(view.span(taken[0]), template), *name[1]), _SINCE, review)
    targets = old_call.unpacked(view, call, 2)
    if targets is not None and old_call.is_unread(view, targets[1][1]):
        rewrites: tuple[Rewrite, ...] = (
            ReplaceExpression(view.span(targets[0]), old_call.filled("$x", view, x=targets[1][0]), bare=True),
            ReplaceExpression(view.span(call), template, bare=True),
        )
        return old_call.changed(title, (*rewrites, *name[1]), _SINCE, review)
    return CallAdvice(old.advice)


def _symeig(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = old_call.bind(call, ("input", "eigenvectors", "upper"))
    if given is None or "input" not in given:
        return CallAdvice(_SYMEIG.advice)
    vectors = given["eigenvectors"].constant if "eigenvectors" in given else False
    upper = given["upper"].constant if "upper" in given else True
    if not isinstance(vectors, bool) or not isinstance(upper, bool):
        return CallAdvice(_SYMEIG.advice)
    triangle = "U" if upper else "L"
    review = (
        f"{_NOT_RUN.format('symeig', 2.0)} Eigenvectors are unique up to a factor only (the sign, for real ones), which may "
        "come out differently."
    )
    taken = old_call.taken_part(view, call, ("eigenvalues", "eigenvectors"))
    values_only = taken is not None and taken[1] == "eigenvalues"
    targets = old_call.unpacked(view, call, 2)
    if not vectors and not values_only and not (targets is not None and old_call.is_unread(view, targets[1][1])):
        return CallAdvice(_SYMEIG.advice)
    if values_only and not vectors:
        name = old_call.spelled(view, use, "torch.linalg.eigvalsh")
        if name is None or taken is None:
            return CallAdvice(_SYMEIG.advice)
        template = old_call.filled(f'{name[0]}($a, UPLO="{triangle}")', view, a=given["input"].value)
        rewrite: Rewrite = ReplaceExpression(view.span(taken[0]), template)
        return old_call.changed("Use `torch.linalg.eigvalsh`", (rewrite, *name[1]), _SINCE, review)
    name = old_call.spelled(view, use, "torch.linalg.eigh")
    if name is None or "#" in view.text(call):
        return CallAdvice(_SYMEIG.advice)
    template = old_call.filled(f'{name[0]}($a, UPLO="{triangle}")', view, a=given["input"].value)
    return old_call.changed(
        "Use `torch.linalg.eigh`", (ReplaceExpression(view.span(call), template), *name[1]), _SINCE, review
    )


def _rank(use: Use, call: ast.Call, view: ModuleView) -> CallAdvice:
    given = old_call.bind(call, ("input", "tol", "symmetric"))
    name = old_call.spelled(view, use, "torch.linalg.matrix_rank")
    if given is None or name is None or "input" not in given or given["input"].key != 0:
        return CallAdvice(_RANK.advice)
    positional = [item for key, item in given.items() if key != "input" and isinstance(item.key, int)]
    names = {"tol": "tol", "symmetric": "hermitian"}
    edit = EditCall(
        view.span(call),
        Template(name[0]),
        view.span(call.func),
        drop=tuple(item.key for item in positional),
        add=tuple(
            (names[key], old_call.value_of(view, item))
            for key, item in given.items()
            if isinstance(item.key, int) and key != "input"
        ),
        rename=(("symmetric", "hermitian"),) if "symmetric" in given and given["symmetric"].key == "symmetric" else (),
    )
    review = _NOT_RUN.format("matrix_rank", 1.13)
    return old_call.changed("Use `torch.linalg.matrix_rank`", (edit, *name[1]), _SINCE, review)


_Writer = Callable[[Use, ast.Call, ModuleView], CallAdvice]
_NAMES: dict[str, tuple[OldName, _Writer]] = {
    "torch.solve": (_SOLVE, _solve),
    "torch.lstsq": (_LSTSQ, _lstsq),
    "torch.symeig": (_SYMEIG, _symeig),
    "torch.matrix_rank": (_RANK, _rank),
}


def check(use: Use, context: Context) -> Iterator[Finding]:
    old, writer = _NAMES[use.target]
    yield from old_call.old_uses("TL410", use, context, old, lambda call: writer(use, call, context.view))


# The old functions as they were, by hand: what the new code has to agree with.
_BY_HAND = """
import collections
Solved = collections.namedtuple("Solved", "solution rest")
torch.solve = lambda B, A: Solved(torch.inverse(A) @ B, None)
torch.lstsq = lambda B, A: Solved(torch.inverse(A.T @ A) @ A.T @ B, None)
torch.symeig = lambda A, eigenvectors=False, upper=True: collections.namedtuple("E", "eigenvalues eigenvectors")(
    torch.diagonal(A).sort().values, torch.eye(len(A)))
torch.matrix_rank = lambda A, tol=0.0, symmetric=False: (torch.diagonal(A).abs() > tol).sum()
A = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
B = torch.tensor([[4.0, 2.0, 8.0], [8.0, 4.0, 0.0]])
"""

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(A, B):\n    return torch.solve(B, A).solution\n",
        "import torch\n\n\ndef f(A, B):\n    return torch.linalg.solve(A, B)\n",
        safety="unsafe",
        why="the solution alone",
        run=_BY_HAND + "result = f(A, B)",
    ),
    Bad(
        "import torch as th\n\n\ndef f(A, B):\n    x, _ = th.solve(B, A)\n    return x\n",
        "import torch as th\n\n\ndef f(A, B):\n    x = th.linalg.solve(A, B)\n    return x\n",
        safety="unsafe",
        why="the second part is never read",
        run="import torch\n" + _BY_HAND + "result = f(A, B)",
    ),
    Bad(
        "import torch\n\n\ndef f(A, B):\n    if hasattr(torch, 'solve'):\n        x, lu = torch.solve(B, A)\n"
        "        return x, lu.diagonal()\n",
        why="the factors are read, behind a question for a name that is still there, to raise",
    ),
    Bad(
        "import torch\n\n\ndef f(A, B):\n    return torch.lstsq(B, A)[0]\n",
        "import torch\n\n\ndef f(A, B):\n    return torch.linalg.lstsq(A, B).solution\n",
        safety="unsafe",
        why="least squares, other order and another shape",
        run=_BY_HAND + "result = f(A, B).round(decimals=4)",
    ),
    Bad(
        "from torch import symeig\n\n\ndef f(A):\n    values, vectors = symeig(A, eigenvectors=True)\n    return values\n",
        'import torch\n\n\ndef f(A):\n    values, vectors = torch.linalg.eigh(A, UPLO="U")\n    return values\n',
        safety="unsafe",
        why="eigenvalues and vectors, imported by name",
        run="import torch\n" + _BY_HAND + "import builtins\nglobals()['symeig'] = torch.symeig\nresult = f(A)",
    ),
    Bad(
        "import torch\n\n\ndef f(A):\n    return torch.symeig(A, upper=False).eigenvalues\n",
        'import torch\n\n\ndef f(A):\n    return torch.linalg.eigvalsh(A, UPLO="L")\n',
        safety="unsafe",
        why="eigenvalues alone, lower triangle",
        run=_BY_HAND + "result = f(A)",
    ),
    Bad(
        "import torch\n\n\ndef f(A, vectors):\n    return torch.symeig(A, vectors)\n",
        why="vectors or not is known at run time only",
    ),
    Bad(
        "import torch\n\n\ndef f(A):\n    return torch.matrix_rank(A, 0.5, symmetric=True)\n",
        "import torch\n\n\ndef f(A):\n    return torch.linalg.matrix_rank(A, hermitian=True, tol=0.5)\n",
        safety="unsafe",
        why="rank, renamed arguments",
        run=_BY_HAND + "result = f(A)",
    ),
    Bad("from torch import lstsq\n\n__all__ = ['lstsq']\n", why="imported for others"),
    Bad("import torch\n\nsolvers = {'lu': torch.solve}\n", why="a reference that is no call"),
    Ok("import torch\n\nx = torch.linalg.solve(torch.eye(2), torch.ones(2, 1))\n", "the new function"),
    Ok("import sympy\n\nroots = sympy.solve('x**2 - 1')\n", "a function of the same name elsewhere"),
    Ok(
        "import torch\n\n\ndef f(A, B):\n    try:\n        return torch.linalg.solve(A, B)\n    except AttributeError:\n"
        "        return torch.solve(B, A)[0]\n",
        "a fallback for old releases",
    ),
    Ok("import torch\n\n\ndef f(system):\n    return system.solve(torch.ones(2))\n", "a method"),
)
