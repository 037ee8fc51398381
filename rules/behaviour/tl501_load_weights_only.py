"""`torch.load` without `weights_only`, whose default changed in torch 2.6."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.behaviour.loaded_files.saved_value import SAVES, line_of_save, saved_at, settings_saved
from torchlift.rules.behaviour.loaded_files.use_of_value import Kind, kind_by_use
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
        "Always for review: which value is right depends on the file and on who wrote it. Where the code uses the result, or a part "
        "of it, as a model or as an object of another class, or saves such a thing under the same path, the fix is "
        "`weights_only=False`, which keeps the behaviour of before 2.6 and is for trusted files. Where a state dict is saved there, or all of "
        "it goes to `load_state_dict`, it is `weights_only=True`, the new default said aloud. Where nothing tells, nothing is written. A "
        "project that needs torch 2.6 is told alone of what fails there, or may."
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
_KNOWN = frozenset({"f", "map_location", "pickle_module", "mmap", "encoding"})
_ALLOWED_HERE = ("add_safe_globals", "safe_globals(", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    if any(keyword.arg == "weights_only" for keyword in call.keywords):
        return False
    return not any(isinstance(argument, ast.Starred) for argument in call.args)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, call = context.view, use.call
    if call is None or not matters(use.target, call, context.settings):
        return
    if any(isinstance(item, ast.With) and _allows(view, item) for item in view.ancestors(call)):
        return
    if "jit" in view.source.text and context.says("TL138", use):
        return  # TL138 says more about an archive
    if any(keyword.arg is None for keyword in call.keywords):
        if "weights_only" not in view.source.text and context.settings.min_torch < _FLIPPED <= context.settings.target:
            yield _handed_on(view, call)
        return
    finding = _finding(context, call)
    if finding.severity is not Severity.INFO or not _runs_flipped(context.settings) or _is_pickled(call):
        yield finding


def _allows(view: ModuleView, around: ast.With) -> bool:
    """Whether a `with` allows classes of its own, by `torch.serialization.safe_globals` or something of that name."""
    names = (item.context_expr.func for item in around.items if isinstance(item.context_expr, ast.Call))
    return any(view.text(name).rpartition(".")[2] == "safe_globals" for name in names)


def _runs_flipped(settings: Settings) -> bool:
    """Whether the call means today what it means tomorrow: by a lower bound, not by a pin, which this very run may have moved."""
    stated = not settings.min_torch_pinned and not settings.min_torch_at_least
    return stated and settings.min_torch >= _FLIPPED


def _handed_on(view: ModuleView, call: ast.Call) -> Finding:
    """The finding for a call that hands on keywords which nothing in its file says `weights_only` among."""
    given = next(view.text(keyword.value) for keyword in call.keywords if keyword.arg is None)
    message = (
        f"Unless `{' '.join(given.split())}` has `weights_only`, `torch.load` takes True since torch 2.6, and a file that holds more than "
        "tensors and plain containers of plain values raises UnpicklingError."
    )
    advice = f"Whoever calls this may have to say `weights_only=False` now, for files that they trust. {_DOCS}"
    return Finding("TL501", view.path, view.span(call), message, Severity.INFO, advice)


def _is_pickled(call: ast.Call) -> bool:
    return len(call.args) > 2 or any(keyword.arg == "pickle_module" for keyword in call.keywords)


def _finding(context: Context, call: ast.Call) -> Finding:
    view, target = context.view, context.settings.target
    span = view.span(call)
    if _is_pickled(call):
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
        advice = (
            f"`{others[0]}` is for Python's unpickler: it goes with `weights_only=False`, which is for files that you trust, and "
            "`weights_only=True` raises TypeError."
        )
        return Finding("TL501", view.path, span, message, Severity.WARNING, advice)
    kind, reason = _held(context, call)
    if kind == "weights":
        advice = f"Needs review: {reason}. Where the file holds tensors and plain values alone, it loads; modules with state of their own (hooks, `get_extra_state`) may add more. {_DOCS}"
        return Finding("TL501", view.path, span, message, Severity.INFO, advice, _fix(view, call, "True"))
    if kind is not None and not any(word in view.source.text for word in _ALLOWED_HERE):
        severity = Severity.INFO
        if target >= _FLIPPED:
            severity = Severity.ERROR
            what = "A whole model" if kind == "module" else "A file with more than plain values in it"
            message = (
                f"{what} raises UnpicklingError here since torch 2.6, where `weights_only=True` became the default, unless its "
                f"classes are allowed; {reason}."
            )
        review = (
            "`weights_only=False` is what it was before, and runs whatever code the file names: for files that you trust only. "
            f"Better save `model.state_dict()` and plain values, and load them into what code has built. {_DOCS}"
        )
        return Finding(
            "TL501", view.path, span, message, severity, f"Needs review: {review}", _fix(view, call, "False")
        )
    return _of_unknown(view, call, message, flipped=target >= _FLIPPED)


def _of_unknown(view: ModuleView, call: ast.Call, message: str, *, flipped: bool) -> Finding:
    """The finding about a file of which neither its uses nor a `torch.save` tell what is in it."""
    beside = settings_saved(view) if flipped else None
    known = "What the file holds was not worked out."
    if beside is not None:
        known = (
            f"This file also saves checkpoints, with `{beside[0]}` in them as it is (line {beside[1]}): unless that is a plain dict, such "
            "a checkpoint raises here."
        )
    elif (line := line_of_save(view, call)) is not None:
        known = f"What the file holds was not worked out; line {line} of this file calls `torch.save`."
    advice = (
        f"{known} State dicts of models and optimizers load; numpy values, `argparse.Namespace`, paths and "
        "own classes do not: allow them by `torch.serialization.add_safe_globals`, or pass `weights_only=False` for files that "
        f"you trust. {_DOCS}"
    )
    severity = Severity.WARNING if beside is not None else Severity.INFO
    return Finding("TL501", view.path, view.span(call), message, severity, advice)


def _held(context: Context, call: ast.Call) -> tuple[Kind | None, str]:
    """What the file holds, and what tells it."""
    told = kind_by_use(context.view, call)
    if told is not None and told.kind != "weights":
        return told.kind, f"`{told.by}` is used on what it returns"
    saved = saved_at(context, call.args[0]) if call.args else None
    if saved is not None:
        return saved
    return (told.kind, "it goes to `load_state_dict`") if told is not None else (None, "")


def _fix(view: ModuleView, call: ast.Call, value: str) -> Fix:
    edit = EditCall(view.span(call), add=(("weights_only", Template(value)),))
    return Fix(f"Say `weights_only={value}`", Safety.UNSAFE, (edit,), _PARAMETER_SINCE)


COLLECTORS = (SAVES,)

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
        min_torch=TorchVersion(2, 0),
        run="torch.save(torch.nn.Linear(2, 1).state_dict(), 'w.pt')\nresult = sorted(load(torch.nn.Linear(2, 1), 'w.pt').state_dict())",
    ),
    Bad(
        "import torch\n\n\ndef save(net, path):\n    torch.save({'net': net.state_dict(), 'epoch': 3}, path)\n\n\n"
        "def load(net, path):\n    state = torch.load(path)\n    net.load_state_dict(state['net'])\n    return state['epoch']\n",
        "import torch\n\n\ndef save(net, path):\n    torch.save({'net': net.state_dict(), 'epoch': 3}, path)\n\n\n"
        "def load(net, path):\n    state = torch.load(path, weights_only=True)\n    net.load_state_dict(state['net'])\n"
        "    return state['epoch']\n",
        safety="unsafe",
        why="a checkpoint that the file saves itself",
        min_torch=TorchVersion(2, 0),
        run="net = torch.nn.Linear(2, 1)\nsave(net, 'c.pt')\nresult = load(net, 'c.pt')",
    ),
    Bad(
        "import torch\n\n\ndef load(path):\n    state = torch.load(path)\n    args = state['args']\n"
        "    return args.width, state['net']\n",
        "import torch\n\n\ndef load(path):\n    state = torch.load(path, weights_only=False)\n    args = state['args']\n"
        "    return args.width, state['net']\n",
        safety="unsafe",
        why="arguments in a namespace",
        run="import argparse, os\nos.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD'] = '1'\n"
        "torch.save({'args': argparse.Namespace(width=2), 'net': {}}, 'c.pt')\nresult = load('c.pt')",
    ),
    Bad(
        "import argparse\n\nimport torch\n\n\ndef train(net, path, steps):\n    best = argparse.Namespace(top1=0)\n"
        "    if (path / 'c.pt').is_file():\n        best = torch.load(path / 'c.pt')['best']\n    for step in range(steps):\n"
        "        state = dict(step=step + 1, best=best, net=net.state_dict())\n        torch.save(state, path / 'c.pt')\n"
        "    return best\n",
        "import argparse\n\nimport torch\n\n\ndef train(net, path, steps):\n    best = argparse.Namespace(top1=0)\n"
        "    if (path / 'c.pt').is_file():\n        best = torch.load(path / 'c.pt', weights_only=False)['best']\n"
        "    for step in range(steps):\n"
        "        state = dict(step=step + 1, best=best, net=net.state_dict())\n        torch.save(state, path / 'c.pt')\n"
        "    return best\n",
        safety="unsafe",
        why="a namespace that is saved, read back and saved again",
        run="import os, pathlib\nos.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD'] = '1'\nnet, here = torch.nn.Linear(2, 1), pathlib.Path()\n"
        "train(net, here, 2)\nresult = train(net, here, 1).top1",
    ),
    Bad(
        "import torch\n\n\ndef train(net, path, start):\n    for epoch in range(start, 9):\n"
        "        state = dict(epoch=epoch + 1, net=net.state_dict(), queue=torch.zeros(3).cpu())\n        torch.save(state, path)\n\n\n"
        "def resume(net, path):\n    state = torch.load(path)\n    net.load_state_dict(state['net'])\n    return state['epoch']\n",
        "import torch\n\n\ndef train(net, path, start):\n    for epoch in range(start, 9):\n"
        "        state = dict(epoch=epoch + 1, net=net.state_dict(), queue=torch.zeros(3).cpu())\n        torch.save(state, path)\n\n\n"
        "def resume(net, path):\n    state = torch.load(path, weights_only=True)\n    net.load_state_dict(state['net'])\n"
        "    return state['epoch']\n",
        safety="unsafe",
        why="a checkpoint by `dict`, with the number of a loop and a tensor",
        min_torch=TorchVersion(2, 0),
        run="net = torch.nn.Linear(2, 1)\ntrain(net, 'c.pt', 7)\nresult = resume(net, 'c.pt')",
    ),
    Bad(
        "import torch\n\n\ndef train(make, path):\n    net = make()\n    net.train()\n    torch.save(net, path)\n\n\n"
        "def load(path):\n    return torch.load(path)\n",
        "import torch\n\n\ndef train(make, path):\n    net = make()\n    net.train()\n    torch.save(net, path)\n\n\n"
        "def load(path):\n    return torch.load(path, weights_only=False)\n",
        safety="unsafe",
        why="a model that the file saves itself",
        run="import os\nos.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD'] = '1'\n"
        "train(lambda: torch.nn.Linear(2, 1), 'c.pt')\nresult = load('c.pt').training",
    ),
    Bad(
        "import torch\n\n\ndef load(net, path):\n    state = torch.load(path)\n    net.load_state_dict(state['net'])\n"
        "    return state['best']\n",
        why="a checkpoint of which nothing tells all",
        min_torch=TorchVersion(2, 0),
    ),
    Bad(
        "import torch\n\n\ndef save(net, config, path):\n    state = {'net': net.state_dict(), 'config': config}\n    torch.save(state, path)\n\n\n"
        "def load(net, old):\n    net.load_state_dict(torch.load(old)['net'])\n",
        why="a checkpoint like those that the file saves, with settings of an unknown class",
    ),
    Bad(
        "import torch\n\n\ndef mean(path):\n    return torch.load(path).float().mean()\n",
        why="a tensor, or something else with these methods",
        min_torch=TorchVersion(2, 0),
    ),
    Bad(
        "import pickle\n\nimport torch\n\n\ndef load(path):\n    return torch.load(path, pickle_module=pickle)\n",
        why="a pickle module of one's own",
    ),
    Bad(
        "import torch\n\n\ndef load(path):\n    return torch.load(path, encoding='latin1')\n",
        why="arguments for the unpickler",
        min_torch=TorchVersion(2, 0),
    ),
    Ok("import torch\n\nx = torch.load('x.pt')\n", "a project for which True is the default already"),
    Ok("import torch\n\n\ndef load(path, safe):\n    return torch.load(path, weights_only=safe)\n", "it is said"),
    Bad(
        "import torch\n\n\ndef load(path, **options):\n    return torch.load(path, **options)\n",
        why="keywords that are handed on",
        min_torch=TorchVersion(2, 0),
    ),
    Ok(
        "import torch\n\n\ndef load(path, **options):\n    options.setdefault('weights_only', True)\n    return torch.load(path, **options)\n",
        "it is said among keywords that are handed on",
    ),
    Ok("import json\nimport torch\n\n\ndef load(file):\n    return json.load(file)\n", "another module's"),
    Ok("import torch\n\n\ndef load(path):\n    return torch.jit.load(path)\n", "an archive"),
    Ok("import torch\n\n\ndef load(checkpointer, path):\n    return checkpointer.load(path)\n", "a method"),
)
