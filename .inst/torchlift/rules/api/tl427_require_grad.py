"""An assignment to `require_grad`, an attribute that tensors do not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Fix, ReplaceExpression, Safety, Severity, Template
from torchlift.project import Collector
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import Binding, ModuleView, Use

RULE = Rule(
    code="TL427",
    name="require-grad",
    summary="An assignment to `require_grad`, which is no attribute of a tensor",
    why=(
        "The attribute is called `requires_grad`. Python lets the assignment through, so layers that were meant to be frozen are "
        "trained, without a warning."
    ),
    fix=(
        "For review, because the correction changes what the program does: offered for parameters from a loop over those of a module, for "
        "`.weight` and `.bias`, and for tensors that torch made in the same function. Elsewhere it is an information. Nothing is reported "
        "where the project reads or declares such an attribute itself."
    ),
    targets=("*.require_grad",),
    triggers=("require_grad",),
    aliases=("TOR002",),
    sources=("torch/_tensor.py and torch/_C/_VariableFunctions of 2.13.0 have no such name; assigned to on 2.13.0",),
)

_NAME = "require_grad"
_LISTS = frozenset({"parameters", "buffers"})
_NAMED_LISTS = frozenset({"named_parameters", "named_buffers"})
# Functions of torch that return something other than one tensor are of no interest here: the typo gives no error on them.
_FACTORIES = frozenset(
    f"torch.{name}"
    for name in "tensor zeros ones rand randn full empty arange eye linspace as_tensor from_numpy zeros_like ones_like "
    "rand_like randn_like full_like empty_like nn.Parameter nn.parameter.Parameter".split()
)


def _collect(view: ModuleView) -> bool | None:
    """Whether a file reads an attribute of the name, which makes it somebody's own."""
    if _NAME not in view.source.text:
        return None
    own = any(
        isinstance(node, ast.Attribute) and node.attr == _NAME and isinstance(node.ctx, ast.Load)
        for node in view.parents
    )
    slots = any(f"{quote}{_NAME}{quote}" in view.source.text for quote in "\"'")
    fields = any(_NAME in scope.bindings for scope in view.scopes.scope_of.values() if scope.kind == "class")
    return own or slots or fields or None


_OWN = Collector("require_grad_attribute", (_NAME,), _collect)


def check(use: Use, context: Context) -> Iterator[Finding]:
    node, view = use.node, context.view
    if use.kind != "store" or not isinstance(node, ast.Attribute) or context.project.records(_OWN):
        return
    if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
        return
    span = view.span(node)
    message = (
        "Tensors have no `require_grad`: this sets an attribute of that name, and `requires_grad` stays as it was."
    )
    advice = f"Write `{view.text(node.value)}.requires_grad = ...` if a tensor or a parameter is meant."
    if not _surely_tensor(view, node.value):
        yield Finding("TL427", view.path, span, message, Severity.INFO, advice)
        return
    review = (
        "the assignment had no effect so far; corrected it starts or stops the gradient, so training may change. A tensor that is "
        "no leaf raises when gradients are switched off."
    )
    # The value is no part: its own text stays, so that the attribute alone changes.
    template = Template("$value.requires_grad", (("value", view.span(node.value)),))
    fix = Fix("Correct the name to `requires_grad`", Safety.UNSAFE, (ReplaceExpression(span, template),))
    yield Finding("TL427", view.path, span, message, Severity.WARNING, f"Needs review: {review}", fix)


def _surely_tensor(view: ModuleView, node: ast.expr) -> bool:
    """Whether `node` is a tensor made by torch here, a parameter from a loop over those of a module, or a layer's weight."""
    if isinstance(node, ast.Attribute):
        return node.attr in {"weight", "bias"}
    if not isinstance(node, ast.Name):
        return False
    reaching = view.bindings_of(node, view.scope_at(node))
    return bool(reaching) and all(_binds_tensor(view, binding) for binding in reaching)


def _binds_tensor(view: ModuleView, binding: Binding) -> bool:
    if binding.kind == "assign" and isinstance(binding.value, ast.Call):
        return view.possible_name(binding.value.func) in _FACTORIES
    loop = view.parent(binding.node)
    place = 0
    if isinstance(loop, ast.Tuple) and len(loop.elts) == 2:
        place = next((index for index, element in enumerate(loop.elts) if element is binding.node), 0)
        loop = view.parent(loop)
        names = _NAMED_LISTS if place == 1 else frozenset()
    else:
        names = _LISTS
    if not isinstance(loop, (ast.For, ast.comprehension)) or not isinstance(loop.iter, ast.Call):
        return False
    function = loop.iter.func
    return isinstance(function, ast.Attribute) and function.attr in names


COLLECTORS = (_OWN,)

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef freeze(model):\n    for name, param in model.named_parameters():\n"
        "        param.require_grad = 'head' in name\n    for param in model.parameters():\n        param.require_grad = False\n",
        "import torch\n\n\ndef freeze(model):\n    for name, param in model.named_parameters():\n"
        "        param.requires_grad = 'head' in name\n    for param in model.parameters():\n        param.requires_grad = False\n",
        safety="unsafe",
        why="parameters",
        run="model = torch.nn.Linear(2, 2)\nfreeze(model)\nresult = [p.requires_grad for p in model.parameters()]",
        differs="The parameters were not frozen.",
    ),
    Bad(
        "import torch as th\n\n\ndef f(net):\n    x = th.zeros(3)\n    x.require_grad = True\n    net.fc.weight.require_grad = False\n    return x\n",
        "import torch as th\n\n\ndef f(net):\n    x = th.zeros(3)\n    x.requires_grad = True\n    net.fc.weight.requires_grad = False\n    return x\n",
        safety="unsafe",
        why="a tensor and a weight",
    ),
    Bad(
        "import torch\n\n\ndef f(x):\n    x.require_grad = True\n    return torch.sin(x)\n",
        why="a value that may be anything",
    ),
    Ok("import torch\n\nx = torch.zeros(1)\nx.requires_grad = True\n", "the right name"),
    Ok("import torch\n\nrequire_grad = True\nx = torch.zeros(1, requires_grad=require_grad)\n", "a variable"),
    Ok(
        "import torch\n\n\nclass Model:\n    def __init__(self, require_grad):\n        self.require_grad = require_grad\n",
        "an object's own attribute",
    ),
    Ok(
        "import torch\n\n\ndef f(options):\n    options.require_grad = True\n    return options.require_grad\n",
        "an attribute that the project reads",
    ),
)
