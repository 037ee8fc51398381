"""How the device that a process sets compares with the one that torch 2.15 picks for a group without `device_id`.

The pick is `LOCAL_RANK % device_count` where that variable is set, else `rank % device_count`
(torch/distributed/distributed_c10d.py of the 2.15.0 wheel, lines 820-849, read 2026-11-21).
"""

from __future__ import annotations

import ast
import re
from typing import Literal

from torchlift.lazy_dataclass import dataclass
from torchlift.project import Collector, Project
from torchlift.rules.analysis.values.environment_reads import environment_variable
from torchlift.rules.analysis.values.parameter_values import is_spawned_index
from torchlift.rules.analysis.values.trace_back import TraceBack, constant_items
from torchlift.rules.analysis.values.value_of import assigned_value
from torchlift.rules.distributed.devices.device_value import (
    is_device_count,
    option_keywords,
    options_called,
    stored_values,
)
from torchlift.rules.distributed.facts.launchers import LOCAL_RANKS, RANKS
from torchlift.view import ModuleView
from torchlift.view.last_name import last_name
from torchlift.view.walk import walk

_RANK_NAMES = frozenset({"rank", "local_rank", "global_rank"})


@dataclass(frozen=True)
class Guess:
    """The verdict on one device expression.

    Attributes:
        same: `same` as the pick, `other`, `maybe` other, or `unknown`; `rank` is the process's number itself, of which the pick
            is the rest modulo the number of GPUs.
        why: for `other` and `maybe`, what the device depends on, as the end of a sentence.
        alone: whether it is right where each process sees a single GPU.
        constant: whether it is one GPU in every process, whichever torch picks.
    """

    same: Literal["same", "other", "maybe", "rank", "unknown"]
    why: str = ""
    alone: bool = False
    constant: bool = False


_SAME = Guess("same")
_RANK = Guess("rank")
_UNKNOWN = Guess("unknown")


def compare_with_guess(view: ModuleView, project: Project, node: ast.expr, at: ast.AST) -> Guess:
    """How `node`, the device set next to the initialisation `at`, compares with what torch 2.15 would pick."""
    guess = _Guesses(view, project, at).of(node)
    if guess == _RANK:
        return _UNKNOWN
    if guess.same in {"other", "maybe"}:
        record = project.records(VISIBLE_DEVICES)
        # Where the program hides GPUs itself, every process may see a single one, and any pick is that one.
        if view.path in record or (guess.alone and record):
            return Guess("unknown", constant=guess.constant)
    return guess


class _Guesses(TraceBack[Guess]):
    unknown = _UNKNOWN

    def says(self, node: ast.expr, depth: int) -> Guess | None:
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
            case ast.Call(func=ast.Name(id="int"), args=[inner]):
                return self.of(inner, depth + 1)
            case ast.Call(func=function, args=arguments):
                name = self.view.certain_name(function)
                if name == "torch.distributed.get_node_local_rank":
                    return _SAME
                if name == "torch.distributed.get_rank":
                    return _RANK
                if name == "torch.device" and arguments and not node.keywords:
                    return self.of(arguments[-1], depth + 1)
        return None

    def _variable(self, name: str) -> Guess:
        if name == "LOCAL_RANK":
            return _SAME
        if name in LOCAL_RANKS and self.project is not None and not self.project.records(LOCAL_RANK_SET):
            return Guess(
                "maybe",
                f"comes from `{name}`; torch reads only `LOCAL_RANK`, which nothing in this project is seen to set",
            )
        return _RANK if name in RANKS else _UNKNOWN

    def _is_rank(self, node: ast.expr, depth: int) -> bool:
        """Whether `node` is the process's number among all, or among those of its host."""
        if isinstance(node, ast.Attribute) and node.attr in _RANK_NAMES:
            return True
        return self.of(node, depth + 1).same in {"same", "rank"}

    def _arithmetic(self, node: ast.BinOp, depth: int) -> Guess:
        if not self._is_rank(node.left, depth):
            return _UNKNOWN
        if isinstance(node.op, ast.Mod):
            return _SAME if is_device_count(self.view, node.right) else _UNKNOWN
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            neutral = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.FloorDiv: 1}.get(type(node.op))
            if neutral is not None and node.right.value != neutral:
                return Guess("other", f"is `{self.view.text(node)}`")
        return _UNKNOWN

    def _item(self, node: ast.Subscript, depth: int) -> Guess:
        if not self._is_rank(node.slice, depth):
            return _UNKNOWN
        items = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else None
        if isinstance(node.value, ast.Name):
            items = constant_items(self.view, node.value)
            value = assigned_value(self.view, node.value)
            if value is not None and _counts(value):
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

    def of_parameter(self, parameter: ast.arg, depth: int) -> Guess:
        if is_spawned_index(self.view, parameter):
            return _SAME
        guess = super().of_parameter(parameter, depth)
        return _RANK if guess == _UNKNOWN and parameter.arg in _RANK_NAMES else guess

    def of_stored(self, node: ast.Attribute, depth: int) -> Guess:
        stored, options = stored_values(self.view, node.attr), options_called(self.view, node.attr)
        keywords = option_keywords(options[0]) if len(options) == 1 else {}
        by_option = not stored and len(options) == 1 and "nargs" not in keywords
        if by_option and node.attr.lower() not in {"local_rank", "localrank"}:
            default = keywords.get("default")
            if default is not None and environment_variable(self.view, default) is not None:
                return self.of(default, depth + 1)
            if "rank" not in node.attr.lower():
                flag = next((str(a.value) for a in options[0].args if isinstance(a, ast.Constant)), node.attr)
                return Guess("maybe", f"is whatever `{flag}` says on the command line", alone=True)
        return _RANK if node.attr in _RANK_NAMES else _UNKNOWN


def _counts(node: ast.expr) -> bool:
    """Whether a list is made with `range`, so that its items may be their own numbers."""
    return any(isinstance(child, ast.Name) and child.id in {"range", "arange"} for child in walk(node))


def _constant(number: int) -> Guess:
    if number == 0:
        return Guess("maybe", "is GPU 0 in every process", alone=True, constant=True)
    return Guess("other", f"is GPU {number} in every process", constant=True)


def stores(code: ast.AST, variable: str) -> bool:
    """Whether code puts a value into an environment variable, in whatever dict."""
    for node in walk(code):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if isinstance(node.slice, ast.Constant) and node.slice.value == variable:
                return True
        elif isinstance(node, ast.Call):
            called = last_name(node.func)
            key = node.args[0] if called in {"setdefault", "putenv", "setenv"} and node.args else None
            if isinstance(key, ast.Constant) and key.value == variable:
                return True
            if called in {"update", "dict"} and any(keyword.arg == variable for keyword in node.keywords):
                return True
        elif isinstance(node, ast.Dict):
            if any(isinstance(key, ast.Constant) and key.value == variable for key in node.keys):
                return True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and f"{variable}=" in node.value:
            return True
    return False


def _stores_in(view: ModuleView, variable: str) -> bool:
    """The same of a file, of which only those statements are read that name the variable."""
    lines = [view.source.location(found.start())[0] for found in re.finditer(variable, view.source.text)]
    end = 1
    for statement in view.tree.body:
        # Its decorators stand before its own first line.
        begin, end = end, statement.end_lineno or statement.lineno
        if any(begin <= line <= end for line in lines) and stores(statement, variable):
            return True
    return False


def _collect_visible(view: ModuleView) -> bool | None:
    return _stores_in(view, "CUDA_VISIBLE_DEVICES") or None


def _collect_local_rank(view: ModuleView) -> bool | None:
    return _stores_in(view, "LOCAL_RANK") or None


VISIBLE_DEVICES = Collector("distributed.visible_devices", ("CUDA_VISIBLE_DEVICES",), _collect_visible)
"""Files that choose which GPUs a process sees."""

LOCAL_RANK_SET = Collector("distributed.local_rank_set", ("LOCAL_RANK",), _collect_local_rank)
"""Files that put a value into the environment variable `LOCAL_RANK`."""
