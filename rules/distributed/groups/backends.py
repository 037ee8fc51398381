"""Which backends a project creates its default process group with.

Source: `torch/distributed/distributed_c10d.py` of the 2.13.0, 2.14.1 and 2.15.0 wheels, read 2026-11-21.
"""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.project import Collector, Project
from torchlift.rules.analysis.places.order import run_before
from torchlift.rules.analysis.project.installable import packaging_of
from torchlift.rules.analysis.values.parameter_values import arguments_everywhere, named_arguments
from torchlift.rules.analysis.values.repeatable import is_unchanged
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.view import ModuleView
from torchlift.view.walk import walk

Backend = Literal["nccl", "other", "absent", "unknown"]
"""`other` is a constant that has no NCCL in it, or one of the NCCL variants that are chosen on purpose."""

INIT_PARAMETERS = (
    "backend", "init_method", "timeout", "world_size", "rank", "store", "group_name", "pg_options", "device_id",
)  # fmt: skip
"""Positional order of `init_process_group`, the same in torch 2.3-2.15."""

_INIT = frozenset({"torch.distributed.init_process_group"})
_ABSENT = ""


def backend_text(view: ModuleView, node: ast.expr | None) -> str | None:
    """The backend that an argument names, as a constant or by a name for one; empty where it is left out, None if unknown."""
    if node is None:
        return _ABSENT
    if isinstance(node, ast.Name):
        node = assigned_value(view, node)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else _ABSENT if node.value is None else None
    if isinstance(node, ast.Attribute) and view.possible_name(node).startswith("torch.distributed.Backend."):
        return node.attr.lower()
    return None


def backend_of(view: ModuleView, node: ast.expr | None) -> Backend:
    """What a `backend` argument says; `node` is None where it is left out."""
    return _kind(backend_text(view, node))


def _kind(text: str | None) -> Backend:
    if not text:
        return "unknown" if text is None else "absent"
    return "nccl" if re.search(r"(?:^|:)nccl(?:$|,)", text.lower()) else "other"


def _collect(view: ModuleView) -> frozenset[str | None] | None:
    """What the calls of a file name, by `backend_text`."""
    backends: set[str | None] = set()
    for use in view.uses(_INIT):
        if use.kind == "call" and use.call is not None:
            backends.add(_asked_for(view, use.call))
        elif use.kind == "reference":
            backends.add(None)
    return frozenset(backends) or None


def _argument(call: ast.Call) -> ast.expr | None:
    """The `backend` argument of a call in which nothing hides it."""
    arguments = named_arguments(call, INIT_PARAMETERS)
    return arguments.get("backend") if arguments is not None else None


def _asked_for(view: ModuleView, call: ast.Call) -> str | None:
    arguments = named_arguments(call, INIT_PARAMETERS)
    if arguments is not None:
        return backend_text(view, arguments.get("backend"))
    # What `**` brings cannot be the backend as well where it is given.
    named = [keyword.value for keyword in call.keywords if keyword.arg == "backend"]
    first = [argument for argument in call.args[:1] if not isinstance(argument, ast.Starred)]
    return backend_text(view, [*named, *first][0]) if named or first else None


BACKENDS = Collector("distributed.backends", ("init_process_group",), _collect)
"""Rules that call one of the functions below list it among their collectors."""


def named_backends(project: Project) -> frozenset[str | None]:
    """Everything that the project names as backend of its default group, in lower case; by `backend_text`.

    Where the backend is a parameter of a function, what the project calls it with counts, if all of its calls are known.
    """
    return project.once(_named_backends)


def _named_backends(project: Project) -> frozenset[str | None]:
    found: set[str | None] = set()
    for path, record in project.records(BACKENDS).items():
        view = project.view(path) if None in record else None
        found |= _with_callers(project, view) if view is not None else record
    return frozenset(name.lower() if name else name for name in found)


def _with_callers(project: Project, view: ModuleView) -> set[str | None]:
    found: set[str | None] = set()
    for use in view.uses(_INIT):
        if use.kind == "call" and use.call is not None:
            node = _argument(use.call)
            given = _callers_give(view, project, node) if node is not None else None
            found.update(given if given else [_asked_for(view, use.call)])
        elif use.kind == "reference":
            found.add(None)
    return found


def _callers_give(view: ModuleView, project: Project, node: ast.expr) -> set[str | None] | None:
    """What a backend that is a parameter is called with, by `backend_text`; None unless all of its calls are known."""
    binding = view.definition(node) if isinstance(node, ast.Name) else None
    parameter = binding.node if binding is not None and isinstance(binding.node, ast.arg) else None
    given = arguments_everywhere(view, project, parameter) if parameter is not None else None
    return {backend_text(home, one) for home, one in given} if given is not None else None


def is_never_nccl(view: ModuleView, project: Project, call: ast.Call, node: ast.expr) -> bool:
    """Whether a backend is tested to be another one than NCCL, or is a parameter for which every caller gives another one.

    Users of a package may call its functions as well.
    """
    if _is_tested_to_be_another(view, call, node) or _is_of_table_of_others(view, project, node):
        return True
    if packaging_of(project, view.path) is not None:
        return False
    given = _callers_give(view, project, node)
    return bool(given) and all(_kind(text) == "other" for text in given or ())


def _is_of_table_of_others(view: ModuleView, project: Project, node: ast.expr) -> bool:
    """Whether a backend is looked up in a dict that is written out, only read and names no NCCL: `{"cpu": "gloo", "qaic": "qccl"}[kind]`."""
    name = node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else ""
    table = assigned_value(view, node.value) if isinstance(node, ast.Subscript) else None
    if not isinstance(table, ast.Dict) or not table.values:
        return False
    uses = [one for one in walk(view.tree) if isinstance(one, ast.Name) and one.id == name]
    if not all(_is_written_or_read(view, one) for one in uses) or project.files_holding(name, whole=True) != [
        view.path
    ]:
        return False
    return all(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and _kind(one.value) == "other"
        for one in table.values
    )


def _is_written_or_read(view: ModuleView, use: ast.Name) -> bool:
    """Whether a dict is written out at a use of its name, or asked for one of its values."""
    parent = view.parent(use)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Load)
    return isinstance(use.ctx, ast.Store) or isinstance(parent, ast.Compare)


def _is_tested_to_be_another(view: ModuleView, call: ast.Call, node: ast.expr) -> bool:
    """Whether tests around `call`, or in front of it, let nothing through but backends that are not NCCL."""
    around = view.choices(call, view.function_of(call))
    tests: list[tuple[ast.stmt | ast.expr, ast.expr, bool]] = [
        (choice.test, choice.test, holds) for choice, holds in around
    ]
    tests += [(before, *held) for before in run_before(view, call) if (held := _held_behind(before)) is not None]
    return any(_leaves_others(test, node, holds) and is_unchanged(view, node, at, call) for at, test, holds in tests)


def _held_behind(statement: ast.stmt) -> tuple[ast.expr, bool] | None:
    """A test of which the truth is known behind a statement: an `assert`, or an `if` that leaves."""
    if isinstance(statement, ast.Assert):
        return statement.test, True
    leaves = (
        isinstance(statement, ast.If)
        and isinstance(statement.body[-1], (ast.Raise, ast.Return))
        and not statement.orelse
    )
    return (statement.test, False) if leaves and isinstance(statement, ast.If) else None


def _leaves_others(test: ast.expr, node: ast.expr, holds: bool) -> bool:
    """Whether a test with that truth lets no NCCL through in `node`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _leaves_others(operand, node, not holds)
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is holds:
            return any(_leaves_others(value, node, holds) for value in values)
        case ast.Compare(left=left, ops=[operator], comparators=[other]) if ast.dump(left) == ast.dump(node):
            if not isinstance(operator, (ast.Eq, ast.In) if holds else (ast.NotEq, ast.NotIn)):
                return False
            named = [other] if isinstance(operator, (ast.Eq, ast.NotEq)) else getattr(other, "elts", [])
            texts = [name.value if isinstance(name, ast.Constant) else None for name in named]
            return bool(texts) and all(isinstance(text, str) and _kind(text) == "other" for text in texts)
    return False


def project_backends(project: Project) -> frozenset[Backend]:
    """What the project's calls of `init_process_group` ask for; empty where it has none."""
    return frozenset(map(_kind, named_backends(project)))


def may_use_nccl(project: Project) -> bool:
    """False if every process group the project creates surely has another backend, such as gloo."""
    backends = project_backends(project)
    return not backends or bool(backends - {"other"})


def surely_uses_nccl(project: Project) -> bool:
    """Whether some `init_process_group` of the project names NCCL."""
    return "nccl" in project_backends(project)


def is_nccl_only(project: Project) -> bool:
    """Whether the default group surely has NCCL and no backend for CPU tensors, wherever the project creates it."""
    backends = named_backends(project)
    return bool(backends) and backends <= {"nccl", "cuda:nccl", "nccl-lazy", "nccl-legacy", "nccl2"}
