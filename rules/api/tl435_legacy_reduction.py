"""`size_average=` and `reduce=` of losses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.api.uses.old_call import Argument
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import Use

_PLACES = {
    "torch.nn.functional.": {
        "binary_cross_entropy": 3, "binary_cross_entropy_with_logits": 3, "cosine_embedding_loss": 4, "cross_entropy": 3,
        "hinge_embedding_loss": 3, "kl_div": 2, "l1_loss": 2, "margin_ranking_loss": 4, "mse_loss": 2, "multi_margin_loss": 5,
        "multilabel_margin_loss": 2, "multilabel_soft_margin_loss": 3, "nll_loss": 3, "poisson_nll_loss": 4, "smooth_l1_loss": 2,
        "soft_margin_loss": 2, "triplet_margin_loss": 7,
    },
    "torch.nn.": {
        "BCELoss": 1, "BCEWithLogitsLoss": 1, "CosineEmbeddingLoss": 1, "CrossEntropyLoss": 1, "HingeEmbeddingLoss": 1, "KLDivLoss": 0,
        "L1Loss": 0, "MSELoss": 0, "MarginRankingLoss": 1, "MultiLabelMarginLoss": 0, "MultiLabelSoftMarginLoss": 1, "MultiMarginLoss": 3,
        "NLLLoss": 1, "PoissonNLLLoss": 2, "SmoothL1Loss": 0, "SoftMarginLoss": 0, "TripletMarginLoss": 4,
    },
}  # fmt: skip
"""The position of `size_average` in each loss; `inspect.signature` of torch 2.13.0, which a test compares."""
POSITIONS = {f"{package}{name}": place for package, names in _PLACES.items() for name, place in names.items()}
_OLD = ("size_average", "reduce")
_BY_POSITION = tuple(
    sorted({f"{name} & {value}" for names in _PLACES.values() for name in names for value in ("True", "False")})
)

RULE = Rule(
    code="TL435",
    name="legacy-reduction",
    summary="`size_average=` or `reduce=` of a loss, which became `reduction=`",
    why=(
        "Both are deprecated, and warn in torch 1.8 and every later release; where either is given it decides and "
        "`reduction=` is not looked at."
    ),
    fix=(
        "Safe: constants become the `reduction=` that torch computes from them (`legacy_get_string`). Values that are known at run "
        "time only, arguments behind them by position, and calls that say `reduction=` too, are yours."
    ),
    targets=tuple(sorted(POSITIONS)),
    triggers=("size_average & torch", "reduce & torch", *_BY_POSITION),
    deprecated=TorchVersion(1, 4),
    sources=(
        "torch/nn/_reduction.py, `legacy_get_string`, and torch/nn/functional.py of torch 2.13.0, read 2026-11-23",
    ),
)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    return bool(_given(target, call))


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if use.kind != "call" or call is None or use.name != use.target:
        return
    given = _given(use.target, call)
    if not given:
        return
    says = {name: argument.constant for name, argument in given.items()}
    named = " and ".join(f"`{name}`" for name in given)
    short = use.target.rpartition(".")[2]
    where = " where not None" if all(value is ... for value in says.values()) else ""
    message = f"{named} of `{short}` {'is' if len(given) == 1 else 'are'} deprecated for `reduction`, and warn{'s' if len(given) == 1 else ''}{where}."
    places = [argument.key for argument in given.values() if isinstance(argument.key, int)]
    behind = bool(places) and len(call.args) > places[0] + 1
    if behind or any(value is ... for value in says.values()):
        advice = 'Write `reduction="mean"` where both are true, `"sum"` where only `size_average` is false, `"none"` where `reduce` is.'
        yield Finding("TL435", view.path, view.span(call), message, Severity.WARNING, advice)
        return
    average, reduce = (says.get(name) is None or bool(says[name]) for name in _OLD)
    reduction = "none" if not reduce else "mean" if average else "sum"
    advice = f'It means `reduction="{reduction}"`.'
    if any(keyword.arg in {"reduction", None} for keyword in call.keywords):
        advice += " What is passed as `reduction` beside it is not looked at, and has to go with it."
        yield Finding("TL435", view.path, view.span(call), message, Severity.WARNING, advice)
        return
    edit = EditCall(
        view.span(call),
        add=(("reduction", Template(f'"{reduction}"')),),
        drop=tuple(argument.key for argument in given.values()),
    )
    fix = Fix(f'Say `reduction="{reduction}"`', Safety.SAFE, (edit,))
    yield Finding("TL435", view.path, view.span(call), message, Severity.WARNING, advice, fix)


def _given(target: str, call: ast.Call) -> dict[str, Argument]:
    """What is passed as `size_average` and `reduce`, None left out where it changes nothing."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return {}
    place = POSITIONS.get(target)
    found = {keyword.arg: Argument(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg in _OLD}
    if place is not None and place < len(call.args):
        found["size_average"] = Argument(place, call.args[place])
    kept = {name: argument for name in _OLD if (argument := found.get(name)) is not None}
    return {} if all(argument.constant is None for argument in kept.values()) else kept


_RUN = "result = f(torch.tensor([1.0, 3.0]), torch.tensor([2.0, 5.0]))"

EXAMPLES = (
    Bad(
        "import torch\nimport torch.nn.functional as F\n\n\ndef f(a, b):\n    return F.mse_loss(a, b, size_average=False)\n",
        'import torch\nimport torch.nn.functional as F\n\n\ndef f(a, b):\n    return F.mse_loss(a, b, reduction="sum")\n',
        why="a sum",
        run=_RUN,
    ),
    Bad(
        "import torch\nimport torch.nn.functional as F\n\n\ndef f(a, b):\n    return F.l1_loss(a, b, reduce=False, size_average=False)\n",
        'import torch\nimport torch.nn.functional as F\n\n\ndef f(a, b):\n    return F.l1_loss(a, b, reduction="none")\n',
        why="both, and no reduction",
        run=_RUN,
    ),
    Bad(
        "import torch\nfrom torch import nn\n\n\ndef f(a, b):\n    return nn.SmoothL1Loss(True)(a, b)\n",
        'import torch\nfrom torch import nn\n\n\ndef f(a, b):\n    return nn.SmoothL1Loss(reduction="mean")(a, b)\n',
        why="a class, by position",
        run=_RUN,
    ),
    Bad(
        "import torch\n\n\ndef loss(weight):\n    return torch.nn.CrossEntropyLoss(weight, False, -1)\n",
        why="another argument behind it by position",
    ),
    Bad(
        "import torch\n\n\ndef loss(mean):\n    return torch.nn.MSELoss(size_average=mean)\n",
        why="known at run time only",
    ),
    Bad(
        "import torch\n\nloss = torch.nn.MSELoss(reduce=False, reduction='mean')\n",
        why="said in both ways, of which the old one counts",
    ),
    Ok("import torch\n\nloss = torch.nn.MSELoss(reduction='sum')  # size_average\n", "the new parameter"),
    Ok("import torch\n\nloss = torch.nn.MSELoss(size_average=None)\n", "None, which is the default"),
    Ok("from mylib import MSELoss\n\nloss = MSELoss(size_average=False)\nimport torch\n", "another library's class"),
)
