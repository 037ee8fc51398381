"""Calls that pass what torch no longer takes: a rule over the table of changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.api_changes.changes import ChangedParameter, changed_parameters, gone_names, parameters
from torchlift.finding import EditCall, Finding, Fix, Safety, Severity, Template
from torchlift.rules.api.uses.absence import asks_for, reads_signature
from torchlift.rules.api.uses.table_rule import is_common, is_plain_use, triggers
from torchlift.rules.rule import Bad, Context, Ok, Rule, Settings
from torchlift.source import Span
from torchlift.versions import TorchVersion
from torchlift.view import Use
from torchlift.view.last_name import last_name

# Packages whose functions are called everywhere: only files that name the parameter are looked at.
_COMMON = frozenset({"torch", "nn"})
_NAMED = frozenset({"removed", "renamed", "positional-only"})

RULE = Rule(
    code="TL404",
    name="changed-parameter",
    summary="A call with arguments that a function of torch, or of a package that goes with it, no longer takes so",
    why=(
        "Parameters were removed, renamed, moved or made keyword-only between torch 2.0 and 2.15: the call is a TypeError, or, where "
        "only the order changed, something else than before. The schedulers of `torch.optim.lr_scheduler` lost `verbose` in 2.7."
    ),
    fix=(
        "Safe: `verbose=False` of a scheduler is dropped, which never did anything, and `use_cuda=False` of a profiler, the default; what was "
        "only renamed (`range` of `make_grid`) gets its new name. Needs "
        'review: any other literal `verbose` is dropped, and nothing is printed any more; `use_cuda=True` becomes `use_device="cuda"`. The rest is manual: the message names the release, and the advice shows the '
        "parameters as they are now. Calls with `**options` are judged by what is written out."
    ),
    targets=tuple(sorted(changed_parameters())),
    severity=Severity.ERROR,
    sources=(
        "src/torchlift/api_changes/data/arguments.json and companions_arguments.json, written by scripts/api_table.py from the wheels, with the file and line of each definition",
    ),
)

# What the parameter did in the end, where that is nothing: dropping it changes nothing but what is printed.
_WITHOUT_EFFECT = {
    "verbose": 'It only printed each change of the learning rate: print `scheduler.get_last_lr()` where that is wanted (`optimizer.param_groups[0]["lr"]` for '
    "`ReduceLROnPlateau` of before torch 2.2).",
}
_SCHEDULERS = "torch.optim.lr_scheduler."
_LOGS = (
    "It is part of `logs_specs=` now: `torch.distributed.elastic.multiprocessing.DefaultLogsSpecs(log_dir=..., redirects=..., "
    "tee=...)`, which exists since torch 2.3."
)
_AGENT = "It belongs to the agent now: `LocalElasticAgent(..., logs_specs=DefaultLogsSpecs(redirects=..., tee=...))`, since torch 2.3."
# What took a parameter's place, read in the wheels of the release that dropped it.
_USE_CUDA = ("torch.autograd.profiler.profile", "use_cuda")
_INSTEAD = {
    _USE_CUDA: 'Write `use_device="cuda"` where it is true and `use_device=None` where it is not; it exists since torch 2.1.',
    ("torch.distributed.launcher.api.LaunchConfig", "log_dir"): _LOGS,
    ("torch.distributed.launcher.LaunchConfig", "log_dir"): _LOGS,
    ("torch.distributed.elastic.multiprocessing.start_processes", "log_dir"): _LOGS,
    **{
        (f"torch.distributed.elastic.agent.server.{module}WorkerSpec", name): _AGENT
        for module in ("", "api.")
        for name in ("redirects", "tee")
    },
    ("torch.distributed.tensor.parallel.parallelize_module", "tp_mesh_dim"): (
        "Pass the dimension of the mesh itself: `device_mesh['tp']`, by the name that `init_device_mesh` gave it."
    ),
}


# Parameters that mean what they meant, by the sources of the releases before and after.
_ONLY_RENAMED = {
    ("torchvision.utils.make_grid", "range"),
    ("torch.nested.as_nested_tensor", "tensor_list"),
}


def gives_way(names: tuple[str, ...]) -> tuple[str, ...]:
    found: set[str] = set()
    for name in names:
        package, _, last = name.rpartition(".")
        rows = changed_parameters()[name]
        imported = (f"import {last}", f", {last}")
        written = (f"torch.{last}", *imported) if package == "torch" and is_common(last) else (last,)
        asked = {row.parameter for row in rows if row.change in _NAMED}
        found |= {f"{text} & {parameter}=" for parameter in asked for text in written}
        if package.rpartition(".")[2] not in _COMMON:
            found |= set(triggers([name]))
    return tuple(sorted(found))


def changed_in(target: str) -> TorchVersion | None:
    return changed_parameters()[target][-1].since


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.name != use.target:
        return
    call = use.call
    if use.kind != "call" or call is None or use.wrapper is not None or not use.certain:
        return
    found = _first_broken(use.target, call, context.settings)
    if found is not None and _callable(use, context):
        row, message, named = found
        if not asks_for(context.view, call, row.parameter) and not reads_signature(context.view, call, use.target):
            yield _finding(row, call, use, context, message, named)


def matters(target: str, call: ast.Call, settings: Settings) -> bool:
    return _first_broken(target, call, settings) is not None


def _first_broken(target: str, call: ast.Call, settings: Settings) -> tuple[ChangedParameter, str, bool] | None:
    """The first change between the releases that the call does not survive, what it does, and whether it names it."""
    gone = gone_names().get(target)
    if gone is not None and gone.since <= settings.target:
        return None
    for row in changed_parameters()[target]:
        if row.since > settings.target:
            break
        if row.change == "order" and row.since <= settings.min_torch:
            continue  # what runs on the oldest torch of the project was written for the order that it has
        found = _broken(row, call)
        if found is not None:
            return row, *found
    return None


def _callable(use: Use, context: Context) -> bool:
    return is_plain_use(use, context) or isinstance(use.node, ast.Name)


def _finding(row: ChangedParameter, call: ast.Call, use: Use, context: Context, message: str, named: bool) -> Finding:
    view = context.view
    fix = None
    advice: str | None = None
    if row.change == "removed" and row.name.startswith(_SCHEDULERS) and row.parameter in _WITHOUT_EFFECT:
        advice = _WITHOUT_EFFECT[row.parameter]
        keyword = next((item for item in call.keywords if item.arg == row.parameter), None)
        if named and keyword is not None and isinstance(keyword.value, ast.Constant):
            advice = f"Needs review: {advice}" if keyword.value.value else advice
            # With False it never did anything, in no release.
            safety = Safety.UNSAFE if keyword.value.value else Safety.SAFE
            fix = Fix(f"Drop `{row.parameter}`", safety, (EditCall(view.span(call), drop=(row.parameter,)),))
    elif row.change == "renamed":
        advice = f"Write `{row.renamed}=`."
        if named and (row.name, row.parameter) in _ONLY_RENAMED:
            edit = EditCall(view.span(call), rename=((row.parameter, row.renamed),))
            advice, fix = None, Fix(f"Write `{row.renamed}=`", Safety.SAFE, (edit,), row.since)
    elif (row.name, row.parameter) in _INSTEAD:
        value = next((item.value for item in call.keywords if item.arg == row.parameter), None)
        advice = _INSTEAD[row.name, row.parameter]
        if (row.name, row.parameter) == _USE_CUDA and isinstance(value, ast.Constant):
            advice, fix = _without_use_cuda(view.span(call), bool(value.value))
    elif row.after:
        advice = f"Its parameters in {row.release}: `{row.after}`."
    if row.change == "order":  # only the author knows for which order the call was written
        advice = f"Pass it by name, which means the same in both. {advice}"
        return Finding("TL404", view.path, view.span(call), message, Severity.WARNING, advice)
    return Finding("TL404", view.path, view.span(call), message, Severity.ERROR, advice, fix)


def _without_use_cuda(call: Span, was: bool) -> tuple[str | None, Fix]:
    """How a profiler is made that was told whether to watch CUDA, and what has to be said about it."""
    if not was:  # the default of every release that has the parameter
        return None, Fix("Drop `use_cuda`", Safety.SAFE, (EditCall(call, drop=("use_cuda",)),))
    edit = EditCall(call, drop=("use_cuda",), add=(("use_device", Template('"cuda"')),))
    review = "Needs review: `use_device` exists since torch 2.1, and was tried with torch 2.13."
    return review, Fix('Say `use_device="cuda"`', Safety.UNSAFE, (edit,), TorchVersion(2, 1))


def _broken(row: ChangedParameter, call: ast.Call) -> tuple[str, bool] | None:
    """What the call does that no longer works, and whether it names the parameter."""
    named = any(keyword.arg == row.parameter for keyword in call.keywords)
    if named and row.change in _NAMED:
        what = {
            "removed": "has no parameter `{0}` any more",
            "renamed": "calls its parameter `{0}` `{1}`",
            "positional-only": "takes `{0}` by position only",
        }[row.change].format(row.parameter, row.renamed)
        return f"Since {row.release} `{row.name}` {what}.", True
    if not row.before or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    before = [argument.arg for argument in (*parameters(row.before).posonlyargs, *parameters(row.before).args)]
    after = [argument.arg for argument in (*parameters(row.after).posonlyargs, *parameters(row.after).args)]
    given = len(call.args)
    if given > len(before):
        return None
    if row.change == "keyword-only" and row.parameter in before[:given]:
        return f"Since {row.release} `{row.name}` takes `{row.parameter}` by name only.", False
    if row.change == "removed" and row.parameter in before[:given]:
        return (
            f"Since {row.release} `{row.name}` has no parameter `{row.parameter}` any more, and this call passes it by position.",
            False,
        )
    if row.change == "order":
        moved = [name for index, name in enumerate(before[:given]) if name in after and after.index(name) != index]
        if moved:
            place = before.index(moved[0])
            now = after[place] if place < len(after) else "nothing"
            if last_name(call.args[place]) == now:
                return None
            return (
                f"{row.release.opening} changed the order of the parameters of `{row.name}`: what is passed by position here was "
                f"`{moved[0]}` and is `{now}` now.",
                False,
            )
    if row.change in {"required", "added-required"} and not any(keyword.arg is None for keyword in call.keywords):
        keywords = {keyword.arg for keyword in call.keywords}
        if row.parameter not in keywords and row.parameter not in after[:given]:
            return f"Since {row.release} `{row.name}` needs the argument `{row.parameter}`.", False
    return None


EXAMPLES = (
    Bad(
        "from torch.optim.lr_scheduler import ReduceLROnPlateau\n\n\ndef plan(optimizer):\n"
        "    return ReduceLROnPlateau(optimizer, 'min', verbose=True, patience=3)\n",
        "from torch.optim.lr_scheduler import ReduceLROnPlateau\n\n\ndef plan(optimizer):\n"
        "    return ReduceLROnPlateau(optimizer, 'min', patience=3)\n",
        safety="unsafe",
        why="a scheduler that printed",
    ),
    Bad(
        "from torch.optim import lr_scheduler\n\n\ndef plan(optimizer):\n"
        "    return lr_scheduler.StepLR(optimizer, step_size=2, verbose=False)\n",
        "from torch.optim import lr_scheduler\n\n\ndef plan(optimizer):\n"
        "    return lr_scheduler.StepLR(optimizer, step_size=2)\n",
        why="a scheduler that was told not to print",
        # The class of torch 2.6 took it and did nothing with it.
        run=(
            "import torch\n\nstep = lr_scheduler.StepLR\n"
            "lr_scheduler.StepLR = lambda optimizer, step_size, verbose=False: step(optimizer, step_size)\n"
            "optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=1.0)\n"
            "scheduler, result = plan(optimizer), []\n"
            "for _ in range(5):\n    optimizer.step()\n    scheduler.step()\n    result.append(scheduler.get_last_lr())"
        ),
    ),
    Bad(
        "import torch\n\n\ndef nest(parts):\n    return torch.nested.as_nested_tensor(tensor_list=parts)\n",
        "import torch\n\n\ndef nest(parts):\n    return torch.nested.as_nested_tensor(ts=parts)\n",
        why="a parameter of another name",
        # The function of torch 2.3 did the same with the old name.
        run=(
            "new = torch.nested.as_nested_tensor\n"
            "torch.nested.as_nested_tensor = lambda ts=None, tensor_list=None: new(tensor_list if ts is None else ts)\n"
            "result = nest([torch.ones(2), torch.zeros(3)]).unbind()"
        ),
    ),
    Bad(
        "from torch.optim import lr_scheduler\n\n\ndef plan(optimizer, talk):\n"
        "    return lr_scheduler.StepLR(optimizer, 10, 0.1, -1, talk)\n",
        why="a removed parameter by position",
    ),
    Bad(
        "import torch\n\n\ndef plan(optimizer, talk):\n"
        "    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, verbose=talk)\n",
        why="a value that is known at run time only",
    ),
    Bad(
        "import torch\n\n\ndef watch(run, on):\n    with torch.autograd.profiler.profile(enabled=on, use_cuda=False) as seen:\n"
        "        run()\n    return seen\n",
        "import torch\n\n\ndef watch(run, on):\n    with torch.autograd.profiler.profile(enabled=on) as seen:\n"
        "        run()\n    return seen\n",
        why="a profiler that was told to leave CUDA alone",
        run="result = [event.key for event in watch(lambda: torch.ones(2), True).key_averages()]",
    ),
    Bad(
        "import torch\n\n\ndef watch(run):\n    with torch.autograd.profiler.profile(use_cuda=True) as seen:\n"
        "        run()\n    return seen\n",
        'import torch\n\n\ndef watch(run):\n    with torch.autograd.profiler.profile(use_device="cuda") as seen:\n'
        "        run()\n    return seen\n",
        safety="unsafe",
        why="a profiler that watches CUDA",
        run="result = [event.key for event in watch(lambda: torch.ones(2)).key_averages()]",
    ),
    Bad(
        "import torch\n\n\ndef watch(cuda):\n    return torch.autograd.profiler.profile(use_cuda=cuda)\n",
        why="a switch that may be off",
    ),
    Bad(
        "from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module\n\n\ndef split(model, mesh):\n"
        "    return parallelize_module(model, mesh, {'first': ColwiseParallel()}, tp_mesh_dim=1)\n",
        why="a removed keyword",
    ),
    Bad(
        "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n\n\ndef save(model, optimizer, states):\n"
        "    return FSDP.optim_state_dict(model, optimizer, states)\n",
        why="an order that changed, in a project that still runs on the release before",
        min_torch=TorchVersion(2, 0),
    ),
    Ok(
        "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n\n\ndef save(model, optimizer, states):\n"
        "    return FSDP.optim_state_dict(model, optimizer, states)\n",
        "an order that changed before the oldest torch of the project",
    ),
    Ok(
        "import inspect\nimport torch\n\n\ndef pool(allocator):\n"
        "    if 'symmetric' in inspect.signature(torch.cuda.MemPool).parameters:\n"
        "        return torch.cuda.MemPool(allocator, symmetric=True)\n    return torch.cuda.MemPool(allocator)\n",
        "code that looks for the parameter first",
    ),
    Ok(
        "import inspect\nfrom torch.distributed.tensor.parallel import ColwiseParallel\n\n\ndef split(output):\n"
        "    known = inspect.signature(ColwiseParallel)\n    if 'use_local_output' in known.parameters:\n"
        "        return ColwiseParallel(use_local_output=True)\n    return ColwiseParallel(_prepare_output=output)\n",
        "code that leaves where another parameter is there",
    ),
    Ok(
        "from torch.optim.lr_scheduler import StepLR\n\n\ndef plan(optimizer):\n    return StepLR(optimizer, 10, 0.1, -1)\n",
        "all that is passed is still there",
    ),
    Ok(
        "from torch.optim.lr_scheduler import StepLR\n\n\ndef plan(optimizer, *args, **options):\n"
        "    return StepLR(optimizer, *args, **options)\n",
        "arguments that cannot be seen",
    ),
    Ok(
        "from mylib.schedulers import StepLR\n\n\ndef plan(optimizer):\n    return StepLR(optimizer, 10, verbose=True)\n",
        "another library's class",
    ),
    Ok(
        "from torch.optim.lr_scheduler import StepLR\n\n\nclass Loud(StepLR):\n    def __init__(self, optimizer, verbose):\n"
        "        super().__init__(optimizer, 10)\n        self.verbose = verbose\n\n\ndef plan(optimizer):\n"
        "    return Loud(optimizer, verbose=True)\n",
        "a class of one's own that takes it",
    ),
    Ok(
        "import torch\nfrom packaging.version import Version\nfrom torch.optim.lr_scheduler import StepLR\n\n\ndef plan(optimizer):\n"
        "    if Version(torch.__version__) < Version('2.2'):\n        return StepLR(optimizer, 10, verbose=True)\n"
        "    return StepLR(optimizer, 10)\n",
        "under a test of the version",
    ),
)
