"""How the device that a process sets compares with the one that torch 2.15 picks for a group without `device_id`.

The pick is `LOCAL_RANK % device_count` where that variable is set, else `rank % device_count`
(torch/distributed/distributed_c10d.py of the 2.15.0 wheel, lines 820-849, read 2026-11-21).
"""

from __future__ import annotations

import ast
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.analysis.values.parameter_values import arguments_of, is_spawned_index
from torchlift.rules.analysis.values.repeatable import returned_value
from torchlift.rules.distributed.devices.device_value import (
    assigned_before,
    constant_items,
    options_called,
    stored_values,
)
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_DEEPEST = 6
_COUNTS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})
LOCAL_RANKS_OF_LAUNCHERS = frozenset(
    {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID"}
)
"""Variables in which launchers other than torchrun pass the local rank."""


@dataclass(frozen=True)
class Guess:
    """The verdict on one device expression.

    Attributes:
        same: `same` as the pick, `other`, `maybe` other, or `unknown`.
        why: for `other` and `maybe`, what the device depends on, as the end of a sentence.
        alone: whether it is right where each process sees a single GPU.
        constant: whether it is one GPU in every process, whichever torch picks.
    """

    same: Literal["same", "other", "maybe", "unknown"]
    why: str = ""
    alone: bool = False
    constant: bool = False


_SAME = Guess("same")
_UNKNOWN = Guess("unknown")


def compare_with_guess(view: ModuleView, project: Project, node: ast.expr, at: ast.AST) -> Guess:
    """How `node`, the device set next to the initialisation `at`, compares with what torch 2.15 would pick."""
    guess = _Guesses(view, project, at).of(node, 0)
    if guess.same in {"other", "maybe"}:
        record = project.records(VISIBLE_DEVICES)
        # Where the program hides GPUs itself, every process may see a single one, and any pick is that one.
        if view.path in record or (guess.alone and record):
            return Guess("unknown", constant=guess.constant)
    return guess


def environment_variable(view: ModuleView, node: ast.expr) -> str | None:
    """The variable that an expression reads from the environment, behind `int(...)` if need be."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Name):
        binding = view.definition(node)
        if binding is None or binding.kind != "assign" or isinstance(binding.value, (ast.Name, type(None))):
            return None
        return environment_variable(view, binding.value)
    key: ast.expr | None = None
    if isinstance(node, ast.Call) and node.args:
        resolution = view.resolve(node.func)
        key = node.args[0] if resolution is not None and resolution.name in _ENVIRONMENT else None
    elif isinstance(node, ast.Subscript):
        resolution = view.resolve(node.value)
        key = node.slice if resolution is not None and resolution.name == "os.environ" else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


class _Guesses:
    def __init__(self, view: ModuleView, project: Project, at: ast.AST) -> None:
        self.view = view
        self.project = project
        self.at = at

    def of(self, node: ast.expr, depth: int) -> Guess:
        if depth > _DEEPEST:
            return _UNKNOWN
        variable = environment_variable(self.view, node)
        if variable is not None:
            return self._variable(variable)
        match node:
            case ast.Constant(value=bool()):
                return _UNKNOWN
            case ast.Constant(value=int() as number):
                return _constant(number)
            case ast.Constant(value=str() as text) if text.rpartition(":")[2].isdigit():
                return _constant(int(text.rpartition(":")[2]))
            case ast.JoinedStr(values=[ast.Constant(), ast.FormattedValue(value=inner)]):
                return self.of(inner, depth + 1)
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=inner):
                return self.of(inner, depth + 1)
            case ast.BinOp():
                return self._arithmetic(node, depth)
            case ast.Subscript():
                return self._item(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.Name():
                return self._name(node, depth)
            case ast.Attribute():
                return self._attribute(node, depth)
        return _UNKNOWN

    def _elsewhere(self, node: ast.expr, depth: int) -> Guess:
        """The verdict on an expression that is evaluated where it stands."""
        return _Guesses(self.view, self.project, node).of(node, depth + 1)

    def _variable(self, name: str) -> Guess:
        if name in {"LOCAL_RANK", "RANK"}:
            return _SAME if name == "LOCAL_RANK" else _UNKNOWN
        if name in LOCAL_RANKS_OF_LAUNCHERS and not self.project.records(LOCAL_RANK_SET):
            return Guess(
                "maybe", f"comes from `{name}`; torch reads only `LOCAL_RANK`, which nothing in this project sets"
            )
        return _UNKNOWN

    def _arithmetic(self, node: ast.BinOp, depth: int) -> Guess:
        if isinstance(node.op, ast.Mod):
            return _SAME if self._is_count(node.right, depth) and self._is_rank(node.left, depth) else _UNKNOWN
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            if not self._is_rank(node.left, depth) and self.of(node.left, depth + 1) != _SAME:
                return _UNKNOWN
            neutral = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.FloorDiv: 1}.get(type(node.op))
            if neutral is not None and node.right.value != neutral:
                return Guess("other", f"is `{self.view.text(node)}`")
        return _UNKNOWN

    def _item(self, node: ast.Subscript, depth: int) -> Guess:
        if not self._is_rank(node.slice, depth) and self.of(node.slice, depth + 1) != _SAME:
            return _UNKNOWN
        items = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else None
        if isinstance(node.value, ast.Name):
            items = constant_items(self.view, node.value)
            binding = self.view.definition(node.value)
            if binding is not None and binding.value is not None and _counts(binding.value):
                return _UNKNOWN
        if items is not None:
            numbers = [item.value for item in items if isinstance(item, ast.Constant)]
            if len(numbers) == len(items) and all(isinstance(number, int) for number in numbers):
                if numbers == list(range(len(numbers))):
                    return _SAME
                return Guess("other", f"is one of {', '.join(map(str, numbers))}")
        if _counts(node.value):
            return _UNKNOWN
        return Guess("maybe", f"is looked up in `{self.view.text(node.value)}`")

    def _call(self, node: ast.Call, depth: int) -> Guess:
        resolution = self.view.resolve(node.func)
        name = resolution.name if resolution is not None and resolution.certain else ""
        if name == "torch.distributed.get_node_local_rank":
            return _SAME
        if name == "torch.device" and node.args and not node.keywords:
            return self.of(node.args[-1], depth + 1)
        if isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
            return self.of(node.args[0], depth + 1)
        value = returned_value(self.view, node)
        return self.of(value, depth + 1) if value is not None else _UNKNOWN

    def _name(self, node: ast.Name, depth: int) -> Guess:
        binding = self.view.definition(node)
        if binding is None:
            return _UNKNOWN
        if binding.kind == "assign" and binding.value is not None:
            return self._elsewhere(binding.value, depth)
        if isinstance(binding.node, ast.arg):
            return self._parameter(binding.node, depth)
        return _UNKNOWN

    def _parameter(self, parameter: ast.arg, depth: int) -> Guess:
        if is_spawned_index(self.view, parameter):
            return _SAME
        arguments = arguments_of(self.view, self.project, parameter)
        verdicts = {self._elsewhere(argument, depth) for argument in arguments or ()}
        return verdicts.pop() if len(verdicts) == 1 else _UNKNOWN

    def _attribute(self, node: ast.Attribute, depth: int) -> Guess:
        value = assigned_before(self.view, node, self.at)
        if value is not None:
            return self._elsewhere(value, depth)
        if node.attr.lower() in {"local_rank", "localrank"} or stored_values(self.view, node.attr):
            return _UNKNOWN
        options = options_called(self.view, node.attr)
        if len(options) != 1 or any(keyword.arg == "nargs" for keyword in options[0].keywords):
            return _UNKNOWN
        default = next((k.value for k in options[0].keywords if k.arg == "default"), None)
        if default is not None and environment_variable(self.view, default) is not None:
            return self.of(default, depth + 1)
        flag = next((str(a.value) for a in options[0].args if isinstance(a, ast.Constant)), node.attr)
        if "rank" in node.attr.lower():
            return _UNKNOWN
        return Guess("maybe", f"is whatever `{flag}` says on the command line", alone=True)

    def _is_rank(self, node: ast.expr, depth: int) -> bool:
        """Whether `node` is the process's number among all, or among those of its host."""
        if depth > _DEEPEST:
            return False
        if environment_variable(self.view, node) in {"RANK", "LOCAL_RANK"}:
            return True
        if isinstance(node, ast.Call):
            resolution = self.view.resolve(node.func)
            known = {"torch.distributed.get_rank", "torch.distributed.get_node_local_rank"}
            return resolution is not None and resolution.name in known
        if isinstance(node, ast.Name):
            binding = self.view.definition(node)
            if binding is None:
                return False
            if binding.kind == "assign" and binding.value is not None:
                return self._is_rank(binding.value, depth + 1)
            if isinstance(binding.node, ast.arg):
                return node.id in {"rank", "local_rank", "global_rank"} or is_spawned_index(self.view, binding.node)
        return isinstance(node, ast.Attribute) and node.attr in {"rank", "local_rank", "global_rank"}

    def _is_count(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Name) and depth <= _DEEPEST:
            binding = self.view.definition(node)
            if binding is None or binding.kind != "assign" or binding.value is None:
                return False
            return self._is_count(binding.value, depth + 1)
        if isinstance(node, ast.Call):
            resolution = self.view.resolve(node.func)
            return resolution is not None and resolution.name in _COUNTS
        return False


def _counts(node: ast.expr) -> bool:
    """Whether a list is made with `range`, so that its items may be their own numbers."""
    return any(isinstance(child, ast.Name) and child.id in {"range", "arange"} for child in walk(node))


def _constant(number: int) -> Guess:
    if number == 0:
        return Guess("maybe", "is GPU 0 in every process", alone=True, constant=True)
    return Guess("other", f"is GPU {number} in every process", constant=True)


def _stores(view: ModuleView, variable: str) -> bool:
    """Whether a file puts a value into an environment variable, in whatever dict."""
    for node in walk(view.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if isinstance(node.slice, ast.Constant) and node.slice.value == variable:
                return True
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            key = node.args[0] if node.func.attr in {"setdefault", "putenv", "setenv"} and node.args else None
            if isinstance(key, ast.Constant) and key.value == variable:
                return True
            if node.func.attr == "update" and any(keyword.arg == variable for keyword in node.keywords):
                return True
        elif isinstance(node, ast.Dict):
            if any(isinstance(key, ast.Constant) and key.value == variable for key in node.keys):
                return True
        elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            text = ast.unparse(node)
            if f"{variable}=" in text:
                return True
    return False


def _collect_visible(view: ModuleView) -> bool | None:
    return _stores(view, "CUDA_VISIBLE_DEVICES") or None


def _collect_local_rank(view: ModuleView) -> bool | None:
    return _stores(view, "LOCAL_RANK") or None


VISIBLE_DEVICES = Collector("distributed.visible_devices", ("CUDA_VISIBLE_DEVICES",), _collect_visible)
"""Files that choose which GPUs a process sees."""

LOCAL_RANK_SET = Collector("distributed.local_rank_set", ("LOCAL_RANK",), _collect_local_rank)
"""Files that put a value into the environment variable `LOCAL_RANK`."""
