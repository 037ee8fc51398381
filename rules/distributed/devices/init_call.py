"""One call of `init_process_group`: its arguments by name and which backend it asks for, under which condition."""

from __future__ import annotations

import ast

from torchlift.lazy_dataclass import dataclass
from torchlift.rules.analysis.places.order import run_before
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.groups.backends import INIT_PARAMETERS, Backend, backend_of
from torchlift.view import ModuleView


@dataclass(frozen=True)
class NcclWhen:
    """A choice between NCCL and a backend that must not get a `device_id`.

    Attributes:
        test: the tested expression.
        holds: NCCL is taken where the truth of `test` is this.
        variable: the local name that holds the chosen backend; None where the choice stands in the call itself.
        nccl: the backend that stands for NCCL, as written.
    """

    test: ast.expr
    holds: bool
    variable: str | None
    nccl: str


@dataclass(frozen=True)
class InitCall:
    """What a call asks for.

    Attributes:
        call: the call.
        arguments: by parameter name, with those of a dict that is spread into the call.
        backend: `nccl` also where `when` says that it depends.
        single: whether the group has one process for sure.
        when: the choice, where the backend is one of two constants.
    """

    call: ast.Call
    arguments: dict[str, ast.expr]
    backend: Backend
    single: bool
    when: NcclWhen | None = None


def read_init_call(view: ModuleView, call: ast.Call) -> InitCall | None:
    """Read a call; None where it has a `device_id`, or may get one through `*` or `**`."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    arguments: dict[str, ast.expr] = dict(zip(INIT_PARAMETERS, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is not None:
            arguments[keyword.arg] = keyword.value
            continue
        spread = _keywords_of(view, keyword.value)
        if spread is None:
            return None
        arguments.update(spread)
    if "device_id" in arguments:
        return None
    node = arguments.get("backend")
    backend = backend_of(view, node)
    single = _is_alone(view, call, arguments)
    if backend != "unknown" or node is None:
        return InitCall(call, arguments, backend, single)
    when = _choice(view, node)
    return InitCall(call, arguments, "nccl" if when is not None else "unknown", single, when)


def _is_alone(view: ModuleView, call: ast.Call, arguments: dict[str, ast.expr]) -> bool:
    """Whether the size is written as 1, in the call or into the environment right in front of it."""
    size = arguments.get("world_size")
    if size is not None or "store" in arguments:
        return isinstance(size, ast.Constant) and size.value == 1
    for statement in run_before(view, call):
        match statement:
            case ast.Assign(
                targets=[ast.Subscript(value=environment, slice=ast.Constant(value="WORLD_SIZE"))],
                value=ast.Constant(value=value),
            ) if view.possible_name(environment) == "os.environ":
                return bool(value == "1")
    return False


def _choice(view: ModuleView, node: ast.expr) -> NcclWhen | None:
    variable = None
    value = assigned_value(view, node)
    if isinstance(node, ast.Name) and value is not None:
        variable, node = node.id, value
    if not isinstance(node, ast.IfExp):
        return None
    chosen = [(branch, backend_of(view, branch)) for branch in (node.body, node.orelse)]
    if {backend for _, backend in chosen} != {"nccl", "other"}:
        return None
    branch = next(branch for branch, backend in chosen if backend == "nccl")
    if not isinstance(branch, ast.Constant):
        return None
    return NcclWhen(node.test, branch is node.body, variable, view.text(branch))


def _keywords_of(view: ModuleView, node: ast.expr) -> dict[str, ast.expr] | None:
    """Items of a dict that is spread into a call; None unless every one of them is known."""
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        if binding is None or binding.kind != "assign" or binding.value is None:
            return None
        if not all(_keeps_keys(view, read) for read, _ in view.reads_of(binding)):
            return None
        stored = {
            key
            for read, _ in view.reads_of(binding)
            if isinstance(subscript := view.parent(read), ast.Subscript)
            and isinstance(subscript.ctx, ast.Store)
            and isinstance(subscript.slice, ast.Constant)
            and isinstance(key := subscript.slice.value, str)
        }
        if stored & {"device_id", "backend"}:
            return None
        if isinstance(binding.statement, ast.Assign) and len(binding.statement.targets) > 1:
            return None  # another name for the same dict
        node = binding.value
    if isinstance(node, ast.Dict):
        if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
            return None
        return {
            str(key.value): value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        }
    match node:
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            if view.scope_at(node).lookup("dict") is not None or not all(keyword.arg for keyword in keywords):
                return None
            return {str(keyword.arg): keyword.value for keyword in keywords}
    return None


def _keeps_keys(view: ModuleView, read: ast.Name) -> bool:
    """Whether a read of the dict adds no key but a constant one."""
    parent = view.parent(read)
    if isinstance(parent, ast.keyword):
        return parent.arg is None
    return isinstance(parent, ast.Subscript) and parent.value is read and isinstance(parent.slice, ast.Constant)
