"""What NVIDIA's apex no longer has, because torch has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.order import leaves
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.guards import is_dead
from torchlift.view.handlers import tried_around

_AMP = (
    '`torch.amp`: the forward pass under `with torch.amp.autocast("cuda"):`, the backward pass by `torch.amp.GradScaler("cuda")`: '
    "`scaler.scale(loss).backward()`, `scaler.step(optimizer)`, `scaler.update()`. Level O1 is that; O2 and O3, which "
    "keep the model in half precision, have no counterpart."
)
_ADVICE = {
    "apex.amp": f"Write {_AMP}",
    "apex.amp.initialize": f"It goes, and so does its `opt_level`: write {_AMP}",
    "apex.amp.scale_loss": "Write `scaler.scale(loss).backward()`, then `scaler.step(optimizer)` and `scaler.update()`, with one "
    '`scaler = torch.amp.GradScaler("cuda")`.',
    "apex.amp.master_params": "Write `model.parameters()`, after `scaler.unscale_(optimizer)` where gradients are clipped.",
    "apex.amp.state_dict": "Save `scaler.state_dict()` of the `torch.amp.GradScaler`.",
    "apex.amp.load_state_dict": "Load the state of the `torch.amp.GradScaler`, which has other keys than that of apex.",
    "apex.amp.half_function": "Write `@torch.amp.custom_fwd` for a function of autograd, or call it under `torch.amp.autocast`.",
    "apex.amp.float_function": 'Call it under `torch.amp.autocast("cuda", enabled=False)` with `.float()` inputs.',
    "apex.parallel.DistributedDataParallel": "Write `torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])`; "
    "`bucket_cap_mb` is what `message_size` was, in MiB; `delay_allreduce` and `gradient_average` have no counterpart, and "
    "gradients are averaged.",
    "apex.parallel.Reducer": "`torch.nn.parallel.DistributedDataParallel` reduces gradients itself; by hand it is "
    "`torch.distributed.all_reduce`.",
    "apex.RNN": "Take the modules of `torch.nn`: `LSTM`, `GRU`, `RNN`.",
    "apex.reparameterization": "Take `torch.nn.utils.parametrizations.weight_norm`.",
}

# Packages of which everything is gone.
_WHOLE = frozenset({"apex.amp", "apex.RNN", "apex.reparameterization"})

RULE = Rule(
    code="TL448",
    name="apex",
    summary="Parts of NVIDIA's apex that were taken out because torch has them: amp, DistributedDataParallel, RNN",
    why=(
        "apex is built from source against the torch that is installed, so a new torch means a new apex. Its `amp`, its "
        "`DistributedDataParallel` and its `RNN` said for years that torch's own take their place; a change begun in April 2025 took "
        "them out (`reparameterization` went in 2022), and the import fails."
    ),
    fix="Manual: torch's own parts are called in other places than apex's. The advice says which.",
    targets=tuple(_ADVICE),
    triggers=("apex",),
    sees_guarded=True,
    sources=(
        "https://github.com/NVIDIA/apex/pull/1896 (amp, DistributedDataParallel, RNN; opened 2025-04-17, merged), read 2026-11-26",
        "https://github.com/NVIDIA/apex/pull/1404 (reparameterization; opened 2022-06-16, merged), read 2026-11-26",
        "https://github.com/NVIDIA/apex/issues/1214: the maintainers send to torch's amp",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    if use.kind in {"string", "store", "delete"} or not use.certain:
        return
    if is_dead(view, use.node, context.settings.min_torch, context.project.binding):
        return
    imported = isinstance(view.statement(use.node), (ast.Import, ast.ImportFrom))
    whole = use.target in _WHOLE
    if use.name != use.target and not whole:
        return
    if use.target == "apex.amp" and use.name == use.target and not imported:
        return  # what is called of it is reported
    if not imported and use.kind != "call" and (use.name == use.target or use.target != "apex.amp"):
        return
    message = f"`{use.name}` was taken out of apex."
    optional = _goes_on_without(view, use.node)
    severity = Severity.INFO if optional else Severity.WARNING
    silent = "Where it is missing the `try` here goes on. " if optional else ""
    yield Finding("TL448", view.path, view.span(use.node), message, severity, silent + _ADVICE[use.target])


def _goes_on_without(view: ModuleView, node: ast.AST) -> bool:
    """Whether a `try` around it catches that it is gone, and does not end the program, the function or the loop then."""
    around = next(tried_around(view, node), None)
    handlers = around.handlers if around is not None else []
    return bool(handlers) and not any(leaves(one.body) or _ends(view, one.body) for one in handlers)


def _ends(view: ModuleView, block: list[ast.stmt]) -> bool:
    """Whether the last statement of a block ends the program."""
    last = block[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    return isinstance(call, ast.Call) and view.text(call.func) in {"sys.exit", "exit", "quit", "os._exit"}


EXAMPLES = (
    Bad(
        "import torch\nfrom apex import amp\n\n\ndef prepare(model, optimizer):\n"
        '    return amp.initialize(model, optimizer, opt_level="O1")\n',
        why="mixed precision",
    ),
    Bad(
        "from apex import amp\n\n\ndef back(loss, optimizer):\n    with amp.scale_loss(loss, optimizer) as scaled:\n        scaled.backward()\n",
        why="the scaled loss, in a file that names no torch",
    ),
    Bad(
        "import torch\nfrom apex.parallel import DistributedDataParallel as DDP\n\n\ndef wrap(model):\n    return DDP(model, delay_allreduce=True)\n",
        why="the wrapper of modules",
    ),
    Bad("try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n", why="what is used where it is there"),
    Bad(
        "try:\n    from apex import amp\nexcept ImportError:\n    raise ImportError('install apex')\n",
        why="what says that it is missing",
    ),
    Bad("from apex import amp\n\nhandle = amp.init(enabled=True)\n", why="the interface before `initialize`"),
    Bad("import apex\n\nscalers = apex.amp._amp_state.loss_scalers\n", why="what only the whole package has"),
    Ok("import torch\n\n\ndef f(apex):\n    return apex.amp.initialize(apex)\n", "a parameter of that name"),
    Ok(
        "import torch\nfrom apex.optimizers import FusedAdam\n\n\ndef f(p):\n    return FusedAdam(p)\n",
        "what apex still has",
    ),
    Ok("import torch\nfrom mylib import amp\n\namp.initialize(1, 2)\n", "another amp"),
)
