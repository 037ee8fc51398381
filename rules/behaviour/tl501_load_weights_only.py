"""`torch.load` without `weights_only`, whose default changed in torch 2.6."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.versions import TorchVersion
from torchlift.view import ModuleView, Use

RULE = Rule(
    code="TL501",
    name="load-weights-only",
    summary="`torch.load` without `weights_only`, which means True since torch 2.6",
    why=(
        "Up to torch 2.5 `torch.load` unpickled anything, which runs whatever code the file names. Since 2.6 it accepts tensors and "
        "plain containers of plain values; whole models, numpy values, `argparse.Namespace`, paths and own classes raise "
        "UnpicklingError. `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1` brings the old default back only where nothing was passed."
    ),
    fix=(
        "Always for review: which value is right depends on the file and on who wrote it. Where the code uses the result as a "
        "whole model the fix is `weights_only=False`, which keeps the behaviour of before 2.6 and is for trusted files; elsewhere it is "
        "`weights_only=True`, the new default said aloud."
    ),
    targets=("torch.load",),
    triggers=("torch.load", "load & torch as ", "import load & from torch"),
    severity=Severity.INFO,
    aliases=("TOR102",),
    sources=(
        "torch/serialization.py:77-92 and 1474-1506 of torch 2.13.0; fifteen kinds of values saved and loaded with it",
        "https://github.com/pytorch/pytorch/releases/tag/v2.6.0, backwards incompatible changes",
    ),
)

_FLIPPED = TorchVersion(2, 6)
_PARAMETER_SINCE = TorchVersion(1, 13)
_DOCS = "https://docs.pytorch.org/docs/stable/notes/serialization.html#weights-only"
_KNOWN = frozenset({"f", "map_location", "pickle_module", "mmap"})
# What modules have and dicts and tensors have not.
_OF_MODULES = frozenset(
    "eval train state_dict load_state_dict parameters named_parameters modules named_modules children forward "
    "generate predict encode decode".split()
)
# How many names in a row a part of the file is followed through.
_MOST_NAMES = 3
_ALLOWED_HERE = ("add_safe_globals", "safe_globals(", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    if any(keyword.arg in {"weights_only", None} for keyword in call.keywords):
        return False
    return not any(isinstance(argument, ast.Starred) for argument in call.args)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or not matters(use.target, call, context.settings):
        return
    if "jit" in view.source.text and context.says("TL138", use):
        return  # TL138 says more about an archive
    yield _finding(view, call, context.settings.target)


def _finding(view: ModuleView, call: ast.Call, target: TorchVersion) -> Finding:
    span = view.span(call)
    pickled = len(call.args) > 2 or any(keyword.arg == "pickle_module" for keyword in call.keywords)
    if pickled:
        message = "`torch.load` with a `pickle_module` unpickles anything, which runs whatever code the file names."
        advice = "Say `weights_only=False` where the file is trusted, so that the next reader knows; it stays the default here."
        return Finding("TL501", view.path, span, message, Severity.INFO, advice)
    if target < _FLIPPED:
        message = f"`torch.load` without `weights_only` unpickles anything up to torch {_FLIPPED}, where True becomes the default."
    else:
        message = (
            "`torch.load` without `weights_only`: since torch 2.6 that means True, and a file that holds more than tensors and plain "
            "containers of plain values raises UnpicklingError."
        )
    others = [keyword.arg for keyword in call.keywords if keyword.arg not in _KNOWN]
    if others:
        advice = f"`{others[0]}` is for the unpickler and has an effect with `weights_only=False` only, which is for files that you trust."
        return Finding("TL501", view.path, span, message, Severity.WARNING, advice)
    what = _module_use(view, call)
    allowed = any(word in view.source.text for word in _ALLOWED_HERE)
    if what is not None and target >= _FLIPPED and not allowed:
        message = (
            f"`torch.load` of a whole model (`{what}` is used on what it returns) raises UnpicklingError since torch 2.6, where "
            "`weights_only=True` became the default."
        )
        review = (
            "`weights_only=False` is what it was before, and runs whatever code the file names: for files that you trust only. "
            f"Better save `model.state_dict()`, and load that into a model built by code. {_DOCS}"
        )
        return Finding(
            "TL501", view.path, span, message, Severity.ERROR, f"Needs review: {review}", _fix(view, call, "False")
        )
    review = (
        "what the file holds is not known here. State dicts of models and optimizers load; numpy values, `argparse.Namespace`, paths and "
        "own classes do not: allow them by `torch.serialization.add_safe_globals`, or pass `weights_only=False` for files that "
        f"you trust. {_DOCS}"
    )
    return Finding(
        "TL501", view.path, span, message, Severity.INFO, f"Needs review: {review}", _fix(view, call, "True")
    )


def _fix(view: ModuleView, call: ast.Call, value: str) -> Fix:
    edit = EditCall(view.span(call), add=(("weights_only", Template(value)),))
    return Fix(f"Say `weights_only={value}`", Safety.UNSAFE, (edit,), _PARAMETER_SINCE)


def _module_use(view: ModuleView, call: ast.Call) -> str | None:
    """A use of the result, or of a part of it, that only a module can stand; None if there is none in sight."""
    return _module_method(view, call) or _use_of_name(view, call, 0)


def _use_of_name(view: ModuleView, value: ast.expr, depth: int) -> str | None:
    """A use, as a module, of the name that `value` or a part of it is assigned to."""
    child, statement = value, view.parent(value)
    while isinstance(statement, (ast.Subscript, ast.Attribute)) and statement.value is child:
        child, statement = statement, view.parent(statement)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.value is not child:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    bindings = [item for item in view.scope_at(target).bindings.get(target.id, ()) if item.node is target]
    for read, alone in view.reads_of(bindings[0]) if bindings else ():
        parent = view.parent(read)
        if alone and isinstance(parent, ast.Call) and parent.func is read:
            return f"{read.id}(...)"
        method = _module_method(view, read) if alone else None
        if method is None and alone and depth < _MOST_NAMES:
            method = _use_of_name(view, read, depth + 1)
        if method is not None:
            return method
    return None


def _module_method(view: ModuleView, node: ast.expr) -> str | None:
    parent = view.parent(node)
    while isinstance(parent, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(parent, ast.Call):
            if parent.func is not node:
                return None
        elif parent.value is not node:
            return None
        if isinstance(parent, ast.Attribute) and parent.attr in _OF_MODULES:
            called = view.parent(parent)
            return f".{parent.attr}()" if isinstance(called, ast.Call) and called.func is parent else None
        node, parent = parent, view.parent(parent)
    return None


EXAMPLES = (
    Bad(
        "import torch\n\n\ndef load(path):\n    model = torch.load(path, map_location='cpu')\n    model.eval()\n    return model\n",
        "import torch\n\n\ndef load(path):\n    model = torch.load(path, map_location='cpu', weights_only=False)\n"
        "    model.eval()\n    return model\n",
        safety="unsafe",
        why="a whole model",
        # The variable gives the old call the default of before 2.6; without it, it raises.
        run="import os\nos.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD'] = '1'\n"
        "torch.save(torch.nn.Linear(2, 1), 'model.pt')\nresult = load('model.pt').training",
    ),
    Bad(
        "import torch as th\n\n\ndef load(path):\n    return th.load(path)['model'].float().eval()\n",
        "import torch as th\n\n\ndef load(path):\n    return th.load(path, weights_only=False)['model'].float().eval()\n",
        safety="unsafe",
        why="a model in a dict",
    ),
    Bad(
        "import torch\n\n\ndef load(path):\n    model = torch.load(path)['model']\n    net = model\n    net.eval()\n    return net\n",
        "import torch\n\n\ndef load(path):\n    model = torch.load(path, weights_only=False)['model']\n    net = model\n"
        "    net.eval()\n    return net\n",
        safety="unsafe",
        why="a model in a dict, by two names",
    ),
    Bad(
        "import torch\n\n\ndef load(net, path):\n    net.load_state_dict(torch.load(path))\n    return net\n",
        "import torch\n\n\ndef load(net, path):\n    net.load_state_dict(torch.load(path, weights_only=True))\n    return net\n",
        safety="unsafe",
        why="weights",
        run="torch.save(torch.nn.Linear(2, 1).state_dict(), 'w.pt')\nresult = sorted(load(torch.nn.Linear(2, 1), 'w.pt').state_dict())",
    ),
    Bad(
        "import pickle\n\nimport torch\n\n\ndef load(path):\n    return torch.load(path, pickle_module=pickle)\n",
        why="a pickle module of one's own",
    ),
    Bad(
        "import torch\n\n\ndef load(path):\n    return torch.load(path, encoding='latin1')\n",
        why="arguments for the unpickler",
    ),
    Ok("import torch\n\n\ndef load(path, safe):\n    return torch.load(path, weights_only=safe)\n", "it is said"),
    Ok("import torch\n\n\ndef load(path, **options):\n    return torch.load(path, **options)\n", "it may be said"),
    Ok("import json\nimport torch\n\n\ndef load(file):\n    return json.load(file)\n", "another module's"),
    Ok("import torch\n\n\ndef load(path):\n    return torch.jit.load(path)\n", "an archive"),
    Ok("import torch\n\n\ndef load(checkpointer, path):\n    return checkpointer.load(path)\n", "a method"),
)
