"""`torch.nn.utils.weight_norm`: its parametrization has other state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Collector
from torchlift.rules.api.old_call import CallAdvice, OldName, changed, old_uses, spelled
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.source import SourceText
from torchlift.versions import TorchVersion
from torchlift.view import Use

RULE = Rule(
    code="TL421",
    name="weight-norm",
    summary="`torch.nn.utils.weight_norm`, deprecated in favour of the parametrization of that name",
    why=(
        "It warns since 2.1 and will be removed. The parametrization computes the same weight, but keeps its parameters under other "
        "names and is removed by another function."
    ),
    fix=(
        "For review, and only where nothing in the project speaks of `weight_g`, `weight_v` or `remove_weight_norm`: what loads and "
        "saves weights has to change together."
    ),
    targets=("torch.nn.utils.weight_norm",),
    triggers=("weight_norm & nn.utils", "weight_norm & nn import utils"),
    deprecated=TorchVersion(2, 1),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/nn/utils/weight_norm.py:32 and 147, torch/nn/utils/parametrizations.py:347 (load hook) of torch 2.13.0",
        "https://github.com/pytorch/pytorch/pull/103001",
    ),
)

_NEW = "torch.nn.utils.parametrizations.weight_norm"
_OLD = OldName(
    "torch.nn.utils.weight_norm",
    (_NEW,),
    f"Write `{_NEW}(module, name, dim)`. Its parameters are `parametrizations.weight.original0` and `.original1` where they were "
    "`weight_g` and `weight_v`; old checkpoints still load into it, new ones do not load into the old form. In the place of "
    '`remove_weight_norm(m)` comes `torch.nn.utils.parametrize.remove_parametrizations(m, "weight")`.',
    TorchVersion(2, 1),
)
# Not `bias_v`, which is a parameter of attention layers; where there is a normed bias there is a `bias_g`.
_OLD_STATE = ("weight_g", "weight_v", "remove_weight_norm", "bias_g")
_IN_CODE = lazy_pattern(rf"^[^#\n]*?\b({'|'.join(_OLD_STATE)})\b", re.MULTILINE)


def _collect(source: SourceText) -> int | None:
    """The first line that speaks of the state of the old form."""
    found = _IN_CODE.search(source.text)
    return source.location(found.start(1))[0] if found else None


_STATE = Collector("weight_norm_state", _OLD_STATE, _collect, reads_text=True)

# A method that loads a state dict, with its body: the lines below it that are further in.
_LOADING = lazy_pattern(r"^([ \t]+)def load_state_dict\(.*\n(?:(?:\1[ \t]+.*|[ \t]*)\n?)*", re.MULTILINE)
_CLASS = lazy_pattern(r"^[ \t]*class (\w+)", re.MULTILINE)


def _collect_copies(source: SourceText) -> tuple[str, int] | None:
    """The first class that loads a state by copying each value to where its name is, and the line of its method."""
    for method in _LOADING.finditer(source.text):
        owner = [found[1] for found in _CLASS.finditer(source.text, 0, method.start())]
        if owner and re.search(r"\bfor\b", method[0]) and ".copy_(" in method[0]:
            return owner[-1], source.location(method.start(1))[0]
    return None


_COPIES = Collector("state_copied_by_key", ("def load_state_dict",), _collect_copies, reads_text=True)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    # A place in the same file tells more than one far away.
    state = sorted(context.project.records(_STATE).items(), key=lambda item: (item[0] != view.path, item))

    copies = sorted(context.project.records(_COPIES).items())

    def answer(call: ast.Call) -> CallAdvice:
        name = spelled(view, use, _NEW)
        if state:
            place = f"{state[0][0]}:{state[0][1]}"
            return CallAdvice(
                f"{_OLD.advice} Not rewritten: {place} uses the state of the old form, which has to change with it."
            )
        if name is None:
            return CallAdvice(_OLD.advice)
        review = (
            "checkpoints written by the new form have other names in their state dict and do not load into the old one; old "
            "ones load into the new one by `load_state_dict` of the module, whose hook renames them, and not by code that takes "
            "the state apart. A parametrized module cannot be pickled whole."
        )
        if copies:
            path, (owner, line) = copies[0]
            review += (
                f" Here `{owner}` ({path}:{line}) copies a state key by key: if the weights of such a module go through it, "
                "what it has saved so far no longer loads (KeyError)."
            )
        edit = EditCall(view.span(call), Template(name[0]), view.span(call.func))
        return changed("Use the parametrization", (edit, *name[1]), TorchVersion(2, 1), review)

    yield from old_uses("TL421", use, context, _OLD, answer)


COLLECTORS = (_STATE, _COPIES)

_APPLIED = "import torch\nlayer = torch.nn.Linear(3, 2)\n"

EXAMPLES = (
    Bad(
        "import torch\n\n\ndef f(layer):\n    return torch.nn.utils.weight_norm(layer, dim=1)\n",
        "import torch\n\n\ndef f(layer):\n    return torch.nn.utils.parametrizations.weight_norm(layer, dim=1)\n",
        safety="unsafe",
        why="the weight alone matters",
        run=_APPLIED + "result = f(layer)(torch.ones(1, 3)).shape",
    ),
    Bad(
        "from torch.nn.utils import weight_norm\n\n\ndef f(layer):\n    return weight_norm(layer)\n",
        "import torch\n\n\ndef f(layer):\n    return torch.nn.utils.parametrizations.weight_norm(layer)\n",
        safety="unsafe",
        why="imported by name, and the state dict is looked at",
        run=_APPLIED + "result = sorted(f(layer).state_dict())",
        differs="The state dict has other names.",
    ),
    Bad(
        "import torch\n\n\ndef f(layer):\n    layer = torch.nn.utils.weight_norm(layer)\n    return layer.weight_g\n",
        why="the old parameters are read",
    ),
    Bad(
        "import torch\n\n\ndef f(layer):\n    return torch.nn.utils.weight_norm(layer)\n",
        "import torch\n\n\ndef f(layer):\n    return torch.nn.utils.parametrizations.weight_norm(layer)\n",
        safety="unsafe",
        why="an attention with a bias of that name is in the project",
        files=(
            (
                "attention.py",
                "class Attention:\n    def __init__(self):\n        self.bias_k = self.bias_v = None\n",
            ),
        ),
        run=_APPLIED + "result = f(layer)(torch.ones(1, 3)).shape",
    ),
    Bad(
        "from torch.nn.utils import weight_norm\n\nnorms = {'weight': weight_norm}\n",
        why="a reference that is no call",
    ),
    Ok(
        "import torch\n\nlayer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))\n",
        "the parametrization",
    ),
    Ok("import torch\n\n\ndef f(weight_norm, x):\n    return weight_norm(x)\n", "a parameter called so"),
    Ok(
        "from torch.nn.utils.parametrizations import weight_norm\n\nlayers = [weight_norm]\n",
        "the new one by its name",
    ),
)
