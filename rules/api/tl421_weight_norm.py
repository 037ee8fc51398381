"""`torch.nn.utils.weight_norm`: its parametrization has other state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from torchlift.finding import EditCall, Finding, Group, Template
from torchlift.lazy_pattern import lazy_pattern
from torchlift.project import Collector, Project
from torchlift.rules.api.uses.old_call import NOT_USED, CallAdvice, OldName, bind, changed, old_uses, spelled
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.source import SourceText
from torchlift.torch_names import public_name
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

_APPLY = "torch.nn.utils.weight_norm"
_REMOVE = "torch.nn.utils.remove_weight_norm"

RULE = Rule(
    code="TL421",
    name="weight-norm",
    summary="`torch.nn.utils.weight_norm` and `remove_weight_norm`, deprecated in favour of the parametrization of that name",
    why=(
        "It warns since 2.1 and will be removed. The parametrization computes the same weight, but keeps its parameters under other "
        "names and is removed by another function."
    ),
    fix=(
        "For review, and only where nothing in the project speaks of `weight_g` or `weight_v`: what loads and saves weights has to "
        "change together. Where the project calls `remove_weight_norm`, too, all calls of both change together, or none."
    ),
    targets=(_APPLY, _REMOVE),
    triggers=(
        *(
            f"{name} & {where}"
            for name in ("weight_norm", "remove_weight_norm")
            for where in ("nn.utils", "nn import utils")
        ),
    ),
    deprecated=TorchVersion(2, 1),
    aliases=("TOR101", "TOR103"),
    sources=(
        "torch/nn/utils/weight_norm.py:32 and 147, torch/nn/utils/parametrizations.py:347 (load hook) of torch 2.13.0",
        "https://github.com/pytorch/pytorch/pull/103001",
    ),
)

_NEW = "torch.nn.utils.parametrizations.weight_norm"
_NEW_REMOVE = "torch.nn.utils.parametrize.remove_parametrizations"
_SINCE = TorchVersion(2, 1)
_OLD = OldName(
    _APPLY,
    (_NEW,),
    f"Write `{_NEW}(module, name, dim)`. Its parameters are `parametrizations.weight.original0` and `.original1` where they were "
    "`weight_g` and `weight_v`; old checkpoints still load into it by `load_state_dict`, whose hook renames them, and not by code that "
    "takes the state apart; new ones do not load into the old form. In the place of "
    f'`remove_weight_norm(m)` comes `{_NEW_REMOVE}(m, "weight")`.',
    _SINCE,
)
_OLD_REMOVE = OldName(
    _REMOVE,
    (_NEW_REMOVE,),
    f'Write `{_NEW_REMOVE}(m, "weight")`, together with every `weight_norm` of the project: it does not know the old form.',
    _SINCE,
)
# Not `bias_v`, which is a parameter of attention layers; where there is a normed bias there is a `bias_g`.
_OLD_STATE = ("weight_g", "weight_v", "bias_g")
_IN_CODE = lazy_pattern(rf"^[^#\n]*?\b({'|'.join(_OLD_STATE)})\b", re.MULTILINE)
# A class that makes parameters of those names itself was never normed by the function.
_OWN = lazy_pattern(
    rf"\bself\.(?:{'|'.join(_OLD_STATE)})\s*(?::[^=\n]*)?=[^=]|register_parameter\(\s*[\"'](?:{'|'.join(_OLD_STATE)})"
)


def _collect(source: SourceText) -> tuple[int, str] | None:
    """The first line that speaks of the state of the old form, and the name that it has for it."""
    own = _OWN.search(source.text) is not None
    found = next(
        (
            found
            for found in _IN_CODE.finditer(source.text)
            # No line of code has a backtick: that is a docstring.
            if "`" not in found[0] and not (own and _is_of_self(source.text, found))
        ),
        None,
    )
    return (source.location(found.start(1))[0], found[1]) if found else None


def _is_of_self(text: str, found: re.Match[str]) -> bool:
    """Whether a name is an attribute of `self`, or the name of a parameter that the class registers."""
    before = text[found.start() : found.start(1)]
    return before.endswith("self.") or "register_parameter(" in before


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


def _collect_calls(view: ModuleView) -> tuple[int, int] | None:
    """How often a file takes the norm off, and how many of its uses of both functions have to change together."""
    uses = [use for use in view.uses(frozenset((_APPLY, _REMOVE))) if use.kind not in {"import", *NOT_USED}]
    return (sum(use.target == _REMOVE for use in uses), len(uses)) if uses else None


_CALLS = Collector("weight_norm_calls", RULE.triggers, _collect_calls, targets=frozenset((_APPLY, _REMOVE)))


def check(use: Use, context: Context) -> Iterator[Finding]:
    old, answer = (_OLD, _applied) if use.target == _APPLY else (_OLD_REMOVE, _removed)
    group = context.project.once(_pair)
    for finding in old_uses("TL421", use, context, old, lambda call: answer(use, call, context)):
        goes = f"`{_REMOVE}` goes with `{_APPLY}`, which is deprecated since torch {_SINCE}."
        said = replace(finding, message=goes if old is _OLD_REMOVE else finding.message)
        yield said if group is None or use.kind == "import" else replace(said, groups=(*said.groups, group))


def _pair(project: Project) -> Group | None:
    """The group of all calls, where the project takes the norm off what it has put on."""
    calls = project.records(_CALLS)
    if not any(removed for removed, _ in calls.values()):
        return None
    sites = sum(number for _, number in calls.values())
    return Group("weight norm, put on and taken off", tuple(sorted(calls)), sites)


def _state_of_old_form(context: Context) -> str:
    """Why nothing is rewritten: the state of the old form is used; empty if it is not."""
    # A place in the same file tells more than one far away.
    state = sorted(context.project.records(_STATE).items(), key=lambda item: (item[0] != context.view.path, item))
    if not state:
        return ""
    path, (line, word) = state[0]
    return f" Not rewritten: `{word}` at {path}:{line} may be that of a module from here, and know the old form alone: look at it first."


def _applied(use: Use, call: ast.Call, context: Context) -> CallAdvice:
    view, held = context.view, _state_of_old_form(context)
    name = spelled(view, use, _NEW) if public_name(use.name) == _APPLY else None
    if held or name is None:
        return CallAdvice(f"{_OLD.advice}{held}")
    review = (
        "checkpoints written by the new form have other names in their state dict and do not load into the old one; old "
        "ones load into the new one by `load_state_dict` of the module, whose hook renames them, and not by code that takes "
        "the state apart. A parametrized module cannot be pickled whole."
    )
    copies = sorted(context.project.records(_COPIES).items())
    if copies:
        path, (owner, line) = copies[0]
        review += (
            f" Here `{owner}` ({path}:{line}) copies a state key by key: if the weights of such a module go through it, "
            "what it has saved so far no longer loads (KeyError)."
        )
    edit = EditCall(view.span(call), Template(name[0]), view.span(call.func))
    return changed(f"Use `{_NEW}`", (edit, *name[1]), _SINCE, review)


def _removed(use: Use, call: ast.Call, context: Context) -> CallAdvice:
    view, held = context.view, _state_of_old_form(context)
    name = spelled(view, use, _NEW_REMOVE)
    given = bind(call, ("module", "name"))
    if held or name is None or given is None or "module" not in given:
        return CallAdvice(f"{_OLD_REMOVE.advice}{held}")
    review = (
        "modules that other code has normed in the old way, such as those of a library, have no parametrization: `ValueError: "
        "Module ... does not have a parametrization on weight`. The old function raises ValueError for a module without a norm, too."
    )
    added = () if "name" in given else (("tensor_name", Template('"weight"')),)
    renamed = (("name", "tensor_name"),) if "name" in given and given["name"].key == "name" else ()
    edit = EditCall(view.span(call), Template(name[0]), view.span(call.func), add=added, rename=renamed)
    return changed(f"Use `{_NEW_REMOVE}`", (edit, *name[1]), _SINCE, review)


COLLECTORS = (_STATE, _COPIES, _CALLS)

_VOCODER = (
    "import torch\nfrom torch.nn.utils import remove_weight_norm, weight_norm\n\n\nclass Vocoder(torch.nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n        self.conv = weight_norm(torch.nn.Conv1d(3, 2, 3))\n\n"
    "    def forward(self, x):\n        return self.conv(x)\n\n    def remove_weight_norm(self):\n"
    "        remove_weight_norm(self.conv)\n"
)
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
        "import torch\nfrom torch.nn.utils import weight_norm\n\n\nclass Own(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.weight_g = torch.nn.Parameter(torch.ones(1))\n\n    def forward(self, x):\n        return self.weight_g * x\n\n\n"
        "def f(layer):\n    return weight_norm(layer)\n",
        "import torch\n\n\nclass Own(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.weight_g = torch.nn.Parameter(torch.ones(1))\n\n    def forward(self, x):\n        return self.weight_g * x\n\n\n"
        "def f(layer):\n    return torch.nn.utils.parametrizations.weight_norm(layer)\n",
        safety="unsafe",
        why="a class that has a weight_g of its own",
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
    Bad(
        _VOCODER,
        _VOCODER.replace("from torch.nn.utils import remove_weight_norm, weight_norm\n", "")
        .replace("weight_norm(torch", "torch.nn.utils.parametrizations.weight_norm(torch")
        .replace(
            "remove_weight_norm(self.conv)",
            'torch.nn.utils.parametrize.remove_parametrizations(self.conv, tensor_name="weight")',
        ),
        safety="unsafe",
        why="put on and taken off",
        run=(
            "torch.manual_seed(0)\nnet = Vocoder()\nbefore = net(torch.ones(1, 3, 8))\nnet.remove_weight_norm()\n"
            "result = torch.allclose(before, net(torch.ones(1, 3, 8))), sorted(net.state_dict())"
        ),
    ),
    Bad(
        "from torch.nn.utils import remove_weight_norm\n\n\ndef strip(net):\n    net.apply(remove_weight_norm)\n",
        why="taken off by a function that is handed on",
        files=(("net.py", "import torch\n\nlayer = torch.nn.utils.weight_norm(torch.nn.Linear(3, 2))\n"),),
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
