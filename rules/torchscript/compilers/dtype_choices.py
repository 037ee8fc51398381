"""Whether a function computes anything for which autocast, eager or TorchScript's own, chooses a dtype.

Autocast casts the inputs of products, reductions and transcendental functions, TorchScript's pass those of `+ - * /`, too
(torch/csrc/jit/passes/autocast.cpp and https://docs.pytorch.org/docs/2.13/amp.html, read 2026-11-27). What only slices, indexes,
reshapes, compares or copies gives the same under it, compiled or not: `test_dtype_choices.py` runs it both ways.
"""

from __future__ import annotations

import ast

from torchlift.project import Project
from torchlift.rules.analysis.values.value_of import definition_of
from torchlift.view import ModuleView
from torchlift.view.walk import walk

_MOST_CALLS = 4
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.Mod, ast.FloorDiv)
# Functions of torch and methods of a tensor that autocast leaves alone.
UNTOUCHED = frozenset(
    """abs all amax amin any append arange argmax argmin argsort as_tensor bool broadcast_to cat ceil chunk clamp clamp_max
    clamp_min clip clone concat contiguous copy_ cos cpu cuda detach diag diagonal dim double empty empty_like eq expand
    expand_as fill_ flatten flip float floor full full_like gather ge gt half hstack index_select int is_floating_point
    isfinite isinf isnan item le logical_and logical_not logical_or logical_xor long lt masked_fill masked_fill_
    masked_select max maximum min minimum movedim narrow ne neg new_empty new_full new_ones new_zeros nonzero numel ones ones_like permute
    repeat repeat_interleave reshape reshape_as roll round select sign sin size sort split sqrt squeeze stack swapaxes t
    tensor tile to topk transpose tril triu trunc type unbind unflatten unique unsqueeze view view_as vstack where zero_
    zeros zeros_like""".split()
)
_BUILTINS = frozenset("abs bool enumerate float int isinstance len list max min print range tuple zip".split())


def chooses_dtypes(view: ModuleView, node: ast.FunctionDef, project: Project, depth: int = 0) -> bool:
    """Whether something in a function, or in what it calls, is not known to be left alone by autocast."""
    for child in (part for statement in node.body for part in walk(statement)):
        match child:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
                if not (_is_number(view, left) and _is_number(view, right)):
                    return True
            case ast.AugAssign(target=target, op=op, value=value) if isinstance(op, _ARITHMETIC):
                if not (_is_number(view, target) and _is_number(view, value)):
                    return True
            case ast.Call(func=function) if _may_choose(view, function, project, depth):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                return True
    return False


def _may_choose(view: ModuleView, function: ast.expr, project: Project, depth: int) -> bool:
    """Whether a call may compute something for which autocast chooses a dtype."""
    name = view.certain_name(function)
    if name.startswith("torch.") or (isinstance(function, ast.Attribute) and view.resolve(function) is None):
        owner, _, last = name.rpartition(".")
        return (last or getattr(function, "attr", "")) not in UNTOUCHED or owner not in {"torch", ""}
    if isinstance(function, ast.Name) and view.resolve(function) is None:
        return function.id not in _BUILTINS
    found = definition_of(view, function, project, ast.FunctionDef)
    return found is None or depth >= _MOST_CALLS or chooses_dtypes(*found, project, depth + 1)


def _is_number(view: ModuleView, node: ast.expr) -> bool:
    """Whether an expression is a number of Python's, as far as it is written."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(view, operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(view, left) and _is_number(view, right)
        case ast.Subscript(value=ast.Attribute(attr="shape")) | ast.Call(func=ast.Name(id="len" | "int" | "float")):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]) | ast.Call(func=ast.Attribute(attr="dim" | "numel")):
            return True
        case ast.Name():
            binding = view.definition(node)
            if binding is not None and isinstance(binding.node, ast.arg) and binding.node.annotation is not None:
                return view.text(binding.node.annotation) in {"int", "float", "bool"}
            if binding is not None and binding.kind == "assign" and binding.value is not None:
                return _is_number(view, binding.value)
    return False
