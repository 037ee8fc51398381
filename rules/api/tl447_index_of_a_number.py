"""`loss.data[0]`: an index into a tensor without dimensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.value_of import stored_value, value_of
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use
from torchlift.view.last_name import last_name

RULE = Rule(
    code="TL447",
    name="index-of-a-number",
    summary="`loss.data[0]`, which raises since a loss has no dimensions",
    why=(
        "Until torch 0.3 a loss had one dimension of size 1. Now it has none: `IndexError: invalid index of a 0-dim tensor. Use "
        "`tensor.item()``, at the first step that prints it."
    ),
    fix=(
        "Needs review: what raised has no result to compare with. The help says where only the name tells that it is one number."
    ),
    targets=("*.data",),
    triggers=("data[0]",),
    deprecated=TorchVersion(0, 4),
    severity=Severity.ERROR,
    sources=("torch 2.13.0, run 2026-11-26", "https://pytorch.org/blog/pytorch-0_4_0-migration-guide/"),
)

_NAMED_LOSS = lazy_pattern(r"(?:.*_)?(?:loss|err|cost)(?:e?s)?(?:_?[A-Z]|_\w+)?\d*|\w*[lL]oss")
_OF_A_LOSS = lazy_pattern(r"(?:\w+_)?(?:loss|err|cost)(?:e?s)?\d*")
_LOSSES = lazy_pattern(
    r"torch\.nn\.functional\.(?:\w+_loss|kl_div|(?:binary_)?cross_entropy(?:_with_logits)?)|torch\.nn\.\w+Loss"
)
_REDUCTION = frozenset({"reduction", "reduce", "size_average", None})


def changed_in(target: str) -> TorchVersion | None:
    return TorchVersion(0, 4)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, node = context.view, use.node
    index = view.parent(node)
    if not isinstance(node, ast.Attribute) or not isinstance(index, ast.Subscript) or index.value is not node:
        return
    if not isinstance(index.ctx, ast.Load) or not isinstance(index.slice, ast.Constant) or index.slice.value != 0:
        return
    if type(index.slice.value) is not int or any(isinstance(above, ast.Try) for above in view.ancestors(node)):
        return
    certain = _is_one_number(view, node.value)
    name = _named(node.value)
    goes_to = _goes_to(view, index) if not name else ""
    if not certain and not _NAMED_LOSS.fullmatch(name or goes_to):
        return
    of = view.source.slice(view.span(node.value))
    where = "" if certain else f" where `{of}` is one number"
    message = f"`{of}.data[0]` raises IndexError{where}: since torch 0.4 that is a tensor without dimensions."
    doubt = f"`{of}` is taken to be one number, as its name says"
    if certain:
        doubt = "the number is taken to be what is wanted"
    elif goes_to:
        doubt = f"`{of}` is taken to be one number, as `{goes_to}` is where it goes"
    advice = f"Needs review: {doubt}. `{of}.item()` is the number."
    edit = ReplaceExpression(view.span(index), Template("$number.item()", (("number", view.span(node.value)),)))
    fix = Fix("Ask for the number with `item()`", Safety.UNSAFE, (edit,))
    yield Finding("TL447", view.path, view.span(index), message, Severity.ERROR, advice, fix)


def _named(node: ast.expr) -> str:
    """What a variable, an attribute or an entry of a dictionary is called; an entry with no telling key as what holds it."""
    match node:
        case ast.Subscript(value=held, slice=ast.Constant(value=str(key))):
            return key if _OF_A_LOSS.fullmatch(key) else _named(held)
    return last_name(node)


def _goes_to(view: ModuleView, index: ast.expr) -> str:
    """The variable that `index` is added to or, where it is a part of what a call gives, that it is assigned to."""
    statement = view.parent(index)
    target: ast.expr | None = None
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is_of_a_call(index):
        target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _is_of_a_call(index: ast.expr) -> bool:
    return (
        isinstance(index, ast.Subscript)
        and isinstance(index.value, ast.Attribute)
        and isinstance(index.value.value, ast.Call)
    )


def _is_one_number(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression is what a loss of torch gives that is reduced as it is by default, or the mean or the sum of all."""
    value = value_of(view, node)
    if not isinstance(value, ast.Call):
        return False
    if (
        isinstance(value.func, ast.Attribute)
        and value.func.attr in {"mean", "sum"}
        and not (value.args or value.keywords)
    ):
        return True
    return _reduces(view, value) or _reduces(view, stored_value(view, value.func))


def _reduces(view: ModuleView, call: ast.expr | None) -> bool:
    if not isinstance(call, ast.Call) or any(keyword.arg in _REDUCTION for keyword in call.keywords):
        return False
    resolution = view.resolve(call.func)
    if resolution is None or not resolution.certain or not _LOSSES.fullmatch(resolution.name):
        return False
    functional = resolution.name.startswith("torch.nn.functional.")
    return len(call.args) <= (2 if functional else 0) and not any(isinstance(each, ast.Starred) for each in call.args)


EXAMPLES = (
    Bad(
        'def show(errs):\n    print(errs["pose"].data[0])\n',
        'def show(errs):\n    print(errs["pose"].item())\n',
        "unsafe",
        why="an entry of what is called errors",
    ),
    Bad(
        "import torch.nn.functional as F\n\n\ndef f(a, b):\n    loss = F.mse_loss(a, b)\n    return loss.data[0]\n",
        "import torch.nn.functional as F\n\n\ndef f(a, b):\n    loss = F.mse_loss(a, b)\n    return loss.item()\n",
        "unsafe",
        why="a loss of torch",
    ),
    Bad(
        "import torch\n\ncriterion = torch.nn.CrossEntropyLoss()\n\n\ndef step(model, x, y, total):\n"
        "    error = criterion(model(x), y)\n    total += error.data[0]\n    return total\n",
        "import torch\n\ncriterion = torch.nn.CrossEntropyLoss()\n\n\ndef step(model, x, y, total):\n"
        "    error = criterion(model(x), y)\n    total += error.item()\n    return total\n",
        "unsafe",
        why="a criterion",
    ),
    Bad(
        "def log(model, batch):\n    loss = model(batch)\n    print('loss: %.3f' % loss.data[0])\n",
        "def log(model, batch):\n    loss = model(batch)\n    print('loss: %.3f' % loss.item())\n",
        "unsafe",
        why="what is called a loss, in a file that names no torch",
    ),
    Bad(
        "def log(entropy):\n    return entropy.mean().data[0]\n",
        "def log(entropy):\n    return entropy.mean().item()\n",
        "unsafe",
        why="a mean",
    ),
    Bad(
        "import torch\n\n\ndef f(p, target, loss):\n    loss += (-torch.log(p[target])).data[0]\n    return loss\n",
        "import torch\n\n\ndef f(p, target, loss):\n    loss += (-torch.log(p[target])).item()\n    return loss\n",
        "unsafe",
        why="what is added to a loss",
    ),
    Bad(
        "import torch\n\n\ndef f(crit, x, y):\n    loss = crit(x, y).data[0]\n    return loss\n",
        "import torch\n\n\ndef f(crit, x, y):\n    loss = crit(x, y).item()\n    return loss\n",
        "unsafe",
        why="what a call gives and is named a loss",
    ),
    Ok(
        "import torch\n\n\ndef f(read, x):\n    first = read(x).data[0]\n    return first\n",
        "a part that is named no loss",
    ),
    Ok("import torch\n\n\ndef f(rows, loss):\n    loss += rows.data[0]\n    return loss\n", "a name that says nothing"),
    Ok("import torch\n\n\ndef first(batch):\n    return batch.data[0]\n", "a batch"),
    Ok(
        "import torch\n\n\ndef f(loss):\n    try:\n        return loss.data[0]\n    except IndexError:\n        return loss.item()\n",
        "both ways",
    ),
    Ok(
        "import torch\n\n\ndef f(loss, i):\n    loss.data[0] = 1\n    return loss.data[i]\n",
        "a store, and another index",
    ),
)
