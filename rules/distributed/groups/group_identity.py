"""Which process group an expression stands for, as far as one file tells, and what it is made with."""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.lazy_pattern import lazy_pattern
from torchlift.rules.analysis.values.literals import is_none
from torchlift.rules.analysis.values.parameter_values import named_arguments
from torchlift.rules.analysis.values.value_of import stored_value
from torchlift.rules.distributed.groups.backends import INIT_PARAMETERS, backend_of
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_NEW_GROUP = (
    "ranks", "timeout", "backend", "pg_options", "use_local_synchronization", "group_desc", "device_id", "sort_ranks",
)  # fmt: skip
_WITHOUT_NCCL = frozenset({"gloo", "cpu", "mpi"})
_INIT = frozenset({"torch.distributed.init_process_group"})
_WORD = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

Default = Literal["default"]


def new_group_arguments(call: ast.Call) -> dict[str, ast.expr] | None:
    """Arguments of a `new_group` call by name; None where `*` or `**` hides some."""
    return named_arguments(call, _NEW_GROUP)


def is_local(arguments: dict[str, ast.expr]) -> bool:
    """Whether the arguments of a `new_group` call say that only its members take part: `use_local_synchronization=True`."""
    says = arguments.get("use_local_synchronization")
    return isinstance(says, ast.Constant) and says.value is True


def is_default_group(view: ModuleView, node: ast.expr | None) -> bool:
    """Whether a `group` argument, None where it is left out, means the group that `init_process_group` makes."""
    if node is None or is_none(node):
        return True
    return view.possible_name(node) in {"torch.distributed.group.WORLD", "torch.distributed.GroupMember.WORLD"}


def group_key(view: ModuleView, node: ast.expr | None) -> str:
    """What tells group expressions apart: equal keys are the same group where no name in them is bound anew.

    The default group is the empty string, however it is written.
    """
    return "" if node is None or is_default_group(view, node) else ast.dump(node)


def creation(view: ModuleView, node: ast.expr | None) -> ast.Call | Default | None:
    """The `new_group` call that surely made a group, or `default`; None where that cannot be told."""
    if is_default_group(view, node):
        return "default"
    value = stored_value(view, node)
    if value is None:
        return None
    if is_default_group(view, value):
        return "default"
    made = isinstance(value, ast.Call) and view.certain_name(value.func) == "torch.distributed.new_group"
    return value if made and isinstance(value, ast.Call) else None


def says_without_nccl(name: str) -> bool:
    """Whether a word in the name of a group is that of a backend without NCCL: `gloo_group`, `CPUGroup`."""
    return not _WITHOUT_NCCL.isdisjoint(word.lower() for word in _WORD.findall(name))


def surely_without_nccl(view: ModuleView, node: ast.expr | None) -> bool:
    """Whether a group is made with a constant backend that is not NCCL, or has a word in its name that says so.

    The default group, which None is too, is where all that its file makes of it has such a backend.
    """
    if is_default_group(view, node):
        return _default_without_nccl(view)
    assert node is not None
    names = [last_name(part) for part in walk(node)]
    if any(map(says_without_nccl, names)):
        return True
    made = creation(view, node)
    if isinstance(made, ast.Call):
        arguments = new_group_arguments(made)
        return arguments is not None and backend_of(view, arguments.get("backend")) == "other"
    return False


def _default_without_nccl(view: ModuleView) -> bool:
    made = [use.call for use in view.uses(_INIT)]
    given = [None if call is None else named_arguments(call, INIT_PARAMETERS) for call in made]
    return bool(given) and all(one is not None and backend_of(view, one.get("backend")) == "other" for one in given)
