"""The shape of a tensor, as far as literals in the code tell."""

from __future__ import annotations

import ast

from torchlift.rules.analysis.values.value_of import MOST_STEPS, assigned_value
from torchlift.view import ModuleView

_FACTORIES = frozenset(f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty"))
_SAME_SHAPE = frozenset(
    {"to", "cuda", "cpu", "float", "half", "double", "bfloat16", "long", "int", "contiguous", "clone", "detach",
     "requires_grad_", "type", "bool"}
)  # fmt: skip


def sizes_of(view: ModuleView, node: ast.expr, depth: int = 0) -> tuple[int | None, ...] | None:
    """Shape of the tensor that `node` gives: None where even the rank is unknown; a None size is unknown."""
    if depth > MOST_STEPS:
        return None
    if isinstance(node, ast.Name):
        value = assigned_value(view, node)
        return sizes_of(view, value, depth + 1) if value is not None and kept_shape(view, node) else None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_SHAPE:
        inner = sizes_of(view, node.func.value, depth + 1)
        if inner is not None:
            return inner
    resolution = view.resolve(node.func)
    if resolution is None or not resolution.certain:
        return None
    sizes = _size_arguments(view, node, resolution.name, depth)
    if not isinstance(sizes, list):
        return sizes
    if not sizes or any(isinstance(size, ast.Starred) for size in sizes):
        return None
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = list(sizes[0].elts)
    elif len(sizes) == 1 and _integer(view, sizes[0]) is None:
        return None  # one variable may be a whole shape
    if any(isinstance(size, ast.Starred) for size in sizes):
        return None
    return tuple(_integer(view, size) for size in sizes)


def _size_arguments(
    view: ModuleView, node: ast.Call, name: str, depth: int
) -> list[ast.expr] | tuple[int | None, ...] | None:
    """The size expressions of a factory call, or the sizes themselves where they come from elsewhere."""
    keyword = next((k.value for k in node.keywords if k.arg == "size"), None)
    if name in _FACTORIES:
        return [keyword] if keyword is not None else list(node.args)
    if name == "torch.full":
        return node.args[:1]
    if name == "torch.randint":
        shapes: list[ast.expr] = [arg for arg in node.args if isinstance(arg, (ast.Tuple, ast.List))]
        return [keyword] if keyword is not None else shapes[:1]
    if name.startswith("torch.") and name.endswith("_like") and node.args:
        return sizes_of(view, node.args[0], depth + 1)
    if name == "torch.tensor" and node.args:
        return _nesting(node.args[0])
    if name == "torch.arange" and len(node.args) == 1 and not (keyword or isinstance(node.args[0], ast.Starred)):
        return (_integer(view, node.args[0]),)
    return None


def _nesting(node: ast.expr) -> tuple[int | None, ...] | None:
    """Shape of the nested list that `torch.tensor` is given."""
    if isinstance(node, (ast.List, ast.Tuple)):
        if any(isinstance(element, ast.Starred) for element in node.elts):
            return None
        if not node.elts:
            return (0,)
        inner = _nesting(node.elts[0])
        return (len(node.elts), *inner) if inner is not None else None
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return () if isinstance(node, ast.Constant) else None


def kept_shape(view: ModuleView, name: ast.Name) -> bool:
    """Whether nothing between its creation and its use here can have changed a tensor's shape in place."""
    binding = view.definition(name)
    if binding is None:
        return False
    for read, _ in view.reads_of(binding):
        parent = view.parent(read)
        if not isinstance(parent, ast.Attribute) or parent.attr == "requires_grad_":
            continue
        if parent.attr.endswith("_") or not isinstance(parent.ctx, ast.Load) or parent.attr == "data":
            return False
    return True


def _integer(view: ModuleView, node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    value = assigned_value(view, node)
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None
