"""What stands for the rank of the process itself, and which tests come out differently from rank to rank."""

from __future__ import annotations

import ast
import re

from torchlift.view import ModuleView

_DEEPEST = 4
_GETTERS = frozenset(
    {"torch.distributed.get_rank", "torch.distributed.get_node_local_rank", "torch.distributed.get_group_rank"}
)
_VARIABLES = frozenset({"RANK", "LOCAL_RANK", "SLURM_PROCID", "SLURM_LOCALID", "OMPI_COMM_WORLD_RANK"})
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})
# `rank`, `global_rank`, `self.rank`: a parameter or attribute of that name is nobody else's.
_NAME = re.compile(r"_?(?:global_|local_|my_|node_|dist_|world_)?rank(?:_id)?")


def own_rank(view: ModuleView, node: ast.expr) -> bool:
    """Whether `node` is the rank of this process, or computed from it: `rank`, `rank % 2`, `int(os.environ["RANK"])`."""
    if isinstance(node, ast.BinOp):
        return own_rank(view, node.left) or own_rank(view, node.right)
    return _is_rank(view, node, 0)


def differs_by_rank(view: ModuleView, test: ast.expr) -> bool:
    """Whether the truth of `test` differs between ranks because it asks which rank this is.

    Whether there is a rank at all (`rank is not None`, `rank != -1`) is the same on all of them.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return differs_by_rank(view, operand)
        case ast.BoolOp(values=values):
            return any(differs_by_rank(view, value) for value in values)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(op, (ast.Is, ast.IsNot)) or _says_no_rank(left) or _says_no_rank(right):
                return False
            if isinstance(op, (ast.In, ast.NotIn)):
                return own_rank(view, left)
            return own_rank(view, left) or own_rank(view, right)
        case ast.Compare():
            return any(own_rank(view, part) for part in (test.left, *test.comparators))
        case ast.Name():
            binding = view.definition(test)
            if (
                binding is not None
                and binding.kind == "assign"
                and isinstance(binding.value, (ast.Compare, ast.BoolOp))
            ):
                return differs_by_rank(view, binding.value)
    return own_rank(view, test)


def _is_rank(view: ModuleView, node: ast.expr, depth: int) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return _is_rank(view, inner, depth)
        case ast.Call():
            resolution = view.resolve(node.func)
            name = resolution.name if resolution is not None else ""
            if name in _ENVIRONMENT and node.args:
                return isinstance(node.args[0], ast.Constant) and node.args[0].value in _VARIABLES
            last = node.func.attr if isinstance(node.func, ast.Attribute) else name.rpartition(".")[2]
            return name in _GETTERS or (last == "get_rank" and not node.args)
        case ast.Subscript(slice=ast.Constant(value=str() as key)):
            resolution = view.resolve(node.value)
            return resolution is not None and resolution.name == "os.environ" and key in _VARIABLES
        case ast.Attribute(attr=attribute):
            return _NAME.fullmatch(attribute) is not None
        case ast.Name() if depth <= _DEEPEST:
            binding = view.definition(node)
            if binding is None or isinstance(binding.node, ast.arg):
                return _NAME.fullmatch(node.id) is not None
            if binding.kind == "assign" and binding.value is not None:
                value = binding.value
                parts = (value.left, value.right) if isinstance(value, ast.BinOp) else (value,)
                return any(_is_rank(view, part, depth + 1) for part in parts)
    return False


def _says_no_rank(node: ast.expr) -> bool:
    """Whether a value stands for "not distributed": None, -1."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant) and node.value is None
