"""NCCL environment variables that are set too late, or that the engine of torch 2.15 does not read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.places.order import run_before
from torchlift.rules.analysis.project.environment_stores import TARGETS, Store, stores
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.distributed.facts.nccl_environment import (
    ENVIRONMENT_VARIABLES,
    nccl_variable,
    read_when_the_group_is_made,
)
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, INIT_PARAMETERS, backend_of, may_use_nccl
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use

_WORDS = tuple(v.name for v in ENVIRONMENT_VARIABLES if v.matters and v.status != "torchcomms")

RULE = Rule(
    code="TL242",
    name="nccl-environment",
    summary="An NCCL environment variable that is set too late, or not read any more",
    why=(
        'Up to torch 2.14 an NCCL communicator was made at the first collective. Since 2.15 "nccl" makes it inside '
        "`init_process_group`, so variables set afterwards come too late (this follows from the eager creation and was not "
        "run on hardware). The new engine also does not read every variable of the old one: `TORCH_NCCL_NAN_CHECK` became "
        "`TORCH_DIST_NAN_CHECK`, `TORCH_NCCL_AVOID_RECORD_STREAMS` is gone, and nothing in its headers belongs to the "
        "variables of the heartbeat monitor and the desync debugger."
    ),
    fix="Manual: where processes get their environment is the program's decision.",
    targets=TARGETS,
    triggers=(
        *(f"{word} & environ" for word in _WORDS),
        *(f"{word} & putenv" for word in _WORDS),
        "init_process_group & NCCL_",
    ),
    collectors=(BACKENDS,),
    sources=(
        "https://github.com/pytorch/pytorch/pull/192895 (eager), https://github.com/pytorch/pytorch/pull/192280 (variables)",
        "https://github.com/pytorch/pytorch/pull/194701 (TORCH_NCCL_AVOID_RECORD_STREAMS was ignored before it went)",
        "libtorch_cuda.so of torch 2.14.1 and 2.15.0; torch/distributed/distributed_c10d.py of 2.15.0, line 3188",
    ),
)

_INIT = frozenset({"torch.distributed.init_process_group"})
_CREATES = _INIT | {"torch.distributed.destroy_process_group"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view = context.view
    for store in stores(view, use):
        early = (
            context.settings.target >= NEW_ENGINE and read_when_the_group_is_made(store.name) and not store.for_child
        )
        variable = nccl_variable(store.name)
        unread = variable is not None and variable.status == "gone" and variable.since <= context.settings.target
        late = _created_before(view, store.node) if early and not unread else None
        if late is not None and may_use_nccl(context.project):
            yield _too_late(view, store, late)
            continue
        # The torchcomms flag has a rule of its own (TL243).
        if variable is None or not variable.matters or variable.status == "torchcomms":
            continue
        if variable.since > context.settings.target or not may_use_nccl(context.project):
            continue
        value = store.value.value if isinstance(store.value, ast.Constant) else None
        if value == "" or (value == "0" and not variable.off):
            continue  # as if it were not set
        if variable.status == "replaced" and "TORCH_DIST_NAN_CHECK" in view.source.text:
            continue
        span = view.span(store.node)
        yield Finding("TL242", view.path, span, variable.fact, Severity.INFO, variable.advice_for(value) or None)


def _too_late(view: ModuleView, store: Store, call: ast.Call) -> Finding:
    message = (
        f"`{store.name}` is set after `init_process_group` (line {call.lineno}): since torch 2.15 the NCCL communicator is "
        "made inside that call, not at the first collective, and has read its configuration by then."
    )
    advice = "Set it before `init_process_group`, or where the processes are started."
    return Finding("TL242", view.path, view.span(store.node), message, Severity.WARNING, advice)


def _created_before(view: ModuleView, node: ast.expr) -> ast.Call | None:
    """The `init_process_group` that surely ran before `node` in the same function, with none to come afterwards."""
    statement = view.statement(node)
    function = next((a for a in view.ancestors(node) if isinstance(a, _FUNCTIONS)), None)
    inits = [use.call for use in view.uses(_CREATES) if use.call is not None and use.kind == "call"]
    here = [c for c in inits if next((a for a in view.ancestors(c) if isinstance(a, _FUNCTIONS)), None) is function]
    if any(call.lineno > statement.lineno or view.possible_name(call.func) not in _INIT for call in here):
        return None
    if any(isinstance(ancestor, (ast.For, ast.While, ast.AsyncFor)) for ancestor in view.ancestors(node)):
        return None
    before = set(run_before(view, node))
    call = next((call for call in here if view.statement(call) in before), None)
    arguments = named_arguments(call, INIT_PARAMETERS) if call is not None else None
    return None if arguments is not None and backend_of(view, arguments.get("backend")) == "other" else call


EXAMPLES = (
    Bad(
        'import os\n\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
        'os.environ["NCCL_DEBUG"] = "INFO"\n',
        why="set after the group was made",
    ),
    Bad(
        "from os import environ as env\n\nfrom torch.distributed import init_process_group as start\n\n\n"
        "def setup(backend, quiet):\n    start(backend=backend)\n    if not quiet:\n"
        '        env.setdefault("TORCH_NCCL_BLOCKING_WAIT", "1")\n',
        why="setdefault in a branch, other import names",
    ),
    Bad('import os\n\nos.environ["TORCH_NCCL_AVOID_RECORD_STREAMS"] = "1"\n', why="not read any more"),
    Bad(
        'import os\n\nos.environ["TORCH_NCCL_AVOID_RECORD_STREAMS"] = "0"\n',
        why="not read any more, and asks for what torch does not do any more",
    ),
    Bad(
        'import os\n\nos.environ.update({"TORCH_NCCL_NAN_CHECK": "1"}, TORCH_NCCL_ENABLE_MONITORING="1")\n',
        why="update",
    ),
    Bad(
        'import os\n\nNAME = "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"\nos.putenv(NAME, "1200")\n',
        why="putenv, through a name",
    ),
    Bad(
        'import os\nimport subprocess\n\nenv = os.environ.copy()\nenv["TORCH_NCCL_NAN_CHECK"] = "1"\n'
        'subprocess.run(["python", "train.py"], env=env)\n',
        why="in the environment of a child process",
    ),
    Bad(
        "import os\nimport subprocess\n\n\ndef start(command):\n"
        '    subprocess.Popen(command, env={**os.environ, "TORCH_NCCL_NAN_CHECK": "1"})\n'
        '    subprocess.Popen(command, env=dict(os.environ, TORCH_NCCL_ENABLE_MONITORING="1"))\n',
        why="in a copy made for the call",
    ),
    Ok(
        'import os\n\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
        'env = dict(os.environ)\nenv["NCCL_DEBUG"] = "INFO"\n',
        "a child process makes its own group",
    ),
    Ok(
        'import os\n\nimport torch.distributed as dist\n\nos.environ["NCCL_DEBUG"] = "INFO"\n'
        'dist.init_process_group("nccl")\n',
        "set before",
    ),
    Ok(
        'import os\n\nimport torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
        'os.environ["NCCL_DEBUG"] = "INFO"\nos.environ["TORCH_NCCL_NAN_CHECK"] = "1"\n',
        "a gloo project",
    ),
    Ok(
        "import os\n\nimport torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group('nccl')\n\n\n"
        'def other():\n    os.environ["NCCL_DEBUG"] = "INFO"\n',
        "another function",
    ),
    Ok(
        'import os\n\nwait = os.environ.get("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "600")\n'
        'os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"\n',
        "reads one, sets one that is honoured",
    ),
    Ok(
        'import os\n\nos.environ["TORCH_NCCL_NAN_CHECK"] = "1"\nos.environ["TORCH_DIST_NAN_CHECK"] = "1"\n',
        "both names are set",
    ),
    Ok(
        'import os\n\nos.environ["TORCH_NCCL_ENABLE_MONITORING"] = "0"\nos.environ["TORCH_NCCL_AVOID_RECORD_STREAMS"] = ""\n',
        "switched off, or empty",
    ),
    Ok('os = {}\nos["environ"] = {"TORCH_NCCL_NAN_CHECK": "1"}\n', "own dictionary"),
    Ok(
        "import os\n\nimport torch.distributed as dist\n\n\ndef again():\n    dist.init_process_group('nccl')\n"
        "    dist.destroy_process_group()\n"
        '    os.environ["NCCL_DEBUG"] = "INFO"\n    dist.init_process_group("nccl")\n',
        "for the next group",
    ),
)
