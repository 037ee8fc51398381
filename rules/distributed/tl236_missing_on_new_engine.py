"""Attributes of the old NCCL backend object that the one of torch 2.15 does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.rules.analysis.values.value_of import stored_value
from torchlift.rules.distributed.facts.missing_attributes import MISSING
from torchlift.rules.distributed.facts.nccl_environment import ESCAPE
from torchlift.rules.distributed.facts.new_engine import NEW_ENGINE
from torchlift.rules.distributed.groups.backends import BACKENDS, may_use_nccl, named_backends
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.view import ModuleView, Use
from torchlift.view.handlers import ABSENT_NAME, may_be_for, tried_around
from torchlift.view.walk import walk

_MISSING_LAZY = {
    "register_mem_pool": 'A group of the plain "nccl" backend has it.',
    "deregister_mem_pool": 'A group of the plain "nccl" backend has it.',
}

RULE = Rule(
    code="TL236",
    name="missing-on-new-nccl-engine",
    summary="An attribute of the backend object that the NCCL engine of torch 2.15 does not have",
    why=(
        '`group._get_backend(device)` returns the object of the engine. The `ProcessGroupNCCL2` that "nccl" means since '
        "torch 2.15 lacks `_group_start`, `_group_end`, `_is_initialized`, `_set_default_timeout`, `_set_enable_nan_check`, "
        '`comm_split_count`, `uid`, `NCCLConfig` and the NCCL version functions; "nccl-lazy" also lacks '
        "`register_mem_pool` and `deregister_mem_pool`."
    ),
    fix="Manual; the message names what takes the place of the attribute, where something does.",
    since=NEW_ENGINE,
    targets=tuple(f"*.{name}" for name in (*MISSING, *_MISSING_LAZY)),
    severity=Severity.ERROR,
    triggers=tuple(
        f"{name} & {call}" for name in (*MISSING, *_MISSING_LAZY) for call in ("_get_backend", "get_backend_impl")
    ),
    collectors=(BACKENDS,),
    sources=(
        "dir(ProcessGroupNCCL), dir(ProcessGroupNCCL2), dir(ProcessGroupNCCLLazy) on the torch 2.15.0 wheel; measured",
        "https://github.com/pytorch/pytorch/pull/192281 (nccl2 is the default)",
    ),
)


def check(use: Use, context: Context) -> Iterator[Finding]:
    view, project = context.view, context.project
    node = use.node
    if not isinstance(node, ast.Attribute) or use.kind in {"store", "delete"}:
        return
    if not may_use_nccl(project) and "nccl-lazy" not in named_backends(project):
        return
    backend = _backend_object(view, node.value)
    if backend is None or _is_asked_first(view, node):
        return
    device = backend.args[0] if backend.args else next((k.value for k in backend.keywords if k.arg == "device"), None)
    named = "cuda" if device is not None and "cuda" in view.text(device) else ""
    if device is not None and any(other in view.text(device) for other in ("cpu", "xpu", "hpu", "npu")):
        return
    name = node.attr
    span = view.span(node)
    if name in _MISSING_LAZY:
        if "nccl-lazy" in named_backends(project):
            message = f'The backend object of "nccl-lazy" has no `{name}`.'
            yield Finding("TL236", view.path, span, message, Severity.WARNING, _MISSING_LAZY[name])
        return
    message = (
        f'`{name}` belongs to the old NCCL backend. Since torch 2.15 "nccl" makes a `ProcessGroupNCCL2`, which has no such '
        "attribute: AttributeError."
    )
    severity = Severity.ERROR if named else Severity.WARNING
    yield Finding("TL236", view.path, span, message, severity, f"{MISSING[name]} {ESCAPE}")


def _backend_object(view: ModuleView, node: ast.expr) -> ast.Call | None:
    """The call of `_get_backend` or `get_backend_impl` that a value surely comes from."""
    if isinstance(node, ast.Name):
        bindings = view.bindings_of(node, view.scope_at(node))
        values = [binding.value for binding in bindings if binding.kind in {"assign", "walrus"}]
        calls = [call for call in (_made_by(view, value) for value in values) if call is not None]
        return calls[0] if calls and len(calls) == len(bindings) else None
    return _made_by(view, stored_value(view, node) if isinstance(node, ast.Attribute) else node)


def _made_by(view: ModuleView, node: ast.expr | None) -> ast.Call | None:
    if not isinstance(node, ast.Call):
        return None
    if view.possible_name(node.func) == "torch.distributed.get_backend_impl":
        # The device is its second parameter.
        return ast.Call(node.func, node.args[1:2], node.keywords)
    return node if isinstance(node.func, ast.Attribute) and node.func.attr == "_get_backend" else None


def _is_asked_first(view: ModuleView, node: ast.Attribute) -> bool:
    """Whether the code runs only after `hasattr`, `getattr` or `isinstance` was asked of the same value, or where that is caught."""
    if any(may_be_for(handler, ABSENT_NAME) for around in tried_around(view, node) for handler in around.handlers):
        return True
    base = ast.unparse(node.value)
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, (ast.If, ast.IfExp, ast.BoolOp, ast.While)):
            tests = ancestor.values if isinstance(ancestor, ast.BoolOp) else [ancestor.test]
            for call in (call for test in tests for call in walk(test) if isinstance(call, ast.Call)):
                asks = isinstance(call.func, ast.Name) and call.func.id in {"hasattr", "getattr", "isinstance"}
                if asks and call.args and ast.unparse(call.args[0]) == base:
                    return True
    return False


EXAMPLES = (
    Bad(
        'import torch\n\n\ndef lengthen(group, timeout):\n    backend = group._get_backend(torch.device("cuda"))\n'
        "    backend._set_default_timeout(timeout)\n",
        why="through a name",
    ),
    Bad(
        "import torch\n\n\nclass Timeouts:\n    def __init__(self, group):\n"
        '        self.engine = group._get_backend(torch.device("cuda"))\n\n    def lengthen(self, timeout):\n'
        "        self.engine._set_default_timeout(timeout)\n",
        why="through an attribute of an object",
    ),
    Bad(
        "import torch\n\n\ndef grouped(group, device):\n    group._get_backend(device)._group_start()\n",
        why="called on the spot",
    ),
    Bad(
        "import torch.distributed as dist\n\n\ndef number(group, device):\n"
        "    engine = dist.get_backend_impl(group, device)\n    return engine.comm_split_count()\n",
        why="the public function",
    ),
    Bad(
        'import torch.distributed as dist\n\ndist.init_process_group("nccl-lazy")\n\n\ndef pool(group, device, pool):\n'
        "    group._get_backend(device).register_mem_pool(pool)\n",
        why="memory pools on nccl-lazy",
    ),
    Ok(
        "class Engine:\n    def _is_initialized(self): ...\n\n    def _get_backend(self): ...\n\n    def start(self):\n"
        "        return self._is_initialized()\n",
        "own class with the same names",
    ),
    Ok(
        'import torch\n\n\ndef lengthen(group, timeout):\n    group._get_backend(torch.device("cpu"))._set_default_timeout(timeout)\n',
        "the gloo backend of a group has it",
    ),
    Ok(
        "def count(group, device):\n    backend = group._get_backend(device)\n"
        '    return backend.comm_split_count() if hasattr(backend, "comm_split_count") else 0\n',
        "asks whether it is there",
    ),
    Ok(
        "def count(group, device):\n    try:\n        return group._get_backend(device).comm_split_count()\n    except:\n        return 0\n",
        "a handler of any error",
    ),
    Ok(
        "def pool(group, device, pool):\n    group._get_backend(device).register_mem_pool(pool)\n",
        "memory pools on plain nccl",
    ),
    Ok(
        'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
        "dist.group.WORLD._get_backend(device)._set_default_timeout(timeout)\n",
        "a gloo project",
    ),
)
